# SPDX-License-Identifier: GPL-2.0-or-later
"""The lenses of one run of one lane: x-ray, microscope and hold, on one clock.

A failed lens never fails the run: the lens reports a sentence, and the lane continues.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from duet import messages as m
from duet.base import budgets
from duet.base.budgets import PENDING_LENS_BYTES
from duet.base.errors import DuetError, InputError
from duet.guests.qmp import Monitor
from duet.guests.types import Microscope
from duet.lenses import (
    Calibration,
    LensState,
    Sample,
    Wanted,
    Window,
    Xray,
    pack_record,
    unpack_record,
)
from duet.lenses.limits import ATTACH_BEFORE_RUN_S, PENDING_SAMPLES, PING_S, PINGS
from duet.lenses.records import Route
from duet.lenses.scope.client import ScopeClient
from duet.lenses.scope.wire import Cells
from duet.lenses.xray import Message
from duet.session.accesses import ACCESSES, COUNTS
from duet.session.events import LaneSource, SessionSink
from duet.session.lane.clock import EventTimes, LaneClock
from duet.session.lane.guest import LaneGuest
from duet.session.lane.lens_report import LensSink, ReportedLens
from duet.session.lane.microscope import IDENTIFY, LaneMicroscope, WaitingWorkload
from duet.session.limits import Limits
from duet.session.spec import RunSpec
from duet.session.transcript import TranscriptWriter
from duet.wire import FrameType

# The x-ray of one run of one lane: guest times of samples, counts, and state.
#
# Samples wait in a bounded queue until the time of the start marker is known. Then they go to the
# sink and the transcript: the last sample of each probe before the start, and all samples until
# the workload's end. A replay passes recorded samples to the sink.

FEW_SAMPLES = 3
"""Number of samples that may be queued even if they exceed PENDING_LENS_BYTES. The size of each
sample is limited elsewhere.
"""
GONE = "The guest ended while the x-ray read it."
REPORT_S = 1.0
"""Interval of reports that differ only in counts."""


class LaneXray(ReportedLens):
    """Passes samples from the x-ray's process, or from a recording, to the sink.

    Args:
        save: saves a record with its host time in the transcript.
        on_sample: receives each raw sample on arrival, before its guest time is known.
    """

    def __init__(
        self,
        arm: str,
        clock: LaneClock,
        sink: LensSink,
        save: Callable[[bytes, int], None],
        on_sample: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        super().__init__(arm, sink, save, LensState(), GONE)
        self._clock, self._sink, self._on_sample = clock, sink, on_sample
        self._raw: deque[dict[str, Any]] = deque()
        self._timed: deque[Sample] = deque()
        self._undelivered = 0

    # messages of the x-ray's process (lenses.xray.XrayListener)

    def attaching(self) -> None:
        self._change(state="attaching", message="", remedy="")

    def attached(self, route: Route) -> None:
        slow = "It reads slowly, as text over QMP, since it may not read QEMU's memory."
        self._change(state="on", route=route, message=slow if route == "qmp" else "")

    def on_fault(self, message: str, remedy: str) -> None:
        """Handle a fault that ends the x-ray."""
        self._change(state="failed", message=message, remedy=remedy)

    def on_raw(self, message: Message) -> None:
        """Handle a message of the process."""
        tree: dict[str, Any] = dict(message)
        match tree["kind"]:
            case "attached":
                self.attached(tree["route"])
            case "fault" if tree["left"]:
                self._change(message=tree["message"], remedy=tree["remedy"], failed=tree["failed"])
            case "fault":
                self.state = replace(self.state, torn=tree["torn"], failed=tree["failed"])
                self.on_fault(tree["message"], tree["remedy"])
            case "sample":
                if self._on_sample:
                    self._on_sample(tree)
                self._raw.append(tree)
                self._bound(self._raw)
                self.advance()

    def replay(self, record: Sample | LensState) -> None:
        """Handle a record of a recording."""
        if isinstance(record, LensState):
            self._replay_state(record)
            return
        self._timed.append(record)
        self._bound(self._timed)
        self.advance()

    def advance(self) -> None:
        """Pass samples whose guest time is known to the sink."""
        origin = self._clock.origin_ns
        if origin is None:
            return
        while self._timed:
            sample = self._timed.popleft()
            self._sink.on_sample(self._arm, sample, float(sample.at_ns - origin))
        ready: list[tuple[dict[str, Any], Window, str]] = []
        while self._raw and (window := self._clock.sample_window(self._raw[0])) is not None:
            ready.append((self._raw.popleft(), *window))
        early = {raw["probe"]: raw for raw, window, _ in ready if window.high_ns < origin}
        for raw, span, clock in ready:
            if span.high_ns < origin and early[raw["probe"]] is not raw:
                continue  # only the last sample of each probe before the start is kept
            if self._clock.ended_ns is None or span.low_ns <= self._clock.ended_ns:
                self._pass_on(raw, span, clock, origin)

    def _pass_on(self, raw: dict[str, Any], window: Window, clock: str, origin: int) -> None:
        at_ns, error_ns = window.at_ns, window.error_ns
        if clock == "guest":
            # The clock in the guest's memory advances only at ticks. So the newest value that the
            # x-ray has read is the most accurate value.
            at_ns = max(raw["before_ns"], raw["after_ns"])
            error_ns = max(at_ns - window.low_ns, window.high_ns - at_ns)
        sample = Sample(
            probe=raw["probe"],
            seq=raw["seq"],
            at_ns=max(0, at_ns),
            error_ns=error_ns,
            clock="host" if clock == "host" else "guest",
            took_ns=raw["ended_ns"] - raw["began_ns"],
            **{key: raw[key] for key in ("torn", "failed", "n")},
            **{key: raw[key] for key in ("columns", "dtypes", "facts", "texts")},
        )
        self._save(pack_record(sample), time.monotonic_ns())
        self.state = replace(
            self.state,
            samples=self.state.samples + 1,
            torn=sample.torn,
            failed=sample.failed,
            dropped=raw["dropped"] + self._undelivered,
        )
        self._sink.on_sample(self._arm, sample, float(sample.at_ns - origin))
        if time.monotonic() - self._reported_at > REPORT_S:
            self._report()

    def finish(self) -> None:
        """Report the last counts at the end of the run."""
        self.advance()
        self._undelivered += len(self._raw)
        if self._raw:
            self.state = replace(self.state, dropped=self.state.dropped + len(self._raw))
            self._raw.clear()
        if self.state.state != "off":
            self._report()

    def _bound(self, queue: deque[Any]) -> None:
        held = sum(_bytes_of(one) for one in queue) if len(queue) > FEW_SAMPLES else 0
        if len(queue) > PENDING_SAMPLES or held > PENDING_LENS_BYTES:
            queue.popleft()
            self._undelivered += 1


def _bytes_of(waits: Sample | dict[str, Any]) -> int:
    columns = waits.columns if isinstance(waits, Sample) else waits["columns"]
    return sum(len(column) for column in columns.values())


# Hold a guest: stop it, and later let it resume.
#
# A plugin cannot stop the machine. If it blocked in a callback, guest time would continue. So
# QEMU's monitor stops the guest (`stop`), and we report the accesses between the request and the
# stop. The guest's clock and the run's deadlines stop meanwhile.

POLL_S = 0.005
"""Interval of polling the number of accesses. A poll takes some milliseconds."""


OnHold = Callable[[m.Held], None]


def accesses(cells: Cells) -> int:
    """Return the number of accesses to the watched cache lines, logged or not."""
    return cells.logged + cells.lost + cells.over


def _moved(state: m.Held, **fields: object) -> m.Held:
    return state.model_copy(update=fields)


class LaneHold:
    """Holds one lane's guest. A task owns the hold, and resumes the guest in every case.

    Args:
        calibration: receives the times at which the guest's clock stopped and resumed.
    """

    def __init__(self, run_id: str, arm: str, calibration: Calibration, limits: Limits) -> None:
        self._run_id, self._arm = run_id, arm
        self._calibration, self._limits = calibration, limits
        self._task: asyncio.Task[None] | None = None
        self._released = asyncio.Event()
        self._held_s = 0.0
        self._since: float | None = None

    @property
    def now(self) -> float:
        """Monotonic seconds without the time in holds. The run's deadlines use this clock."""
        return (time.monotonic() if self._since is None else self._since) - self._held_s

    def hold(self, socket: Path, scope: ScopeClient, after: int, report: OnHold) -> None:
        """Start to hold the guest.

        Args:
            socket: QEMU's monitor.
            after: number of further accesses before the hold. 0 means now.
            report: receives each state of the hold.

        Raises:
            InputError: the guest is held already, or is about to be held.
        """
        if self._task and not self._task.done():
            raise InputError(
                f"lane {self._arm} is held already, or will be in a moment.",
                remedy="Resume the guests first.",
            )
        self._released.clear()
        work = self._hold(socket, scope, after, report)
        self._task = asyncio.create_task(work, name=f"hold {self._arm}")

    def release(self) -> None:
        """Let the guest resume, if it is held."""
        self._released.set()

    async def end(self) -> None:
        """Release the guest, and wait until it runs."""
        self.release()
        if self._task:
            await asyncio.wait([self._task])

    async def _hold(self, socket: Path, scope: ScopeClient, after: int, report: OnHold) -> None:
        state = m.Held(
            run_id=self._run_id,
            arm=self._arm,
            phase="waiting",
            after=after,
            asked=None,
            stood=None,
        )
        message = ""
        try:
            async with Monitor(socket) as monitor:
                state = _moved(state, asked=accesses(await scope.snapshot()))
                if await self._reach(scope, state, report):
                    try:
                        await self._stop(monitor)
                        state = _moved(state, phase="held", stood=accesses(await scope.snapshot()))
                        report(state)
                        message = await self._wait_released()
                    finally:
                        await self._cont(monitor)
                elif not self._released.is_set():
                    message = (
                        f"Fewer than {after} accesses came in {self._limits.hold_after_s:g} s, so "
                        f"lane {self._arm} was not held."
                    )
        except DuetError as error:
            message = error.sentence
        report(_moved(state, phase="going", message=message))

    async def _reach(self, scope: ScopeClient, state: m.Held, report: OnHold) -> bool:
        """Wait for `state.after` accesses; return False on a timeout or release."""
        assert state.asked is not None
        if not state.after:
            return True
        report(state)
        until = time.monotonic() + self._limits.hold_after_s
        while not self._released.is_set() and time.monotonic() < until:
            if accesses(await scope.snapshot()) >= state.asked + state.after:
                return True
            await asyncio.sleep(POLL_S)
        return False

    async def _wait_released(self) -> str:
        """Wait for the release; return a message after a timeout, else ""."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.hold_s):
                await self._released.wait()
            return ""
        return f"Lane {self._arm} resumed after {self._limits.hold_s:g} s, the longest hold."

    async def _stop(self, monitor: Monitor) -> None:
        began = time.monotonic_ns()
        self._calibration.stopping(began)
        self._since = time.monotonic()
        await monitor.do("stop")
        self._calibration.stopped(time.monotonic_ns())

    async def _cont(self, monitor: Monitor) -> None:
        began = time.monotonic_ns()
        try:
            await monitor.do("cont")
        finally:
            self._calibration.resumed(began, time.monotonic_ns())
            if self._since is not None:
                self._held_s += time.monotonic() - self._since
                self._since = None


# Replay of lens records, within a budget. A malformed record fails its lens, never the lane.


MICROSCOPE_RECORDS = ("microscope", ACCESSES, COUNTS)
"""Lens or probe names in the microscope's records."""


class LensReplay:
    """Passes records of a recording to their lenses."""

    def __init__(self, xray: LaneXray, microscope: LaneMicroscope) -> None:
        self._xray, self._microscope = xray, microscope
        self._records = self._bytes = 0

    def replay(self, record: bytes) -> None:
        """Pass on a record. Records beyond the budget are dropped, which is reported once."""
        if self._exceeded():
            return
        self._records += 1
        self._bytes += len(record)
        if self._exceeded():
            self._xray.on_fault(
                f"The recording has more than {budgets.LENS_RECORDS:,} records of lenses, or more "
                f"than {budgets.LENS_BYTES >> 20} MiB of them; later ones are left out.",
                "Record it again, with fewer samples a second.",
            )
            return
        try:
            found = unpack_record(record)
        except InputError as error:
            self._xray.on_fault(error.sentence, error.remedy)
            return
        name = found.lens if isinstance(found, LensState) else found.probe
        (self._microscope if name in MICROSCOPE_RECORDS else self._xray).replay(found)

    def _exceeded(self) -> bool:
        return self._records > budgets.LENS_RECORDS or self._bytes > budgets.LENS_BYTES


class LaneLenses:
    """The lenses of one lane.

    Args:
        events: start marker and watermark of the lane's events.
        writer: saves records of the lenses.
    """

    def __init__(
        self,
        arm: str,
        spec: RunSpec,
        sink: SessionSink,
        events: EventTimes,
        writer: TranscriptWriter,
        limits: Limits,
    ) -> None:
        self._arm, self._spec = arm, spec
        self._recorded = spec.source == "recorded"
        self.clock = LaneClock(events, spec.clock)
        self.microscope = _microscope(arm, spec, sink, self.clock, writer)
        self._waiting = WaitingWorkload(spec.waits) if spec.waits else None
        self.xray = LaneXray(
            arm, self.clock, sink, writer.lens, on_sample=self.microscope.on_xray_sample
        )
        self.hold = LaneHold(spec.run_id, arm, self.clock.calibration, limits)
        self.records = LensReplay(self.xray, self.microscope)
        self.plugin: Microscope | None = None
        self._guest: LaneGuest | None = None
        self._request = spec.scope(arm)
        self._process: Xray | None = None
        self._aiming: asyncio.Task[None] | None = None

    async def prepare(self, source: LaneSource) -> None:
        """Build the plugin, before the guest boots with it.

        Raises:
            InputError: the kernel lacks a function of the microscope's request.
        """
        if self._request and source.scope and not self._recorded:
            self.plugin = await source.scope(self._request)

    async def attach(self, guest: LaneGuest) -> None:
        """Start to attach the requested lenses."""
        self._guest = guest
        if self.plugin and (client := await guest.scope()):
            self.microscope.start(client)
        identifies = self._request is not None and self._request.identify
        if not (self._spec.lens or identifies) or self._recorded:
            return
        self.xray.attaching()
        self._process = await guest.xray()
        if self._process is None:
            self.xray.on_fault(
                "This kind of guest has no monitor or no vmlinux, so it cannot be read.",
                "Run it with DUET_GUEST=qemu and a kernel of ./duet build.",
            )
            return
        self._process.sample(self._spec.lens, self.xray)
        if self._process.attached:
            self.xray.attached(self._process.route)

    async def calibrate(self) -> None:
        """Wait briefly for the x-ray, then calibrate the guest's clock with PINGs.

        On the count clock, samples contain the guest time, so nothing is calibrated.
        """
        if self._process is None or self._guest is None:
            return
        with suppress(TimeoutError):  # the x-ray may attach later
            async with asyncio.timeout(ATTACH_BEFORE_RUN_S):
                await self._process.settled.wait()
        if self._spec.clock == "count":
            return
        for _ in range(PINGS):
            self.clock.ping_sent()
            await self._guest.send(FrameType.PING)
            with suppress(TimeoutError):
                async with asyncio.timeout(PING_S):
                    await self.clock.answered.wait()

    def aim(self) -> None:
        """Start the microscope's search. Without a microscope, release a workload that waits."""
        if self.plugin:
            self._aiming = asyncio.create_task(self._aim(), name=f"aim {self._arm}")
        elif self._waiting:
            release = self._waiting.release(self._say)
            self._aiming = asyncio.create_task(release, name=f"release {self._arm}")

    def on_line(self, text: str) -> None:
        """Handle a line of the workload."""
        self.microscope.on_line(text)
        if self._waiting:
            self._waiting.on_line(text)

    @property
    def can_hold(self) -> bool:
        """Whether the microscope watches an object."""
        return self.microscope.watching is not None

    def hold_guest(self, after: int, report: OnHold) -> None:
        """Hold the guest.

        Args:
            after: number of further accesses to the object before the hold. 0 means now.
            report: receives each state of the hold.

        Raises:
            InputError: the guest cannot be held now, or is held already.
        """
        client = self.microscope.watching
        facts = self._guest.facts if self._guest else None
        if client is None or facts is None or facts.qmp_socket is None:
            raise no_hold(self._arm)
        self.hold.hold(facts.qmp_socket, client, after, report)

    def advance(self) -> None:
        """Pass samples on, after the lane's watermark or start marker has changed."""
        self.xray.advance()
        self.microscope.advance()

    def gone(self) -> None:
        """Handle the end of the guest during the run."""
        self.xray.gone()
        self.microscope.gone()

    async def end(self) -> None:
        """End the run: release the guest, and pass the last samples on."""
        await self.hold.end()
        if self._aiming:
            self._aiming.cancel()
            await asyncio.wait([self._aiming])
        self.xray.finish()
        self.microscope.finish()
        if self._process:
            self._process.pause()

    async def _aim(self) -> None:
        await self.microscope.aim(self._say)
        if self._request and self._request.identify and self._process:
            await self.microscope.identify(self._identify)

    async def _say(self, line: str) -> None:
        assert self._guest is not None
        await self._guest.send(FrameType.SAY, line)

    def _identify(self, addresses: str) -> None:
        assert self._process is not None
        self._process.sample((*self._spec.lens, Wanted(IDENTIFY, of=addresses)), self.xray)


def _microscope(
    arm: str, spec: RunSpec, sink: SessionSink, clock: LaneClock, writer: TranscriptWriter
) -> LaneMicroscope:
    """Create the microscope of a run."""
    request, points = spec.scope(arm), spec.folder.lesson.points
    kinds = [number for number, point in enumerate(points) if point.lens == "microscope"]
    return LaneMicroscope(
        arm,
        sink,
        request.aim if request else None,
        kinds[0] if kinds else None,
        request.functions if request else (),
        clock,
        writer.lens,
    )


def no_hold(arm: str) -> InputError:
    """Return the error for a hold request in a lane whose microscope watches nothing."""
    return InputError(
        f"lane {arm} cannot be held now: the microscope watches nothing there.",
        remedy="Start a live run with the microscope, and hold the guests while they run.",
    )
