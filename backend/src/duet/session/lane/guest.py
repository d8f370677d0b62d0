# SPDX-License-Identifier: GPL-2.0-or-later
"""One arm's guest: boot it, read its ports, and pass frames and pages to the current run.

A guest can serve several runs after one boot. Its task never raises: an error is stored in
`error`, so that other lanes continue.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from contextlib import AsyncExitStack
from typing import Protocol

from duet.base.budgets import LANE_YIELD_S
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


class Listener(Protocol):
    """Receiver of a guest's frames and pages; implemented by the current run."""

    def on_frame(self, frame: Frame, raw: RawFrame, host_ns: int) -> None:
        """Handle a frame of the control port."""

    def on_pages(self, cpu: int, pages: bytes, came: int, host_ns: int) -> None:
        """Handle complete pages of one CPU, from a chunk of `came` bytes."""

    def on_end(self) -> None:
        """Handle the guest's end. `LaneGuest.error` is the reason; None if we ended it."""

    def on_lens(self, record: bytes) -> None:
        """Handle a record of a lens, from a recording."""

    async def wait_for_capacity(self) -> None:
        """Wait until the receiver can accept more (backpressure)."""


MAX_CPU_PORTS = 64
PIECE_BYTES = 32 << 10
"""Maximum number of bytes from the control port that are processed before the event loop may run
other tasks."""


class LaneGuest:
    """A guest and the state of its ports.

    Args:
        source: creates the guest.
        request: parameters of the guest. A run with other parameters needs another LaneGuest.
        listener: receives everything from the first byte on.
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
        """Set when the guest has booted and its ports are open."""
        self.ended = asyncio.Event()
        self.facts: GuestFacts | None = None
        self._owned = AsyncExitStack()
        self._breathed = time.monotonic()
        self._xray: Xray | None = None
        self._scope: ScopeClient | None = None

    @property
    def alive(self) -> bool:
        """Whether the guest is booting or running."""
        return not self.ended.is_set()

    def received(self) -> dict[int, int]:
        """Return the bytes received from each CPU port since it was opened."""
        return {cpu: splitter.received_bytes for cpu, splitter in self._splitters.items()}

    def attach(self, listener: Listener | None) -> None:
        """Replace the listener. If `listener` is None, arriving data are dropped."""
        self._listener = listener

    async def send(self, kind: FrameType, text: str = "") -> None:
        """Write a frame to the agent.

        Raises:
            InfraError: the port is closed, or accepts nothing for SEND_S.
        """
        await self._guest.send(encode(HostFrame(kind, text)))

    async def xray(self) -> Xray | None:
        """Return the guest's x-ray, started on the first call; None if the guest supports none.

        The x-ray ends with the guest.
        """
        if self._xray is None and self.facts and self.facts.qmp_socket and self._source.vmlinux:
            socket = self.facts.qmp_socket.with_name(QMP_SOCKETS["xray"])
            self._xray = Xray(socket, self._source.vmlinux, self.facts.uid)
            await self._owned.enter_async_context(self._xray)
        return self._xray

    async def scope(self) -> ScopeClient | None:
        """Return the client of the guest's microscope, connected on the first call.

        Return None if the guest has no microscope.

        The client ends with the guest.
        """
        if self._scope is None and self.facts and self.facts.scope_socket:
            self._scope = ScopeClient(self.facts.scope_socket)
            await self._owned.enter_async_context(self._scope)
        return self._scope

    def _announce(self, facts: GuestFacts) -> None:
        """Publish the lane's guest, so that `duet drgn` can find it."""
        if facts.qmp_socket and self._source.vmlinux:
            shell = facts.qmp_socket.with_name(QMP_SOCKETS["shell"])
            lesson, arm = self._source.lesson, self.request.arm
            info = LaneInfo(lesson, arm, str(self._source.vmlinux), str(shell), facts.pid or 0)
            publish(facts.qmp_socket.parent, info)

    def console_tail(self) -> str:
        """Return the tail of the guest's console."""
        return self._guest.console_tail()

    async def serve(self) -> None:
        """Boot the guest and read its ports until it ends or the task is cancelled."""
        try:
            async with self._guest as guest, self._owned:
                self.facts = guest.facts
                self._announce(guest.facts)
                self.up.set()
                async for chunk in guest.chunks():
                    await self._receive(chunk)
                    if self._listener:
                        await self._listener.wait_for_capacity()
                    await self._yield_to_loop()
        except DuetError as error:
            self.error = error
        except Exception as error:
            self.error = InfraError(
                f"lane {self.request.arm} failed unexpectedly: {error}.",
                remedy="Please report it with the detail.",
                detail=traceback.format_exc(),
            )
        finally:
            self.ended.set()
            if self._listener:
                self._listener.on_end()

    async def _yield_to_loop(self) -> None:
        """Let other tasks run if this lane has used the event loop for LANE_YIELD_S."""
        if time.monotonic() - self._breathed > LANE_YIELD_S:
            await asyncio.sleep(0)
            self._breathed = time.monotonic()

    async def _receive(self, chunk: Chunk) -> None:
        if chunk.stream == CTL_STREAM:
            # Process the chunk in pieces, because a chunk of 8 MB may contain 700,000 frames.
            for at in range(0, len(chunk.payload), PIECE_BYTES):
                for raw in self._reader.feed(chunk.payload[at : at + PIECE_BYTES]):
                    self._receive_frame(raw, chunk.host_ns)
                    await self._yield_to_loop()
            return
        if chunk.stream == LENS:
            if self._listener:
                self._listener.on_lens(chunk.payload)
            return
        if not 0 <= chunk.stream < MAX_CPU_PORTS:
            raise KernelError(
                f"lane {self.request.arm} has no port {chunk.stream}, but bytes arrived from it.",
                remedy="Build the guest root again, so that the agent and the host have the "
                "same version.",
            )
        splitter = self._splitters.setdefault(chunk.stream, PageSplitter())
        pages = splitter.feed(chunk.payload)
        if self._listener:
            self._listener.on_pages(chunk.stream, pages, len(chunk.payload), chunk.host_ns)

    def _receive_frame(self, raw: RawFrame, host_ns: int) -> None:
        frame = decode_frame(raw)
        if isinstance(frame, Hello):
            self.hello = frame, raw
        if self._listener:
            self._listener.on_frame(frame, raw, host_ns)


class LaneGuests:
    """Owns guests by arm, and keeps them between runs.

    Use as `async with`; leaving the block ends all guests.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._lanes: dict[str, tuple[LaneGuest, asyncio.Task[None]]] = {}
        self._group: asyncio.TaskGroup | None = None

    async def __aenter__(self) -> LaneGuests:
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

    def find(self, source: LaneSource, request: GuestRequest) -> LaneGuest | None:
        """Return the arm's lane if its guest still runs and has this request and this content;
        otherwise None.

        Also return None if the guest reads its plan at boot, or if a template exists: a fresh copy
        of the template is better than a reused guest.
        """
        held = self._lanes.get(source.arm)
        if held is None or not held[0].alive or request.boot_plan is not None:
            return None
        if source.parked(request):
            return None
        lane = held[0]
        same = lane.request == request and lane.content == source.content
        return lane if same else None

    async def open(
        self, source: LaneSource, request: GuestRequest, listener: Listener
    ) -> LaneGuest:
        """Close the arm's previous guest, then start to boot a new guest and return it."""
        await self.close(source.arm)
        assert self._group is not None, "use LaneGuests as a context manager"
        lane = LaneGuest(source, request, listener)
        task = self._group.create_task(lane.serve(), name=f"lane {source.arm}")
        self._lanes[source.arm] = lane, task
        return lane

    async def close(self, arm: str) -> None:
        """End an arm's guest, if there is one."""
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


class Faults:
    """Creates the errors of one lane, with the guest's console as detail.

    Args:
        recorded: the lane is replayed, so errors blame the recording and not a guest.
        memory_mb: memory of the guest.
        counted: the lane runs on the count clock.
    """

    def __init__(self, arm: str, *, recorded: bool, memory_mb: int, counted: bool = False) -> None:
        self._arm, self._recorded, self._memory_mb = arm, recorded, memory_mb
        self._counted = counted
        self.guest: LaneGuest | None = None

    @property
    def _console(self) -> str:
        return self.guest.console_tail() if self.guest else ""

    def error_of(self, failure: Fail, inputs: Inputs) -> DuetError:
        """Return the error for a failure of the state machine."""
        if failure.reason is Reason.REPORTED and inputs.error:
            return inputs.error
        return self._late(failure.waited_for) if failure.waited_for else self._gone()

    def agent(self, frame: GuestError) -> DuetError:
        """Return the error that the agent reports."""
        return agent_trouble(frame, self._console)

    def too_much(self, what: str) -> DuetError:
        if self._recorded:
            return InputError(
                f"lane {self._arm} of the recording has {what}, which exceeds the limit of a run.",
                remedy="Download the file again, or record it again.",
            )
        return KernelError(
            f"the guest of lane {self._arm} sent {what}, so it was ended.",
            remedy="Run the workload with smaller parameters, or let it write less.",
        )

    def out_of_memory(self) -> DuetError | None:
        """Return the error for a guest that lacked memory; None if its console shows no OOM kill.

        Lack of memory may have caused a signal, implausible figures or a hang.
        """
        console = "" if self._recorded else self._console
        victim = killed_for_memory(console)
        if victim is None:
            return None
        return KernelError(
            f"the guest of lane {self._arm} ran out of memory ({self._memory_mb} MB), and its "
            f"kernel killed `{victim}`.",
            remedy="Run the workload with smaller parameters, or raise memory_mb in lesson.yaml.",
            detail=console,
        )

    def _gone(self) -> DuetError:
        if self.guest and self.guest.error:
            return self.guest.error
        if self._recorded:
            return InfraError(
                f"the recording of lane {self._arm} ends before the end of its run.",
                remedy="Record it again.",
            )
        return InfraError(
            f"the guest of lane {self._arm} ended during its run.",
            remedy="Run it again; the console tail may tell why.",
            detail=self._console,
        )

    def endless(self, limit: str) -> DuetError:
        """Return the error for a workload that was stopped at its limit.

        Args:
            limit: the limit in words.
        """
        ended = (
            f"the workload on {self._arm} did not end within its limit, {limit}, so it was stopped"
        )
        remedy = "Run it again with fewer threads or seconds, or on a less busy machine."
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
            remedy="Run it again with fewer threads or seconds, or on a less busy machine.",
            detail=self._console,
        )
