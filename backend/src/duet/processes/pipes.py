# SPDX-License-Identifier: GPL-2.0-or-later
"""What a process writes and is sent, and the news that it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol


class Outlet(Protocol):
    """Takes what a process writes."""

    def feed(self, text: bytes) -> None:
        """More bytes."""


class Pipes(asyncio.SubprocessProtocol):
    """The three pipes of one process.

    Args:
        outputs: file descriptor -> who takes what the process writes there.
        on_exit: called once when the process has ended.
    """

    def __init__(self, outputs: Mapping[int, Outlet], on_exit: Callable[[], None]) -> None:
        self._outputs = outputs
        self._on_exit = on_exit
        self._ended = asyncio.Event()
        self._closed = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.SubprocessTransport | None = None

    @property
    def returncode(self) -> int | None:
        """Exit code, minus a signal, or None while it runs."""
        return self._transport.get_returncode() if self._transport else None

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._outputs[fd].feed(data)

    def pause_writing(self) -> None:
        """Standard input is full."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It has room again."""
        self._writable.set()

    def process_exited(self) -> None:
        self._ended.set()
        self._writable.set()
        self._on_exit()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set()

    def write(self, text: bytes) -> None:
        """A command, if the process still takes any; few and short, so nothing waits."""
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
            pipe.write(text)

    async def send(self, text: bytes) -> None:
        """Bytes for standard input; waits until there is room for more, or the process has ended.

        The caller has the named timeout.
        """
        self.write(text)
        await self._writable.wait()

    def end_input(self) -> None:
        """No more comes on standard input."""
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        if pipe is not None:
            pipe.close()

    async def wait(self) -> None:
        """Until the process has ended."""
        await self._ended.wait()

    async def wait_for_output(self) -> None:
        """Until the process has ended and the last byte that it wrote was fed.

        The caller has the named timeout.
        """
        await self._closed.wait()
