# SPDX-License-Identifier: GPL-2.0-or-later
"""Host ends of a guest's virtio-serial ports.

The host listens on the sockets and QEMU connects, so a guest cannot start after its owner has
ended. All ports feed one queue. When QUEUE_BYTES of trace are queued, the host stops reading trace
ports. QEMU then throttles the port, the agent waits, and the guest's ring buffer overruns. The
guest's kernel counts the lost events. The control port has a separate limit, so trace bytes never
block it.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType

from duet.base.errors import InfraError
from duet.guests.limits import CTL_QUEUE_BYTES, QUEUE_BYTES, SEND_S, SOCKET_PATH_BYTES
from duet.guests.types import CTL_STREAM, Chunk


def port_name(stream: int) -> str:
    """Return the port's name in the guest, by which the agent finds the port."""
    return "duet.ctl" if stream == CTL_STREAM else f"duet.cpu{stream}"


class _Port(asyncio.Protocol):
    """Connection from QEMU for one port. It adds received bytes to the queue of all ports."""

    def __init__(self, owner: Ports, stream: int) -> None:
        self.owner = owner
        self.stream = stream
        self.transport: asyncio.Transport | None = None
        self.writable = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.writable.set()
        self.owner.connected(self)

    def data_received(self, data: bytes) -> None:
        self.owner.push(self, data)

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self.writable.set()
        self.owner.lost(self)


class Ports:
    """All ports of one guest. Use with `async with`, which closes them at the end.

    Args:
        folder: private directory for the sockets.
        cpus: number of trace ports.
    """

    def __init__(self, folder: Path, cpus: int) -> None:
        self.paths = {
            stream: folder / f"{port_name(stream)}.sock" for stream in (CTL_STREAM, *range(cpus))
        }
        self.spoke = asyncio.Event()
        """Set when the agent has sent its first byte."""
        self.closed = asyncio.Event()
        """Set when all connections have closed; cleared by each new connection."""
        self.joined = asyncio.Event()
        """Set when QEMU has connected the control port."""
        self._ports: dict[int, _Port] = {}
        self._paused: set[_Port] = set()
        self._queue: deque[Chunk] = deque()
        self._trace_bytes = 0
        self._ctl_bytes = 0
        self._arrived = asyncio.Event()
        self._finished = False
        self._servers = AsyncExitStack()

    async def __aenter__(self) -> Ports:
        loop = asyncio.get_running_loop()
        for stream, path in self.paths.items():
            if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
                raise InfraError(
                    f"the socket path {path} is longer than {SOCKET_PATH_BYTES} bytes.",
                    remedy="Set XDG_RUNTIME_DIR to a directory with a short path.",
                )
            server = await loop.create_unix_server(
                lambda stream=stream: _Port(self, stream),  # type: ignore[misc]
                path=str(path),
            )
            await self._servers.enter_async_context(server)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()
        for port in list(self._ports.values()):
            if port.transport:
                port.transport.abort()
        await self._servers.aclose()

    def connected(self, port: _Port) -> None:
        """Add a connection; abort a second connection to the same port."""
        if port.stream in self._ports:
            assert port.transport is not None
            port.transport.abort()
            return
        self._ports[port.stream] = port
        self.closed.clear()
        if port.stream == CTL_STREAM:
            self.joined.set()

    def lost(self, port: _Port) -> None:
        if self._ports.get(port.stream) is port:
            del self._ports[port.stream]
            self._paused.discard(port)
        if not self._ports:
            self.closed.set()

    def push(self, port: _Port, payload: bytes) -> None:
        """Queue received bytes, and stop reading the port when the queue's limit is reached."""
        now = int(asyncio.get_running_loop().time() * 1e9)
        self._queue.append(Chunk(port.stream, payload, now))
        if port.stream == CTL_STREAM:
            self._ctl_bytes += len(payload)
            full = self._ctl_bytes >= CTL_QUEUE_BYTES
            self.spoke.set()
        else:
            self._trace_bytes += len(payload)
            full = self._trace_bytes >= QUEUE_BYTES
        if full and port.transport and port not in self._paused:
            port.transport.pause_reading()
            self._paused.add(port)
        self._arrived.set()

    def queue_control(self, payload: bytes) -> None:
        """Queue bytes that the template sent on its control port before it was copied."""
        now = int(asyncio.get_running_loop().time() * 1e9)
        self._queue.append(Chunk(CTL_STREAM, payload, now))
        self._ctl_bytes += len(payload)
        self._arrived.set()

    def finish(self) -> None:
        """Make chunks() end once the queue is empty."""
        self._finished = True
        self._arrived.set()

    async def chunks(self) -> AsyncGenerator[Chunk, None]:
        """Yield chunks in the order of their arrival, until finish() is called."""
        while True:
            while self._queue:
                chunk = self._queue.popleft()
                self._release(chunk)
                yield chunk
            if self._finished:
                return
            self._arrived.clear()
            await self._arrived.wait()

    def _release(self, chunk: Chunk) -> None:
        if chunk.stream == CTL_STREAM:
            self._ctl_bytes -= len(chunk.payload)
        else:
            self._trace_bytes -= len(chunk.payload)
        if not self._paused:
            return
        for port in list(self._paused):
            ctl = port.stream == CTL_STREAM
            used, limit = (
                (self._ctl_bytes, CTL_QUEUE_BYTES) if ctl else (self._trace_bytes, QUEUE_BYTES)
            )
            if used <= limit // 2 and port.transport:
                port.transport.resume_reading()
                self._paused.discard(port)

    async def send(self, frame: bytes) -> None:
        """Write one frame to the control port.

        Raises:
            InfraError: the port is closed, or accepts no bytes for SEND_S.
        """
        port = self._ports.get(CTL_STREAM)
        if port is None or port.transport is None:
            raise InfraError(
                "the guest's control port is closed, so no command can reach it.",
                remedy="Start the run again, which reboots the guest.",
            )
        port.transport.write(frame)
        try:
            async with asyncio.timeout(SEND_S):
                await port.writable.wait()
        except TimeoutError:
            raise InfraError(
                f"the guest has accepted no command for {SEND_S:g} s.",
                remedy="Stop the run and start it again.",
            ) from None
