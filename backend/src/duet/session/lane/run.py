# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of one lane. It ends with a LaneResult and never raises."""

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
from duet.session.lane.batches import Batches
from duet.session.lane.child import LaneChild, retire
from duet.session.lane.guest import Faults, LaneGuest, LaneGuests
from duet.session.lane.intake import LaneIntake
from duet.session.lane.lenses import LaneLenses, OnHold, no_hold
from duet.session.lane.setup import Outcome, course_of, engine_of, guest_of, plan_of
from duet.session.lane.state import Action, Course, Fail, Inputs, LaneMachine, Output, Report
from duet.session.limits import Limits
from duet.session.pipeline import LanePipeline
from duet.session.spec import RunSpec
from duet.session.transcript import TranscriptWriter
from duet.session.trouble import DEADLINE
from duet.wire import FrameType


class GuestHandle:
    """The guest of a run: finds or boots it, and later closes it or keeps it for other runs."""

    def __init__(
        self,
        lanes: LaneGuests,
        spec: RunSpec,
        source: LaneSource,
        intake: LaneIntake,
        faults: Faults,
    ) -> None:
        self._lanes, self._spec, self._source = lanes, spec, source
        self._intake, self._faults = intake, faults
        self._request: GuestRequest | None = None
        self._opening: asyncio.Task[None] | None = None
        self.guest: LaneGuest | None = None

    @property
    def open(self) -> bool:
        """Whether the guest's ports are open."""
        return self.guest is not None and self.guest.up.is_set()

    def find(self, plugin: Microscope | None) -> bool:
        """Use a suitable running guest; return False if there is none."""
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
        """Start to boot the guest, and wake the intake when its ports are open."""
        assert self._request is not None
        self._use(await self._lanes.open(self._source, self._request, self._intake))
        self._opening = asyncio.create_task(self._wake(), name=f"open {self._source.arm}")

    async def drop(self) -> None:
        """Close the guest during the run."""
        if self.guest:
            self.guest.attach(None)
            self._intake.unblock()
            await self._lanes.close(self._source.arm)

    async def end(self) -> None:
        """Release the guest after the run. A guest that accepts another plan keeps running."""
        if self._opening:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self.guest:
            self.guest.attach(None)
        self._intake.unblock()
        if self.guest and self.guest.request.boot_plan is not None:
            # Close a guest that accepts no other plan, because on the count clock an idle guest
            # uses a whole CPU. The guest must not power itself off: QEMU would then discard bytes
            # that we have not read.
            await self._lanes.close(self._source.arm)

    def _use(self, guest: LaneGuest) -> None:
        self.guest = self._faults.guest = guest

    async def _wake(self) -> None:
        assert self.guest is not None
        await self.guest.up.wait()
        self._intake.wake()


# Contention: how long a guest's vCPUs wait for a CPU of the host while the workload runs.
#
# A live run on the wall clock shares the host with other processes and its sister lanes. A waiting
# vCPU looks like a slow kernel, so the figure is shown with the run.


@dataclass(frozen=True, slots=True)
class _Reading:
    vcpus: CpuTime
    host: HostTicks | None


def _read(pid: int) -> _Reading | None:
    vcpus = vcpu_time(pid)
    return None if vcpus is None else _Reading(vcpus, host_ticks())


def between(before: _Reading, now: _Reading) -> Contention:
    """Return the contention between two readings.

    The host counts a thread as running even while the hypervisor has taken away the host CPU. So
    the stolen share of the running time is moved to the waiting time.
    """
    used = now.vcpus.since(before.vcpus)
    stolen = now.host.stolen_share(before.host) if now.host and before.host else 0.0
    lost_ns = used.ran_ns * stolen
    return Contention((used.ran_ns - lost_ns) / 1e9, (used.waited_ns + lost_ns) / 1e9)


class ContentionWatch:
    """Measures the contention of one guest from its workload's start to its end.

    Args:
        tell: receives each figure, on the event loop.
        sample_s: interval of readings.
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
        """Start to measure; a second call has no effect."""
        if self._task is None:
            self._task = asyncio.create_task(self._watch(pid), name=f"contention of {pid}")

    def finish(self) -> None:
        """Request the last reading; before `begin`, this has no effect."""
        if self._task:
            self._over.set()

    async def end(self) -> None:
        """Request the last reading and wait for it."""
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


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a lane's run, in order of construction. Each part knows only earlier parts."""

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
    """Construct the parts of one run of one lane.

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


class PhaseReporter:
    """Reports phases to the sink, and measures contention in the phase "running".

    Args:
        changed: called after every report.
    """

    def __init__(self, parts: Parts, changed: Callable[[], None]) -> None:
        self._parts, self._changed = parts, changed

    def set_phase(self, phase: LanePhase, facts: GuestFacts | None) -> None:
        """Report a phase of the state machine.

        Args:
            facts: facts of the guest; None until it is up.
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


REST_S = 0.25
"""Interval between calls of the state machine while the guest is silent."""
REPLAY_TICK_S = 0.001
"""Interval between batches of a recording, whose pages are all available at once."""


class LaneDriver:
    """Carries out the actions of a lane's state machine until the run's end. Never raises.

    Args:
        changed: called after every change of phase.
    """

    def __init__(self, lanes: LaneGuests, parts: Parts, changed: Callable[[], None]) -> None:
        self._parts = parts
        self._tick_s = REPLAY_TICK_S if parts.recorded else lanes.limits.tick_s
        self._phases = PhaseReporter(parts, changed)
        self._handle = GuestHandle(lanes, parts.spec, parts.source, parts.intake, parts.faults)

    @property
    def guest(self) -> LaneGuest | None:
        """The guest that the run uses; None before it was found or booted."""
        return self._handle.guest

    async def drive(self, all_ready: Callable[[], Awaitable[None]]) -> None:
        """Boot the guest, send the plan, start with the other lanes, and reduce all events.

        Args:
            all_ready: returns when every lane is ready or over.
        """
        try:
            while (output := self._next()) is not Action.END:
                await self._carry_out(output, all_ready)
        except DuetError as error:
            await self._fail(error)
        except Exception as error:
            await self._fail(
                InfraError(
                    f"lane {self._parts.arm} failed unexpectedly: {error}.",
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
        parts.inputs.port_open = self._handle.open
        parts.inputs.missing_bytes = parts.pipeline.missing_bytes
        runs = parts.machine.workload_runs
        return parts.machine.next(parts.lenses.hold.now if runs else time.monotonic())

    async def _carry_out(self, output: Output, all_ready: Callable[[], Awaitable[None]]) -> None:
        parts = self._parts
        match output:
            case Report(phase):
                self._report(phase)
            case Fail():
                raise parts.faults.error_of(output, parts.inputs)
            case Action.WAIT:
                await parts.intake.rest(REST_S)
            case Action.REDUCE:
                await self._reduce()
            case Action.FIND_GUEST:
                await self._find_guest()
            case Action.OPEN_GUEST:
                await self._handle.boot()
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
                await self._handle.drop()
            case _:
                await self._act_on_guest(output)

    async def _act_on_guest(self, action: Action) -> None:
        """Carry out an action that needs a guest."""
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
        if self._handle.find(parts.lenses.plugin):
            parts.machine.guest_found()

    async def _reduce(self) -> None:
        """Wait briefly for more events, then reduce them as one batch."""
        parts = self._parts
        if not (parts.intake.full or parts.inputs.gone):
            await parts.batches.gather(self._tick_s)
        await parts.batches.advance(final=False)

    async def _drain(self) -> None:
        """Reduce the remaining events, and check the result."""
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
        """Raise KernelError if the workload was stopped at a timeout, by its agent or by us."""
        parts = self._parts
        if parts.machine.overran:
            raise parts.faults.endless(f"{parts.course.run_s:.0f} s on this machine")
        if any(line.text.startswith(DEADLINE) for line in parts.intake.lines):
            raise parts.faults.endless("the plan's deadline on the guest's clock")

    async def _fail(self, error: DuetError) -> None:
        parts = self._parts
        error = parts.inputs.error = parts.faults.out_of_memory() or error
        if parts.intake.begun and not parts.pipeline.broken:
            try:
                # This step is not final, because events beyond the watermark are incomplete.
                await parts.batches.advance(final=False)
                await parts.batches.count(tallies=True)
            except DuetError as second:
                error = second
        if not parts.recorded:
            await self._handle.drop()
        self._report(parts.machine.fail(error).phase)

    async def _end(self) -> None:
        parts = self._parts
        await parts.batches.end()
        await parts.contention.end()
        retire(parts.engine)
        await parts.lenses.end()
        await self._handle.end()


class LaneRun:
    """One run on one lane, with the methods that the session calls.

    Args:
        changed: called after every change of phase.

    Raises:
        InputError: the lesson has no such workload.
    """

    def __init__(
        self,
        lanes: LaneGuests,
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
        """The error that the agent reported, or the reason why the lane failed."""
        return self._parts.inputs.error

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self._parts.machine.over

    @property
    def can_hold(self) -> bool:
        """Whether the workload runs and the microscope watches an object."""
        return self.phase == "running" and self._parts.lenses.can_hold

    async def drive(self, all_ready: Callable[[], Awaitable[None]]) -> None:
        """Boot the guest, send the plan, start with the other lanes, and reduce all events.

        Args:
            all_ready: returns when every lane is ready or over.
        """
        with about(lane=self._parts.arm):
            await self._driver.drive(all_ready)

    def stop(self) -> None:
        """Stop the workload, or prevent its start."""
        self._parts.inputs.stop_requested = True
        self._parts.intake.wake()

    async def send_line(self, line: str) -> None:
        """Write a line to the workload's standard input.

        Raises:
            InputError: the workload does not run now, or the lane is a recording.
            InfraError: the guest's port is closed.
        """
        guest = self._driver.guest
        if guest is None or self._parts.recorded or self.phase != "running":
            raise InputError(
                f"lane {self.arm} has no running workload that could read the line '{line:.80}'.",
                remedy="Start a live run, and send the line while the workload runs.",
            )
        await guest.send(FrameType.SAY, line)

    def hold(self, after: int, report: OnHold) -> None:
        """Hold the guest.

        Args:
            after: number of further accesses to the object before the hold. 0 means now.
            report: receives each state of the hold.

        Raises:
            InputError: the guest cannot be held now, or is held already.
        """
        if not self.can_hold:
            raise no_hold(self.arm)
        self._parts.lenses.hold_guest(after, report)

    def release(self) -> None:
        """Let a held guest resume."""
        self._parts.lenses.hold.release()

    def result(self) -> LaneResult:
        """Return the result so far, which is final once the lane is over."""
        guest, newest = self._driver.guest, self._parts.contention.newest
        return self._parts.outcome.result(self.phase, guest.facts if guest else None, newest)

    def raw_events(
        self, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Return decoded records near a moment, as LaneEngine.raw_events does. Blocking.

        Raises:
            DuetError: the row does not exist, or the child with the records has ended or is busy.
        """
        return self._parts.engine.raw_events(around_ns, row, n, cpu)

    def close(self) -> None:
        """Release the decoded records and the transcript; `raw_events` then returns nothing.

        Without this call, the large transcript would live until the garbage collector frees cycles.
        """
        self._parts.engine.close()
        self._parts.writer.close()
