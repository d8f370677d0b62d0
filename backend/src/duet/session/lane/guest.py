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

from duet.budgets import BREATH_S
from duet.bundle.record import LENS
from duet.errors import DuetError, InfraError, KernelError
from duet.guests.lanes_file import LaneInfo, publish
from duet.guests.qemu import QMP_SOCKETS
from duet.guests.types import CTL_STREAM, Chunk, GuestFacts
from duet.lenses import Xray
from duet.lenses.scope.client import ScopeClient
from duet.session.events import GuestRequest, LaneSource
from duet.session.lane.listener import Listener
from duet.wire import (
    FrameReader,
    FrameType,
    Hello,
    HostFrame,
    PageSplitter,
    RawFrame,
    decode_frame,
    encode,
)

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
