# SPDX-License-Identifier: GPL-2.0-or-later
"""One run on one lane, as the session sees it. Ends with a LaneResult, never with a raise."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from pydantic import JsonValue

from duet import messages as m
from duet.base.budgets import CONTENTION_SAMPLE_S
from duet.base.errors import DuetError, InfraError, InputError
from duet.base.logs import about
from duet.guests import CpuTime, HostTicks, host_ticks, vcpu_time
from duet.guests.types import GuestFacts, Microscope
from duet.lessons.plan import workload_of
from duet.messages.base import LanePhase
from duet.session import engine
from duet.session.events import Contention, GuestRequest, LaneResult, LaneSource, SessionSink
from duet.session.lane.child import LaneChild, retire
from duet.session.lane.guest import Faults, Lane, Lanes
from duet.session.lane.intake import Batches, LaneIntake
from duet.session.lane.lenses import LaneLenses, OnHold, no_hold
from duet.session.lane.request import Outcome, course_of, engine_of, guest_of, plan_of
from duet.session.lane.state import Action, Course, Fail, Inputs, LaneMachine, Output, Report
from duet.session.limits import Limits
from duet.session.pipeline import LanePipeline
from duet.session.spec import RunSpec
from duet.session.transcript import TranscriptWriter
from duet.session.trouble import DEADLINE
from duet.wire import FrameType

# The guest of one run: found or booted, used, given back or closed.


class Connection:
    """One run's use of a guest of `Lanes`."""

    def __init__(
        self, lanes: Lanes, spec: RunSpec, source: LaneSource, intake: LaneIntake, faults: Faults
    ) -> None:
        self._lanes, self._spec, self._source = lanes, spec, source
        self._intake, self._faults = intake, faults
        self._request: GuestRequest | None = None
        self._opening: asyncio.Task[None] | None = None
        self.guest: Lane | None = None

    @property
    def open(self) -> bool:
        """The guest's port is open."""
        return self.guest is not None and self.guest.up.is_set()

    def find(self, plugin: Microscope | None) -> bool:
        """Use a guest that is up and is the one that the run needs; whether there is one."""
        self._request = guest_of(self._spec, self._source, plugin)
        if self._spec.source == "recorded":
            return False
        guest = self._lanes.find(self._source, self._request)
        if guest is None:
            return False
        self._use(guest)
        self._intake.begin(guest.received())
        guest.attach(self._intake)
        if guest.hello:
            self._intake.on_frame(*guest.hello, time.monotonic_ns())
        return True

    async def boot(self) -> None:
        """Begin to boot the guest; the intake wakes when its port is open."""
        assert self._request is not None
        self._use(await self._lanes.open(self._source, self._request, self._intake))
        self._opening = asyncio.create_task(self._wake(), name=f"open {self._source.arm}")

    async def drop(self) -> None:
        """Close the guest in the middle of its run."""
        if self.guest:
            self.guest.attach(None)
            self._intake.release()
            await self._lanes.close(self._source.arm)

    async def end(self) -> None:
        """The run is over: the guest may serve another one, if it takes another plan."""
        if self._opening:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self.guest:
            self.guest.attach(None)
        self._intake.release()
        if self.guest and self.guest.request.boot_plan is not None:
            # It takes no other plan, and on this clock an idle guest takes a whole CPU. It
            # does not end by itself: QEMU would discard what the host has not read yet.
            await self._lanes.close(self._source.arm)

    def _use(self, guest: Lane) -> None:
        self.guest = self._faults.guest = guest

    async def _wake(self) -> None:
        assert self.guest is not None
        await self.guest.up.wait()
        self._intake.wake()


# Measures, while a workload runs, how long its guest's vCPUs waited for a CPU of the host.
#
# A live run on the wall clock shares the host with everything else, its sister lanes included. A
# vCPU that waits looks like a slow kernel, so the figure travels with the run.


@dataclass(frozen=True, slots=True)
class _Reading:
    vcpus: CpuTime
    host: HostTicks | None


def _read(pid: int) -> _Reading | None:
    vcpus = vcpu_time(pid)
    return None if vcpus is None else _Reading(vcpus, host_ticks())


def between(before: _Reading, now: _Reading) -> Contention:
    """What happened between two readings.

    A thread that runs while the hypervisor has its CPU counts as running; so that part of its
    time is moved to the waiting.
    """
    used = now.vcpus.since(before.vcpus)
    stolen = now.host.stolen_share(before.host) if now.host and before.host else 0.0
    lost_ns = used.ran_ns * stolen
    return Contention((used.ran_ns - lost_ns) / 1e9, (used.waited_ns + lost_ns) / 1e9)


class ContentionWatch:
    """Samples one guest from its workload's start to its end.

    Args:
        tell: receives each figure, on the event loop.
        sample_s: between two readings.
    """

    def __init__(
        self, tell: Callable[[Contention], None], sample_s: float = CONTENTION_SAMPLE_S
    ) -> None:
        self._tell = tell
        self._sample_s = sample_s
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.newest: Contention | None = None

    def begin(self, pid: int) -> None:
        """The workload runs. A second call changes nothing."""
        if self._task is None:
            self._task = asyncio.create_task(self._watch(pid), name=f"contention of {pid}")

    def finish(self) -> None:
        """The workload is over: one last reading. Nothing happens before it began."""
        if self._task:
            self._over.set()

    async def end(self) -> None:
        """Wait for the last reading; nothing is measured afterwards."""
        self.finish()
        if self._task:
            await asyncio.wait([self._task])

    async def _watch(self, pid: int) -> None:
        before = await asyncio.to_thread(_read, pid)
        while before is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._sample_s):
                    await self._over.wait()
            last = self._over.is_set()
            now = await asyncio.to_thread(_read, pid)
            if now is None:
                return
            self.newest = between(before, now)
            self._tell(self.newest)
            if last:
                return


# The parts of one run on one lane, constructed in order: each knows only those before it.


@dataclass(frozen=True, slots=True)
class Parts:
    """All that one run on one lane consists of."""

    spec: RunSpec
    source: LaneSource
    sink: SessionSink
    course: Course
    inputs: Inputs
    machine: LaneMachine
    engine: LaneChild
    pipeline: LanePipeline
    writer: TranscriptWriter
    lenses: LaneLenses
    faults: Faults
    intake: LaneIntake
    batches: Batches
    outcome: Outcome
    contention: ContentionWatch

    @property
    def arm(self) -> str:
        return self.source.arm

    @property
    def recorded(self) -> bool:
        return self.spec.source == "recorded"


def assemble(spec: RunSpec, source: LaneSource, sink: SessionSink, limits: Limits) -> Parts:
    """Construct the parts.

    Raises:
        InputError: the lesson has no such workload.
    """
    arm, lesson, recorded = source.arm, spec.folder.lesson, spec.source == "recorded"
    workload = workload_of(lesson, spec.workload)
    course, inputs = course_of(spec, limits), Inputs()
    machine = LaneMachine(inputs, limits, course)
    engine = LaneChild(engine_of(spec, source, limits))
    pipeline = LanePipeline(engine)
    writer = TranscriptWriter(limits.transcript_bytes)
    lenses = LaneLenses(arm, spec, sink, pipeline, writer, limits)
    counted = spec.clock == "count"
    faults = Faults(arm, recorded=recorded, memory_mb=lesson.memory_mb, counted=counted)
    intake = LaneIntake(
        *(arm, inputs, pipeline, writer, lenses, sink, faults),
        backlog_bytes=limits.backlog_bytes,
        recorded=recorded,
    )
    batches = Batches(arm, engine, pipeline, intake, lenses, sink, limits.metrics_s)
    outcome = Outcome(arm, inputs, pipeline, intake, lenses, writer, workload.ops_line)
    contention = ContentionWatch(partial(sink.on_contention, arm))
    return Parts(
        *(spec, source, sink, course, inputs, machine, engine, pipeline, writer),
        *(lenses, faults, intake, batches, outcome, contention),
    )


# Reports phases of a lane with the facts of its guest; times the guest while the workload runs.


class PhaseReporter:
    """Tells the sink where the lane stands.

    Args:
        changed: called after every report.
    """

    def __init__(self, parts: Parts, changed: Callable[[], None]) -> None:
        self._parts, self._changed = parts, changed

    def set_phase(self, phase: LanePhase, facts: GuestFacts | None) -> None:
        """Report a phase that the machine is in.

        Args:
            facts: of the guest, once it is up.
        """
        parts = self._parts
        if phase != "running":
            parts.contention.finish()
        elif facts and facts.pid and parts.spec.clock == "wall":
            parts.contention.begin(facts.pid)
        error = parts.inputs.error if phase == "failed" else None
        hello = parts.inputs.hello
        parts.sink.on_lane(
            m.Lane(
                run_id=parts.spec.run_id,
                arm=parts.arm,
                phase=phase,
                message=error.sentence if error else "",
                remedy=error.remedy if error else "",
                detail=error.detail if error else "",
                accel=str(facts.accel) if facts else None,
                pid=facts.pid if facts else None,
                kernel=hello.kernel if hello else "",
                boot_s=facts.boot_s if facts else None,
                cloned=facts.cloned if facts else False,
            )
        )
        self._changed()


# Does what a lane's state machine asks for: the only task of the lane that waits.

REST_S = 0.25
"""Between two looks at a guest that is silent."""
REPLAY_TICK_S = 0.001
"""Between two batches of a recording, which is all here at once."""


class LaneDriver:
    """Drives one run on one lane to its end, and never raises.

    Args:
        changed: called after every change of phase.
    """

    def __init__(self, lanes: Lanes, parts: Parts, changed: Callable[[], None]) -> None:
        self._parts = parts
        self._tick_s = REPLAY_TICK_S if parts.recorded else lanes.limits.tick_s
        self._phases = PhaseReporter(parts, changed)
        self._connection = Connection(lanes, parts.spec, parts.source, parts.intake, parts.faults)

    @property
    def guest(self) -> Lane | None:
        """The guest that the run uses."""
        return self._connection.guest

    async def drive(self, all_ready: Callable[[], Awaitable[None]]) -> None:
        """Boot, plan, start when all are ready, reduce until all is here.

        Args:
            all_ready: returns when every lane is ready or has failed.
        """
        try:
            while (output := self._next()) is not Action.END:
                await self._carry_out(output, all_ready)
        except DuetError as error:
            await self._fail(error)
        except Exception as error:
            await self._fail(
                InfraError(
                    f"lane {self._parts.arm} met an unexpected error: {error}.",
                    remedy="Please report it with the detail.",
                    detail=traceback.format_exc(),
                )
            )
        finally:
            await self._end()

    def _report(self, phase: LanePhase) -> None:
        self._phases.set_phase(phase, self.guest.facts if self.guest else None)

    def _next(self) -> Output:
        parts = self._parts
        parts.inputs.port_open = self._connection.open
        parts.inputs.missing_bytes = parts.pipeline.missing_bytes
        runs = parts.machine.workload_runs
        return parts.machine.next(parts.lenses.hold.now if runs else time.monotonic())

    async def _carry_out(self, output: Output, all_ready: Callable[[], Awaitable[None]]) -> None:
        parts = self._parts
        match output:
            case Report(phase):
                self._report(phase)
            case Fail():
                raise parts.faults.of(output, parts.inputs)
            case Action.WAIT:
                await parts.intake.rest(REST_S)
            case Action.REDUCE:
                await self._reduce()
            case Action.FIND_GUEST:
                await self._find_guest()
            case Action.OPEN_GUEST:
                await self._connection.boot()
            case Action.AWAIT_OTHERS:
                await all_ready()
            case Action.CALIBRATE:
                await parts.lenses.calibrate()
            case Action.RELEASE_HOLD:
                await parts.lenses.hold.end()
            case Action.LAST_COUNTS:
                await parts.lenses.microscope.end()
            case Action.REDUCE_REST:
                await self._drain()
            case Action.DROP_GUEST:
                await self._connection.drop()
            case _:
                await self._act_on_guest(output)

    async def _act_on_guest(self, action: Action) -> None:
        """Actions that need a guest."""
        parts, guest = self._parts, self.guest
        assert guest is not None
        match action:
            case Action.ATTACH_LENSES:
                await parts.lenses.attach(guest)
            case Action.SEND_PLAN:
                plan = plan_of(parts.spec, parts.source, at_boot=False)
                await guest.send(FrameType.PLAN, plan)
            case Action.START:
                if parts.course.sends_start:
                    parts.lenses.clock.start_sent()
                    await guest.send(FrameType.START)
                parts.lenses.aim()
            case Action.SEND_STOP:
                await guest.send(FrameType.STOP)
            case _:
                raise AssertionError(action)

    async def _find_guest(self) -> None:
        parts = self._parts
        await asyncio.to_thread(engine.warm)
        if parts.spec.traced:
            parts.batches.begin()
        await parts.lenses.prepare(parts.source)
        if self._connection.find(parts.lenses.plugin):
            parts.machine.guest_found()

    async def _reduce(self) -> None:
        """One batch: wait a little for events to gather, then work on them."""
        parts = self._parts
        if not (parts.intake.full or parts.inputs.gone):
            await parts.batches.gather(self._tick_s)
        await parts.batches.advance(final=False)

    async def _drain(self) -> None:
        """Nothing more will come: reduce the rest, and check the result."""
        parts = self._parts
        if self.guest and self.guest.error and parts.inputs.gone and not parts.pipeline.complete:
            raise self.guest.error
        await parts.batches.advance(final=True)
        if starved := parts.faults.out_of_memory():
            raise starved
        if not parts.recorded:
            self._check_end()
        parts.outcome.check()

    def _check_end(self) -> None:
        """Raises: KernelError: the workload was ended, by its agent or from here."""
        parts = self._parts
        if parts.machine.overran:
            raise parts.faults.endless(f"{parts.course.run_s:.0f} s on this machine")
        if any(line.text.startswith(DEADLINE) for line in parts.intake.lines):
            raise parts.faults.endless("the deadline of its plan on the guest's clock")

    async def _fail(self, error: DuetError) -> None:
        parts = self._parts
        error = parts.inputs.error = parts.faults.out_of_memory() or error
        if parts.intake.begun and not parts.pipeline.broken:
            try:
                await parts.batches.advance(final=False)  # beyond the watermark CPUs are missing
                await parts.batches.count(tallies=True)
            except DuetError as second:
                error = second
        if not parts.recorded:
            await self._connection.drop()
        self._report(parts.machine.fail(error).phase)

    async def _end(self) -> None:
        parts = self._parts
        await parts.batches.end()
        await parts.contention.end()
        retire(parts.engine)
        await parts.lenses.end()
        await self._connection.end()


class LaneRun:
    """One run on one lane.

    Args:
        changed: called after every change of phase.

    Raises:
        InputError: the lesson has no such workload.
    """

    def __init__(
        self,
        lanes: Lanes,
        spec: RunSpec,
        source: LaneSource,
        sink: SessionSink,
        changed: Callable[[], None],
    ) -> None:
        self.arm = source.arm
        self._parts = assemble(spec, source, sink, lanes.limits)
        self._driver = LaneDriver(lanes, self._parts, changed)

    @property
    def phase(self) -> LanePhase:
        return self._parts.machine.phase

    @property
    def error(self) -> DuetError | None:
        """What the agent reported, or why the lane has failed."""
        return self._parts.inputs.error

    @property
    def over(self) -> bool:
        """Nothing more will happen."""
        return self._parts.machine.over

    @property
    def can_hold(self) -> bool:
        """It runs, and the microscope watches an object."""
        return self.phase == "running" and self._parts.lenses.can_hold

    async def drive(self, all_ready: Callable[[], Awaitable[None]]) -> None:
        """Boot, plan, start when all are ready, reduce until all is here.

        Args:
            all_ready: returns when every lane is ready or has failed.
        """
        with about(lane=self._parts.arm):
            await self._driver.drive(all_ready)

    def stop(self) -> None:
        """End the workload, or do not begin it."""
        self._parts.inputs.stop_requested = True
        self._parts.intake.wake()

    async def say(self, line: str) -> None:
        """Give the workload a line on its standard input.

        Raises:
            InputError: it does not run now, or it is a recording.
            InfraError: the guest's port is gone.
        """
        guest = self._driver.guest
        if guest is None or self._parts.recorded or self.phase != "running":
            raise InputError(
                f"lane {self.arm} runs nothing that could take the line '{line:.80}' now.",
                remedy="Start a live run, and do it while the run goes on.",
            )
        await guest.send(FrameType.SAY, line)

    def hold(self, after: int, report: OnHold) -> None:
        """Stop the guest, at once or after so many accesses to the object; see LaneHold.

        Raises:
            InputError: it cannot be held now, or is held already.
        """
        if not self.can_hold:
            raise no_hold(self.arm)
        self._parts.lenses.hold_guest(after, report)

    def let_go(self) -> None:
        """The guest goes on, if it is held."""
        self._parts.lenses.hold.let_go()

    def result(self) -> LaneResult:
        """What is known now; final once the lane is over."""
        guest, newest = self._driver.guest, self._parts.contention.newest
        return self._parts.outcome.result(self.phase, guest.facts if guest else None, newest)

    def raw_events(
        self, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Decoded records near a moment. Blocking.

        Raises:
            DuetError: the child that has them is gone or busy, or there is no such row.
        """
        return self._parts.engine.raw_events(around_ns, row, n, cpu)

    def close(self) -> None:
        """Give up the decoded records; `raw_events` has none from now on.

        The transcript goes with the result; it shall not wait for the collector of cycles.
        """
        self._parts.engine.close()
        self._parts.writer.close()
