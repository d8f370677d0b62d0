# SPDX-License-Identifier: GPL-2.0-or-later
"""The lenses of one run on one lane: x-ray, microscope and hold, on one clock.

They never fail a run: a lens that cannot see says so in a sentence, and the lane goes on.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from duet.errors import InputError
from duet.guests.types import Clock, Microscope
from duet.lenses import Wanted, Xray
from duet.lenses.limits import ATTACH_BEFORE_RUN_S, PING_S, PINGS
from duet.session.events import LaneSource, RunSpec, SessionSink
from duet.session.lane.clock import EventTimes, LaneClock
from duet.session.lane.guest import Lane
from duet.session.lane.hold import LaneHold, OnHold
from duet.session.lane.lens_replay import LensReplay
from duet.session.lane.microscope import LaneMicroscope
from duet.session.lane.saving import TranscriptWriter
from duet.session.lane.target import IDENTIFY
from duet.session.lane.waiting_workload import WaitingWorkload
from duet.session.lane.xray import LaneXray
from duet.session.limits import Limits
from duet.wire import FrameType


class LaneLenses:
    """All that looks into one lane's guest.

    Args:
        events: the lane's events, which tell its times.
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
        self.hold = LaneHold(arm, self.clock.calibration, limits)
        self.records = LensReplay(self.xray, self.microscope)
        self.plugin: Microscope | None = None
        self._guest: Lane | None = None
        self._process: Xray | None = None
        self._aiming: asyncio.Task[None] | None = None

    async def prepare(self, source: LaneSource) -> None:
        """Find the plugin that the guest needs, before it boots.

        Raises:
            InputError: the kernel does not have a function of the microscope's.
        """
        if self._spec.scope and source.scope and not self._recorded:
            self.plugin = await source.scope(self._spec.scope)

    async def attach(self, guest: Lane) -> None:
        """Begin to attach the lenses that the run asks for."""
        self._guest = guest
        if self.plugin and (client := await guest.scope()):
            self.microscope.start(client)
        scope = self._spec.scope
        identifies = scope is not None and scope.identify
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
        """Wait a little for the x-ray, then find out which guest time is which host time.

        On the count clock only the guest knows.
        """
        if self._process is None or self._guest is None:
            return
        with suppress(TimeoutError):  # it may attach later
            async with asyncio.timeout(ATTACH_BEFORE_RUN_S):
                await self._process.settled.wait()
        if self._spec.clock is Clock.COUNT:
            return
        for _ in range(PINGS):
            self.clock.ping_sent()
            await self._guest.send(FrameType.PING)
            with suppress(TimeoutError):
                async with asyncio.timeout(PING_S):
                    await self.clock.answered.wait()

    def aim(self) -> None:
        """The run starts: the microscope finds its object, and the workload goes on."""
        if self.plugin:
            self._aiming = asyncio.create_task(self._aim(), name=f"aim {self._arm}")
        elif self._waiting:
            release = self._waiting.release(self._say)
            self._aiming = asyncio.create_task(release, name=f"release {self._arm}")

    def line(self, text: str) -> None:
        """A line of the workload."""
        self.microscope.line(text)
        if self._waiting:
            self._waiting.line(text)

    @property
    def can_hold(self) -> bool:
        """The microscope watches an object."""
        return self.microscope.watching is not None

    def hold_guest(self, after: int, report: OnHold) -> None:
        """Stop the guest, at once or after so many accesses to the object; see LaneHold.

        Raises:
            InputError: it cannot be held now, or is held already.
        """
        client = self.microscope.watching
        facts = self._guest.facts if self._guest else None
        if client is None or facts is None or facts.qmp_socket is None:
            raise no_hold(self._arm)
        self.hold.hold(facts.qmp_socket, client, after, report)

    def advance(self) -> None:
        """More is known of the lane's times: pass samples on."""
        self.xray.advance()
        self.microscope.advance()

    def gone(self) -> None:
        """The guest is gone in the middle of a run."""
        self.xray.gone()
        self.microscope.gone()

    async def end(self) -> None:
        """The run is over: the guest is let go, and the last samples are passed on."""
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
        if self._spec.scope and self._spec.scope.identify and self._process:
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
    """The one of a run; it watches what the run asks for."""
    request, points = spec.scope, spec.folder.lesson.points
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
    """Nothing is watched there, so nothing can be held."""
    return InputError(
        f"lane {arm} cannot be held now: the microscope watches nothing there.",
        remedy="Start a live run that it watches, and hold the guests while they run.",
    )
