# SPDX-License-Identifier: GPL-2.0-or-later
"""One arm's guest while it is up: boot, read its ports, hand frames and pages to the run.

A lane outlives runs: many plans per boot. Its task never raises; what went wrong stays in
`error`, so that one lane's failure leaves the others going.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from contextlib import AsyncExitStack
from typing import Protocol

from duet.base.budgets import BREATH_S
from duet.base.errors import DuetError, InfraError, InputError, KernelError
from duet.bundle.manifest import LENS
from duet.guests.lanes_file import LaneInfo, publish
from duet.guests.machine import killed_for_memory
from duet.guests.qemu import QMP_SOCKETS
from duet.guests.types import CTL_STREAM, Chunk, GuestFacts
from duet.lenses import Xray
from duet.lenses.scope.client import ScopeClient
from duet.session.events import GuestRequest, LaneSource
from duet.session.lane.state import Fail, Inputs, Reason
from duet.session.limits import Limits
from duet.session.trouble import agent_trouble
from duet.wire import (
    Frame,
    FrameReader,
    FrameType,
    GuestError,
    Hello,
    HostFrame,
    PageSplitter,
    RawFrame,
    decode_frame,
    encode,
)

# What a lane calls with the frames and pages of its guest.


class Listener(Protocol):
    """A run that listens to a lane."""

    def on_frame(self, frame: Frame, raw: RawFrame, host_ns: int) -> None:
        """A frame of the control port."""

    def on_pages(self, cpu: int, pages: bytes, came: int, host_ns: int) -> None:
        """Whole pages of one CPU; `came` bytes came with them."""

    def on_end(self) -> None:
        """The guest is gone; `Lane.error` says why, None if it was asked to go."""

    def on_lens(self, record: bytes) -> None:
        """A record of the x-ray, out of a recording."""

    async def wait_for_capacity(self) -> None:
        """Wait until more may come."""


MAX_CPU_PORTS = 64
PIECE_BYTES = 32 << 10
"""Of the control port, between two looks at the clock at least."""


class Lane:
    """A guest and the state of its ports.

    Args:
        source: makes the guest.
        request: what guest; a run that needs another needs another lane.
        listener: gets the first run, from the first byte on.
    """

    def __init__(
        self, source: LaneSource, request: GuestRequest, listener: Listener | None
    ) -> None:
        self.request = request
        self.content = source.content
        self._source = source
        self._guest = source.guest(request)
        self._reader = FrameReader()
        self._splitters: dict[int, PageSplitter] = {}
        self._listener = listener
        self.hello: tuple[Hello, RawFrame] | None = None
        self.error: DuetError | None = None
        self.up = asyncio.Event()
        """The guest's port is open."""
        self.ended = asyncio.Event()
        self.facts: GuestFacts | None = None
        self._owned = AsyncExitStack()
        self._breathed = time.monotonic()
        self._xray: Xray | None = None
        self._scope: ScopeClient | None = None

    @property
    def alive(self) -> bool:
        """A run can still be begun here."""
        return not self.ended.is_set()

    def received(self) -> dict[int, int]:
        """Bytes that came of each CPU port since it was opened."""
        return {cpu: splitter.received_bytes for cpu, splitter in self._splitters.items()}

    def attach(self, listener: Listener | None) -> None:
        """Let another run hear, or none."""
        self._listener = listener

    async def send(self, kind: FrameType, text: str = "") -> None:
        """Write a frame to the agent.

        Raises:
            InfraError: the port is gone or takes nothing.
        """
        await self._guest.send(encode(HostFrame(kind, text)))

    async def xray(self) -> Xray | None:
        """The guest's x-ray, started when it is first asked for; None where there can be none.

        It ends with the guest.
        """
        if self._xray is None and self.facts and self.facts.qmp_socket and self._source.vmlinux:
            socket = self.facts.qmp_socket.with_name(QMP_SOCKETS["xray"])
            self._xray = Xray(socket, self._source.vmlinux, self.facts.uid)
            await self._owned.enter_async_context(self._xray)
        return self._xray

    async def scope(self) -> ScopeClient | None:
        """The guest's microscope, reached when it is first asked for; None where there is none.

        It ends with the guest.
        """
        if self._scope is None and self.facts and self.facts.scope_socket:
            self._scope = ScopeClient(self.facts.scope_socket)
            await self._owned.enter_async_context(self._scope)
        return self._scope

    def _announce(self, facts: GuestFacts) -> None:
        """So that `duet drgn` finds it."""
        if facts.qmp_socket and self._source.vmlinux:
            shell = facts.qmp_socket.with_name(QMP_SOCKETS["shell"])
            lesson, arm = self._source.lesson, self.request.arm
            info = LaneInfo(lesson, arm, str(self._source.vmlinux), str(shell), facts.pid or 0)
            publish(facts.qmp_socket.parent, info)

    def console_tail(self) -> str:
        """The end of the guest's console."""
        return self._guest.console_tail()

    async def serve(self) -> None:
        """Boot and read until the guest ends or the task is cancelled."""
        try:
            async with self._guest as guest, self._owned:
                self.facts = guest.facts
                self._announce(guest.facts)
                self.up.set()
                async for chunk in guest.chunks():
                    await self._hear(chunk)
                    if self._listener:
                        await self._listener.wait_for_capacity()
                    await self._breathe()
        except DuetError as error:
            self.error = error
        except Exception as error:
            self.error = InfraError(
                f"lane {self.request.arm} met an unexpected error: {error}.",
                remedy="Please report it with the detail.",
                detail=traceback.format_exc(),
            )
        finally:
            self.ended.set()
            if self._listener:
                self._listener.on_end()

    async def _breathe(self) -> None:
        """Let others use the event loop, if this lane has used it for a while."""
        if time.monotonic() - self._breathed > BREATH_S:
            await asyncio.sleep(0)
            self._breathed = time.monotonic()

    async def _hear(self, chunk: Chunk) -> None:
        if chunk.stream == CTL_STREAM:
            # In pieces: eight megabytes may be 700,000 frames, or one.
            for at in range(0, len(chunk.payload), PIECE_BYTES):
                for raw in self._reader.feed(chunk.payload[at : at + PIECE_BYTES]):
                    self._hear_frame(raw, chunk.host_ns)
                    await self._breathe()
            return
        if chunk.stream == LENS:
            if self._listener:
                self._listener.on_lens(chunk.payload)
            return
        if not 0 <= chunk.stream < MAX_CPU_PORTS:
            raise KernelError(
                f"lane {self.request.arm} has no port {chunk.stream}, but bytes came from it.",
                remedy="Build the guest root again, so that agent and host are of one version.",
            )
        splitter = self._splitters.setdefault(chunk.stream, PageSplitter())
        pages = splitter.feed(chunk.payload)
        if self._listener:
            self._listener.on_pages(chunk.stream, pages, len(chunk.payload), chunk.host_ns)

    def _hear_frame(self, raw: RawFrame, host_ns: int) -> None:
        frame = decode_frame(raw)
        if isinstance(frame, Hello):
            self.hello = frame, raw
        if self._listener:
            self._listener.on_frame(frame, raw, host_ns)


# All lanes that are up: boots what a run needs, keeps guests between runs, closes them all.


class Lanes:
    """Owns guests. Use as `async with`: leaving ends every guest, whatever happened."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._lanes: dict[str, tuple[Lane, asyncio.Task[None]]] = {}
        self._group: asyncio.TaskGroup | None = None

    async def __aenter__(self) -> Lanes:
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        assert self._group is not None
        for _, task in self._lanes.values():
            task.cancel()
        group, self._group = self._group, None
        await group.__aexit__(None, None, None)
        self._lanes.clear()

    def find(self, source: LaneSource, request: GuestRequest) -> Lane | None:
        """A guest that is up and is what is asked for; none on a plan given at boot, and none
        where a fresh copy of a parked guest can be had.
        """
        held = self._lanes.get(source.arm)
        if held is None or not held[0].alive or request.boot_plan is not None:
            return None
        if source.parked(request):
            return None
        lane = held[0]
        same = lane.request == request and lane.content == source.content
        return lane if same else None

    async def open(self, source: LaneSource, request: GuestRequest, listener: Listener) -> Lane:
        """Begin to boot a new guest, after the former one of that arm is gone."""
        await self.close(source.arm)
        assert self._group is not None, "use Lanes as a context manager"
        lane = Lane(source, request, listener)
        task = self._group.create_task(lane.serve(), name=f"lane {source.arm}")
        self._lanes[source.arm] = lane, task
        return lane

    async def close(self, arm: str) -> None:
        """End one guest, if it is up."""
        held = self._lanes.pop(arm, None)
        if held:
            held[1].cancel()
            await asyncio.wait([held[1]], timeout=self.limits.close_s)

    async def close_all(self) -> None:
        async with asyncio.TaskGroup() as group:
            for arm in list(self._lanes):
                group.create_task(self.close(arm))

    @property
    def up(self) -> tuple[str, ...]:
        """Arms whose guest is alive."""
        return tuple(arm for arm, (lane, _) in self._lanes.items() if lane.alive)


# Sentences about a lane that has failed, and the guest's console with them.


class Faults:
    """Makes the errors of one lane.

    Args:
        recorded: it is a recording, so the file is to blame and not a guest.
        memory_mb: of the guest.
        counted: it runs on the count clock.
    """

    def __init__(self, arm: str, *, recorded: bool, memory_mb: int, counted: bool = False) -> None:
        self._arm, self._recorded, self._memory_mb = arm, recorded, memory_mb
        self._counted = counted
        self.guest: Lane | None = None

    @property
    def _console(self) -> str:
        return self.guest.console_tail() if self.guest else ""

    def of(self, failure: Fail, inputs: Inputs) -> DuetError:
        """The error behind a failure of the state machine."""
        if failure.reason is Reason.REPORTED and inputs.error:
            return inputs.error
        return self._late(failure.waited_for) if failure.waited_for else self._gone()

    def agent(self, frame: GuestError) -> DuetError:
        """What the agent reports."""
        return agent_trouble(frame, self._console)

    def too_much(self, what: str) -> DuetError:
        if self._recorded:
            return InputError(
                f"lane {self._arm} of the recording has {what}, which no run has.",
                remedy="Get the file anew, or record it again.",
            )
        return KernelError(
            f"the guest of lane {self._arm} sent {what}, so it was ended.",
            remedy="Ask for less of the workload, or let it write less.",
        )

    def out_of_memory(self) -> DuetError | None:
        """The cause behind a signal, odd numbers, or a guest that hangs; None: it is another."""
        console = "" if self._recorded else self._console
        victim = killed_for_memory(console)
        if victim is None:
            return None
        return KernelError(
            f"the guest of lane {self._arm} ran out of memory ({self._memory_mb} MB), and its "
            f"kernel killed `{victim}`.",
            remedy="Ask for less of the workload, or raise memory_mb in lesson.yaml.",
            detail=console,
        )

    def _gone(self) -> DuetError:
        if self.guest and self.guest.error:
            return self.guest.error
        if self._recorded:
            return InfraError(
                f"the recording of lane {self._arm} ends in the middle of its run.",
                remedy="Record it again.",
            )
        return InfraError(
            f"the guest of lane {self._arm} went away in the middle of its run.",
            remedy="Run it again; the console tail may tell why.",
            detail=self._console,
        )

    def endless(self, limit: str) -> DuetError:
        """A workload that was stopped at its limit."""
        ended = (
            f"the workload on {self._arm} did not end within its limit, {limit}, so it was stopped"
        )
        remedy = "Run it again with fewer threads or seconds, or on a machine with less to do."
        if self._counted:
            ended += (
                "; programs that wait for each other in a loop (busy waiting) are not counted well "
                "on the count clock"
            )
            remedy += " If it waits busily, measure it with --clock wall (docs/COUNT-CLOCK.md)."
        return KernelError(f"{ended}.", remedy=remedy, detail=self._console)

    def _late(self, what: str) -> DuetError:
        return KernelError(
            f"lane {self._arm} waited too long for {what}.",
            remedy="Run it again with fewer threads or seconds, or on a machine with less to do.",
            detail=self._console,
        )
