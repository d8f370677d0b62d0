# SPDX-License-Identifier: GPL-2.0-or-later
"""One run on one lane: phases, deadlines, batches. Ends with a LaneResult, never with a raise.

Frames and pages arrive through the Listener calls; `drive` is the only task that waits. What a
replay sends comes unasked and at once, so phases follow the frames, not our own commands.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from pydantic import JsonValue

from duet import budgets
from duet.errors import DuetError, InfraError, InputError, KernelError
from duet.guests.console import killed_for_memory
from duet.guests.types import Clock, Microscope
from duet.lenses import LensState, Wanted, Xray, unpack_record
from duet.lenses.limits import ATTACH_BEFORE_RUN_S, PING_S, PINGS
from duet.lessons import roles
from duet.lessons.plan import USUAL_S, boot_cmdline, plan_text, workload_of
from duet.session import engine
from duet.session.accesses import ACCESSES, COUNTS
from duet.session.contention import ContentionWatch
from duet.session.engine import LaneOf
from duet.session.events import (
    GuestWish,
    LanePhase,
    LaneResult,
    LaneSource,
    LaneState,
    Line,
    RunSpec,
    SessionSink,
)
from duet.session.lane.child import POOL, LaneChild, retire
from duet.session.lane.guest import Lane
from duet.session.lane.hold import LaneHold, Tell
from duet.session.lane.microscope import IDENTIFY, LaneScope, Timing
from duet.session.lane.xray import LaneXray
from duet.session.lanes import Lanes
from duet.session.pipeline import LanePipeline
from duet.session.reduce import Reduction
from duet.session.transcript import Transcript
from duet.session.trouble import agent_trouble, workload_figures, workload_trouble
from duet.wire import (
    Drained,
    Ended,
    Frame,
    FrameType,
    GuestError,
    GuestFile,
    Hello,
    RawFrame,
    Ready,
    Started,
)
from duet.wire import Line as LineFrame

T = TypeVar("T")
SCOPE_RECORDS = ("microscope", ACCESSES, COUNTS)
"""Records of the transcript that are the microscope's."""
MAX_LINES = 10_000
"""Lines of one workload that are kept in the result."""


class Stopped(Exception):
    """The run was stopped before the workload began."""


class LaneRun:
    """One run on one lane.

    Args:
        changed: called after every change of phase.
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
        self.phase = LanePhase.WAITING
        self.error: DuetError | None = None
        self._lanes, self._limits = lanes, lanes.limits
        self._spec, self._source, self._sink = spec, source, sink
        self._changed = changed
        self._workload = workload_of(spec.folder.lesson, spec.workload)
        self._recorded = spec.source == "recorded"
        self._lane: Lane | None = None
        self._engine = LaneChild(self._lane_of())
        self._pipeline: LanePipeline | None = None
        self._transcript: Transcript | None = None
        self._xray: Xray | None = None
        self._plugin: Microscope | None = None
        self._lens = LaneXray(
            self.arm,
            spec.clock,
            sink,
            origin=lambda: self._pipeline.origin_ns if self._pipeline else None,
            keep=lambda record, host_ns: self._parts()[1].lens(record, host_ns),
            seen=lambda raw: self._scope.seen(raw),
        )
        self._scope = self._make_scope()
        self._hold = LaneHold(self.arm, self._lens.calibration, lanes.limits)
        self._contention = ContentionWatch(lambda found: sink.on_contention(self.arm, found))
        self._aiming: asyncio.Task[None] | None = None
        self._lines: list[Line] = []
        self._lines_came = self._line_bytes = self._frames_came = 0
        self._lens_came = self._lens_bytes = 0
        self._hello: Hello | None = None
        self._status: int | None = None
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._ready = self._started = self._ended = self._drained = self._gone = False
        self._stop_at: float | None = None
        self._told_metrics = 0.0

    # what the lane tells (see lane.Listener)

    def on_frame(self, frame: Frame, raw: RawFrame, host_ns: int) -> None:
        """A frame of the control port."""
        if self._drained:
            return
        self._frames_came += 1
        if self._frames_came > budgets.FRAMES:
            raise self._too_much(f"more than {budgets.FRAMES:,} frames")
        pipeline, transcript = self._parts()
        transcript.frame(frame, raw, host_ns)
        self._lens.frame(frame, host_ns)
        match frame:
            case Hello():
                self._hello = frame
            case GuestFile():
                pass
            case Ready():
                self._ready = True
            case Started():
                self._started = True
            case Ended(_, status):
                self._started = self._ended = True
                self._status = status
            case Drained():
                self._drained = True
            case LineFrame():
                self._line(frame)
            case GuestError():
                self.error = agent_trouble(frame, self._lane.console_tail() if self._lane else "")
            case _:
                pass
        pipeline.feed_frame(frame)
        if not isinstance(frame, GuestFile):
            self._wake.set()

    def on_pages(self, cpu: int, pages: bytes, came: int, host_ns: int) -> None:
        """Pages of one CPU."""
        pipeline, transcript = self._parts()
        pipeline.feed_pages(cpu, pages, came, host_ns)
        transcript.pages(cpu, pages, host_ns)
        if pipeline.pending_bytes > self._limits.backlog_bytes:
            self._room.clear()
            self._wake.set()

    def on_end(self) -> None:
        """The guest is gone."""
        self._gone = True
        self._hold.let_go()
        if not (self._drained or self._recorded):
            self._lens.gone()
            self._scope.gone()
        self._room.set()
        self._wake.set()

    def on_lens(self, record: bytes) -> None:
        """A record of a lens, out of a recording. A bad one spoils the lens, not the lane."""
        if self._lens_came > budgets.LENS_RECORDS or self._lens_bytes > budgets.LENS_BYTES:
            return
        self._lens_came += 1
        self._lens_bytes += len(record)
        if self._lens_came > budgets.LENS_RECORDS or self._lens_bytes > budgets.LENS_BYTES:
            self._lens.on_fault(
                f"The recording has more than {budgets.LENS_RECORDS:,} records of lenses, or more "
                f"than {budgets.LENS_BYTES >> 20} MiB of them; later ones are left out.",
                "Record it again, with fewer samples a second.",
            )
            return
        try:
            found = unpack_record(record)
        except InputError as error:
            self._lens.on_fault(error.sentence, error.remedy)
            return
        name = found.lens if isinstance(found, LensState) else found.probe
        (self._scope if name in SCOPE_RECORDS else self._lens).replay(found)

    async def room(self) -> None:
        """Wait until the backlog is worked off."""
        await self._room.wait()

    # what the run wants

    async def drive(self, all_ready: Callable[[], Awaitable[None]]) -> None:
        """Boot, plan, start when all are ready, reduce until all is here.

        Args:
            all_ready: returns when every lane is ready or has failed.
        """
        try:
            await self._boot()
            await self._plan()
            await all_ready()
            await self._run()
            await self._settle()
        except Stopped:
            if self._lane and not self._ready:
                # its answers to this plan must not reach the next run
                self._lane.attach(None)
                self._room.set()
                await self._lanes.close(self.arm)
            self._tell(LanePhase.STOPPED)
        except DuetError as error:
            await self._fail(error)
        except Exception as error:
            await self._fail(
                InfraError(
                    f"lane {self.arm} met an unexpected error: {error}.",
                    remedy="Please report it with the detail.",
                    detail=traceback.format_exc(),
                )
            )
        finally:
            await self._contention.end()
            retire(self._engine)
            await self._hold.end()
            if self._aiming:
                self._aiming.cancel()
                await asyncio.wait([self._aiming])
            self._lens.finish()
            self._scope.finish()
            if self._xray:
                self._xray.pause()
            if self._lane:
                self._lane.attach(None)
            self._room.set()
            if self._lane and self._lane.wish.boot_plan is not None:
                # It takes no other plan, and on this clock an idle guest takes a whole CPU. It
                # does not end by itself: QEMU would discard what the host has not read yet.
                await self._lanes.close(self.arm)

    def stop(self) -> None:
        """End the workload, or do not begin it."""
        if self._stop_at is None:
            self._stop_at = time.monotonic()
            self._wake.set()

    async def say(self, line: str) -> None:
        """Give the workload a line on its standard input.

        Raises:
            InputError: it does not run now, or it is a recording.
            InfraError: the guest's port is gone.
        """
        if self._lane is None or self._recorded or self.phase is not LanePhase.RUNNING:
            raise InputError(
                f"lane {self.arm} runs nothing that could be told '{line:.80}' now.",
                remedy="Start a live run, and do it while the run goes on.",
            )
        await self._lane.send(FrameType.SAY, line)

    @property
    def can_hold(self) -> bool:
        """It runs, and the microscope watches an object."""
        return self.phase is LanePhase.RUNNING and self._scope.watching is not None

    def hold(self, after: int, tell: Tell) -> None:
        """Stop the guest, at once or after so many accesses to the object; see LaneHold.

        Raises:
            InputError: it cannot be held now, or is held already.
        """
        scope, facts = self._scope.watching, self._lane.facts if self._lane else None
        if not self.can_hold or scope is None or facts is None or facts.qmp_socket is None:
            raise InputError(
                f"lane {self.arm} cannot be held now: the microscope watches nothing there.",
                remedy="Start a live run that it watches, and hold the guests while they run.",
            )
        self._hold.hold(facts.qmp_socket, scope, after, tell)

    def let_go(self) -> None:
        """The guest goes on, if it is held."""
        self._hold.let_go()

    @property
    def over(self) -> bool:
        """Nothing more will happen."""
        return self.phase in (LanePhase.DONE, LanePhase.STOPPED, LanePhase.FAILED)

    def result(self) -> LaneResult:
        """What became of it."""
        pipeline = self._pipeline
        ops, per_s = self._workload_count()
        if pipeline is None:
            pipeline, _ = self._parts()
        return LaneResult(
            arm=self.arm,
            phase=self.phase,
            error=self.error,
            metrics=pipeline.metrics(),
            lines=tuple(self._lines),
            ops=ops,
            ops_per_s=per_s,
            facts=self._lane.facts if self._lane else None,
            kernel=self._hello.kernel if self._hello else "",
            clocksource=self._hello.clocksource if self._hello else "",
            loss=tuple(pipeline.losses),
            lost_by_place=pipeline.lost_by_place(),
            transcript=self._transcript,
            status=self._status,
            tallies=pipeline.tallies(),
            tally_faults=pipeline.tally_faults(),
            scope=self._scope.result(),
            scope_fault=self._scope.state.message,
            contention=self._contention.newest,
        )

    def raw_events(self, around_ns: float, row: int | None, n: int) -> list[dict[str, JsonValue]]:
        """Decoded records near a moment. Blocking.

        Raises:
            DuetError: the child that has them is gone or busy.
        """
        return self._engine.raw_events(around_ns, row, n)

    def close(self) -> None:
        """Give up the decoded records; `raw_events` has none from now on.

        The transcript goes with the result; it shall not wait for the collector of cycles.
        """
        self._engine.close()
        self._transcript = None

    # steps

    def _wish(self) -> GuestWish:
        spec = self._spec
        lesson = spec.folder.lesson
        count = spec.clock is Clock.COUNT
        at_boot = self._plan_text(at_boot=True) if count and not self._recorded else None
        return GuestWish(
            arm=self.arm,
            vcpus=1 if count else roles.cpus(lesson, spec.params),
            cmdline=boot_cmdline(lesson, spec.params),
            clock=spec.clock,
            boot_plan=at_boot,
            shift=spec.shift if count else 0,
            seed=spec.seed if count else 1,
            memory_mb=lesson.memory_mb,
            scratch_mb=0 if count else self._workload.scratch_mb,
            microscope=self._plugin,
        )

    def _plan_text(self, *, at_boot: bool) -> str:
        spec = self._spec
        return plan_text(
            spec.folder.lesson,
            self.arm,
            spec.workload,
            spec.params,
            self._source.symbols,
            traced=spec.traced,
            at_boot=at_boot,
            autostart=not spec.lens,
            buffer_kb=spec.buffer_kb,
            probes=spec.probes,
        )

    async def _boot(self) -> None:
        if self._stop_at is not None:
            raise Stopped
        await asyncio.to_thread(engine.warm)
        if self._spec.traced:
            await self._in_child(self._engine.begin)
        if self._spec.scope and self._source.scope and not self._recorded:
            self._plugin = await self._source.scope(self._spec.scope)
        wish = self._wish()
        self._lane = None if self._recorded else self._lanes.find(self.arm, wish)
        if self._lane:
            self._parts(self._lane.received())
            self._lane.attach(self)
            if self._lane.hello:
                self.on_frame(*self._lane.hello, time.monotonic_ns())
            await self._look()
            return
        self._tell(LanePhase.BOOTING)
        self._lane = await self._lanes.open(self._source, wish, self)
        await self._until(self._lane.up.is_set, None, "the guest to boot", self._lane.up)
        await self._until(lambda: self._hello is not None, self._limits.hello_s, "its agent")
        self._tell(LanePhase.BOOTING)
        await self._look()

    async def _look(self) -> None:
        """Begin to attach the lenses that are wanted. They never fail a run."""
        if self._plugin and self._lane and (client := await self._lane.scope()):
            self._scope.start(client)
        wanted, scope = self._spec.lens, self._spec.scope
        identifies = scope is not None and scope.identify
        if not (wanted or identifies) or self._recorded or self._lane is None:
            return
        self._lens.attaching()
        self._xray = await self._lane.xray()
        if self._xray is None:
            self._lens.on_fault(
                "This kind of guest has no monitor or no vmlinux, so it cannot be read.",
                "Run it with DUET_GUEST=qemu and a kernel of ./duet build.",
            )
            return
        self._xray.sample(wanted, self._lens)
        if self._xray.attached:
            self._lens.attached(self._xray.route)

    async def _plan(self) -> None:
        assert self._lane is not None
        if not self._recorded and self._lane.wish.boot_plan is None:
            await self._lane.send(FrameType.PLAN, self._plan_text(at_boot=False))
        limit = self._limits.ready_s + (self._limits.setup_s if self._workload.setup else 0)
        await self._until(lambda: self._ready, limit, "its probes to be set up")
        if self._xray:
            with suppress(TimeoutError):  # the lens comes when it comes
                async with asyncio.timeout(ATTACH_BEFORE_RUN_S):
                    await self._xray.settled.wait()
            await self._calibrate()
        self._tell(LanePhase.READY)

    async def _calibrate(self) -> None:
        """Which guest time is which host time; on the count clock only the guest knows."""
        assert self._lane is not None
        if self._spec.clock is Clock.COUNT:
            return
        for _ in range(PINGS):
            self._lens.ping_sent()
            await self._lane.send(FrameType.PING)
            with suppress(TimeoutError):
                async with asyncio.timeout(PING_S):
                    await self._lens.answered.wait()

    async def _run(self) -> None:
        assert self._lane is not None
        if self._stop_at is not None:
            raise Stopped
        if not self._recorded and (self._lane.wish.boot_plan is None or self._spec.lens):
            self._lens.start_sent()
            await self._lane.send(FrameType.START)
        if self._plugin:
            self._aiming = asyncio.create_task(self._use_scope())
        limits = self._limits
        deadline = (
            self._hold.now
            + roles.duration_s(self._spec.folder.lesson, self._spec.params, USUAL_S)
            + limits.run_slack_s
        )
        drain_by: float | None = None
        stop_sent = False
        while not self._drained:
            await self._tick()
            self._check()
            if self._gone and not self._drained:
                raise self._went_away()
            if self._started and self.phase is LanePhase.READY:
                self._tell(LanePhase.RUNNING)
            now = self._hold.now
            if self._ended and drain_by is None:
                drain_by = now + limits.drain_s
                self._tell(LanePhase.DRAINING)
            if now > deadline and self._stop_at is None:
                self._stop_at = now
            if self._stop_at is not None and not stop_sent:
                stop_sent = True
                await self._hold.end()  # a guest that stands would not hear of it
                now = self._hold.now
                deadline = now + limits.stop_s
                await self._lane.send(FrameType.STOP)
            if (stop_sent and now > deadline) or (drain_by and now > drain_by):
                raise self._late("its workload to end and its events to come")

    async def _settle(self) -> None:
        """All frames are here; wait for pages that they overtook, then reduce the rest."""
        await self._scope.end()
        pipeline, _ = self._parts()
        missing = pipeline.missing_bytes
        deadline = time.monotonic() + self._limits.missing_s
        while not pipeline.complete and not self._gone and time.monotonic() < deadline:
            await self._tick()
            if pipeline.missing_bytes < missing:  # a busy host is slow, but they do come
                missing = pipeline.missing_bytes
                deadline = time.monotonic() + self._limits.missing_s
        if self._lane and self._gone and self._lane.error and not pipeline.complete:
            raise self._lane.error
        await self._advance(final=True)
        if starved := self._out_of_memory():
            raise starved
        if pipeline.headless:
            if failed := workload_trouble(self.result()):
                raise failed  # that is why it wrote no marker
            lost = sum(pipeline.lost_by_place().values())
            raise KernelError(
                f"lane {self.arm} has no start marker among its events ({lost} events were lost), "
                "so nothing can be drawn of it.",
                remedy="Run it again with fewer threads or seconds.",
            )
        workload_figures(self.arm, self._workload.ops_line, self._lines)
        if self._started and self.phase is LanePhase.READY:
            self._tell(LanePhase.RUNNING)
        self._tell(LanePhase.STOPPED if self._stop_at is not None else LanePhase.DONE)

    async def _fail(self, error: DuetError) -> None:
        error = self._out_of_memory() or error
        self.error = error
        if self._pipeline and not self._pipeline.broken:
            try:
                await self._advance(final=False)  # beyond the watermark CPUs are missing
                await self._count(tallies=True)
            except DuetError as second:
                self.error = second
        if self._lane and not self._recorded:
            self._lane.attach(None)
            self._room.set()
            await self._lanes.close(self.arm)
        self._tell(LanePhase.FAILED)

    # waiting

    async def _until(
        self,
        done: Callable[[], bool],
        limit_s: float | None,
        what: str,
        event: asyncio.Event | None = None,
    ) -> None:
        """Wait for a condition, the guest's end, a stop or the time limit."""
        deadline = None if limit_s is None else time.monotonic() + limit_s
        watcher = asyncio.create_task(self._relay(event)) if event else None
        try:
            while not done():
                self._check()
                if self._gone:
                    raise self._went_away()
                if self._stop_at is not None:
                    raise Stopped
                if deadline is not None and time.monotonic() > deadline:
                    raise self._late(what)
                await self._nap(0.25)
            self._check()
        finally:
            if watcher:
                watcher.cancel()
                await asyncio.wait([watcher])

    async def _relay(self, event: asyncio.Event) -> None:
        await event.wait()
        self._wake.set()

    async def _nap(self, limit_s: float) -> None:
        """Sleep until something happens."""
        try:
            async with asyncio.timeout(limit_s):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    async def _tick(self) -> None:
        """One batch: wait a little for events to gather, then work on them."""
        if self._room.is_set() and not self._gone:
            await asyncio.sleep(self._limits.tick_s if not self._recorded else 0.001)
        await self._advance(final=False)

    async def _advance(self, *, final: bool) -> None:
        pipeline, _ = self._parts()
        work = pipeline.take(final=final)
        self._room.set()
        if work is None:
            return
        reduction = await self._in_child(lambda: pipeline.work(work))
        self._publish(reduction)
        while reduction.more:
            reduction = await self._in_child(lambda: pipeline.work(work.rest()))
            self._publish(reduction)
        now = time.monotonic()
        if final or (reduction.batches and now - self._told_metrics > self._limits.metrics_s):
            self._told_metrics = now
            await self._count(tallies=final)
            self._sink.on_metrics(self.arm, pipeline.metrics())

    async def _count(self, *, tallies: bool) -> None:
        pipeline, _ = self._parts()
        await self._in_child(lambda: pipeline.count(tallies=tallies))

    async def _in_child(self, work: Callable[[], T]) -> T:
        """Wait for the engine on a thread; whoever gives up waiting ends the engine."""
        try:
            return await asyncio.get_running_loop().run_in_executor(POOL, work)
        except asyncio.CancelledError:
            self._engine.close()
            raise

    def _publish(self, reduction: Reduction) -> None:
        if reduction.rows is not None:
            self._sink.on_rows(self.arm, reduction.rows)
        for loss in reduction.losses:
            self._sink.on_loss(self.arm, loss)
        for batch in reduction.batches:
            self._sink.on_batch(self.arm, batch)
        self._lens.advance()
        self._scope.advance()

    # small things

    def _lane_of(self) -> LaneOf:
        spec, lesson = self._spec, self._spec.folder.lesson
        return LaneOf(
            lesson,
            self.arm,
            spec.workload,
            dict(self._source.symbols),
            threads=roles.rows(lesson, self._workload, spec.params),
            history_events=self._limits.history_events,
            live=not self._recorded,
        )

    def _make_scope(self) -> LaneScope:
        lesson, wish = self._spec.folder.lesson, self._spec.scope
        kinds = [number for number, point in enumerate(lesson.points) if point.lens == "microscope"]
        timing = Timing(
            origin=lambda: self._pipeline.origin_ns if self._pipeline else None,
            watermark=lambda: self._pipeline.watermark_ns if self._pipeline else 0.0,
            guest=lambda began, ended: self._lens.calibration.guest(began, ended),
        )
        return LaneScope(
            self.arm,
            self._sink,
            wish.aim if wish else None,
            kinds[0] if kinds else None,
            wish.functions if wish else (),
            timing,
            keep=lambda record, host_ns: self._parts()[1].lens(record, host_ns),
        )

    async def _use_scope(self) -> None:
        await self._scope.aim(self._tell_workload)
        if self._spec.scope and self._spec.scope.identify and self._xray:
            await self._scope.identify(self._identify)

    def _identify(self, addresses: str) -> None:
        assert self._xray is not None
        wanted = (*self._spec.lens, Wanted(IDENTIFY, of=addresses))
        self._xray.sample(wanted, self._lens)

    async def _tell_workload(self, line: str) -> None:
        assert self._lane is not None
        await self._lane.send(FrameType.SAY, line)

    def _parts(self, before: dict[int, int] | None = None) -> tuple[LanePipeline, Transcript]:
        if self._pipeline is None or self._transcript is None:
            self._pipeline = LanePipeline(self._engine, before)
            self._transcript = Transcript(
                self._limits.transcript_bytes, time.monotonic_ns(), before or {}
            )
        return self._pipeline, self._transcript

    def _line(self, frame: LineFrame) -> None:
        pipeline, _ = self._parts()
        self._lines_came += 1
        self._line_bytes += len(frame.text)
        if self._lines_came > budgets.LINES or self._line_bytes > budgets.LINE_BYTES:
            raise self._too_much(
                f"more than {budgets.LINES:,} lines, or {budgets.LINE_BYTES >> 20} MiB of them"
            )
        text, most = frame.text, budgets.LINE_CHARACTERS
        if len(text) > most:
            text = f"{text[:most]} ... and {len(text) - most} characters more"
        line = Line(frame.stream, text, pipeline.since_marker(frame.mono_ns))
        if len(self._lines) < MAX_LINES:
            self._lines.append(line)
        self._sink.on_line(self.arm, line)
        self._scope.line(text)

    def _workload_count(self) -> tuple[int | None, float | None]:
        """The workload's own figures, from the last line that has them and are numbers."""
        with suppress(KernelError):
            return workload_figures(self.arm, self._workload.ops_line, self._lines)
        return None, None

    def _too_much(self, what: str) -> DuetError:
        if self._recorded:
            return InputError(
                f"lane {self.arm} of the recording has {what}, which no run has.",
                remedy="Get the file anew, or record it again.",
            )
        return KernelError(
            f"the guest of lane {self.arm} sent {what}, so it was ended.",
            remedy="Ask for less of the workload, or let it write less.",
        )

    def _check(self) -> None:
        if self.error:
            raise self.error

    def _out_of_memory(self) -> DuetError | None:
        """The cause behind whatever came of it: a signal, odd numbers, or a guest that hangs."""
        console = self._lane.console_tail() if self._lane and not self._recorded else ""
        victim = killed_for_memory(console)
        if victim is None:
            return None
        memory = self._spec.folder.lesson.memory_mb
        return KernelError(
            f"the guest of lane {self.arm} ran out of memory ({memory} MB), and its kernel killed "
            f"`{victim}`.",
            remedy="Ask for less of the workload, or raise memory_mb in lesson.yaml.",
            detail=console,
        )

    def _went_away(self) -> DuetError:
        if self._lane and self._lane.error:
            return self._lane.error
        if self._recorded:
            return InfraError(
                f"the recording of lane {self.arm} ends in the middle of its run.",
                remedy="Record it again.",
            )
        return InfraError(
            f"the guest of lane {self.arm} went away in the middle of its run.",
            remedy="Run it again; the console tail may tell why.",
            detail=self._lane.console_tail() if self._lane else "",
        )

    def _late(self, what: str) -> DuetError:
        return KernelError(
            f"lane {self.arm} waited too long for {what}.",
            remedy="Run it again with fewer threads or seconds, or on a machine with less to do.",
            detail=self._lane.console_tail() if self._lane else "",
        )

    def _tell(self, phase: LanePhase) -> None:
        self.phase = phase
        facts = self._lane.facts if self._lane else None
        if phase is not LanePhase.RUNNING:
            self._contention.finish()
        elif facts and facts.pid and self._spec.clock is Clock.WALL:
            self._contention.begin(facts.pid)
        error = self.error if phase is LanePhase.FAILED else None
        self._sink.on_lane(
            LaneState(
                arm=self.arm,
                phase=phase,
                message=error.sentence if error else "",
                remedy=error.remedy if error else "",
                detail=error.detail if error else "",
                accel=facts.accel if facts else None,
                pid=facts.pid if facts else None,
                kernel=self._hello.kernel if self._hello else "",
                boot_s=facts.boot_s if facts else None,
            )
        )
        self._changed()
