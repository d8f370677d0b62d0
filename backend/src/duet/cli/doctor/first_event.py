# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts one lane and waits for its first decoded event. Errors are part of the result."""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace

from duet import messages as m
from duet.base.errors import DuetError
from duet.cli.output import note
from duet.guests import Guest
from duet.guests.clones import Templates
from duet.guests.clones.guest import READY
from duet.guests.machine import MachineGuest
from duet.kernels import KernelSettings
from duet.runs.sources import kernel_sources
from duet.session import (
    Batch,
    GuestRequest,
    LaneGuests,
    LaneSource,
    RunSession,
    RunSpec,
    SessionSink,
)

START_S = 300.0
"""Time limit from the request to the first event, with a second try. Usual: 0.2 s for a copy, 2-3 s
for a boot, 20 s for a boot with virtme-ng.
"""
PARK_S = 120.0
"""Time limit for parking a guest. Usual: 4-5 s."""


@dataclass(frozen=True, slots=True)
class LaneStart:
    """How one lane started.

    Args:
        way: the requested way to start the lane: boot, copy or vng.
        ms: time from the request to the first decoded event; None if no event came.
        cloned: whether the guest is a copy of a parked guest.
        attempts: number of attempts to start the guest.
        why: the reason if no event came.
        ready: whether the guest is a copy whose QEMU was already running when the request came.
    """

    way: str
    ms: float | None
    cloned: bool
    attempts: int
    why: str = ""
    ready: bool = False


class FirstEvent(SessionSink):
    """Records when a lane's first decoded rows arrive."""

    def __init__(self) -> None:
        self.seen = asyncio.Event()
        self.at = 0.0
        self.cloned = False
        self.accel = ""
        self.failed = ""

    def on_lane(self, state: m.Lane) -> None:
        """Record how the guest started."""
        self.cloned = self.cloned or state.cloned
        self.accel = str(state.accel or self.accel)
        if state.phase == "failed" and not self.at:
            self.failed = state.message
            self.seen.set()

    def on_batch(self, arm: str, new: Batch) -> None:
        if not self.seen.is_set():
            self.at = time.monotonic()
            self.seen.set()


async def first_event(
    spec: RunSpec,
    arm: str,
    templates: Templates | None,
    sink: FirstEvent | None = None,
    whole: bool = False,
) -> LaneStart:
    """Start a lane, wait for its first decoded event, and stop it.

    Args:
        sink: receives the run.
        whole: also wait until the workload ends.
    """
    sink, guests = sink or FirstEvent(), list[Guest]()
    try:
        sources = await kernel_sources(spec.folder, (arm,), KernelSettings.default(), templates)
        source = recording_guests(sources[arm], guests)
        # As on a server, no guest copies are prepared during a run.
        paused = templates.paused() if templates else nullcontext()
        async with paused, LaneGuests() as lanes:
            session = RunSession(lanes, spec_of(spec, arm), {arm: source}, sink)
            began = time.monotonic()
            running = asyncio.create_task(session.execute(), name=f"bench {arm}")
            seen = asyncio.create_task(sink.seen.wait(), name="first event")
            until = (running,) if whole else (running, seen)
            await asyncio.wait(until, timeout=START_S, return_when=asyncio.FIRST_COMPLETED)
            seen.cancel()
            await session.stop()
            await running
        failed = sink.failed or f"no event came within {START_S:g} s or before the run was over"
    except DuetError as error:
        failed = error.sentence
    reports = [one.reports for one in guests if isinstance(one, MachineGuest)]
    attempts = sum(len(one) for one in reports)
    ready = any(report.outcome == READY for one in reports for report in one)
    if not sink.at:
        return LaneStart("", None, sink.cloned, attempts, failed)
    return LaneStart("", (sink.at - began) * 1e3, sink.cloned, attempts, ready=ready)


def recording_guests(source: LaneSource, guests: list[Guest]) -> LaneSource:
    """Return a lane source that appends its guests to `guests`, to count their start attempts."""

    def guest(request: GuestRequest) -> Guest:
        guests.append(source.guest(request))
        return guests[-1]

    return replace(source, guest=guest)


def spec_of(spec: RunSpec, arm: str) -> RunSpec:
    """Return the same run with only one lane, as the page would request it."""
    return replace(spec.only([arm]), run_id="bench")


async def wait_parked(templates: Templates) -> None:
    """Wait until a guest is parked, or until it is clear that none can be parked.

    Without a parked guest, a lane boots, and the caller measures a boot instead of a copy.
    """
    try:
        async with asyncio.timeout(PARK_S):
            await templates.wait_settled()
    except TimeoutError:
        note(f"no guest was parked within {PARK_S:g} s")
