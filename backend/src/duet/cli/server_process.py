# SPDX-License-Identifier: GPL-2.0-or-later
"""The process of `duet serve`: its limit of open files, its socket, and uvicorn with our own signal
handling.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

import uvicorn

from duet.base.errors import InfraError, InputError
from duet.cli.build_progress import BuildProgress
from duet.processes.cpus import be_prompt, loop_first
from duet.processes.service import ServiceManager, ending
from duet.stream.http import OutOfFiles

if TYPE_CHECKING:
    from duet.cli.serve import Greeting


KERNEL_QUEUE = 1024
"""Listen backlog: connections that wait in the kernel while the server is busy."""
OPEN_FILES = 8192
"""Wanted limit of open files. The usual limit of 1,024 allows only 768 connections."""


def allow_files() -> None:
    """Raise the soft limit of open files to OPEN_FILES, or to the hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def bind(host: str, port: int) -> socket.socket:
    """Return a bound socket.

    Raises:
        InfraError: the port is in use, or this user may not use it.
        InputError: there is no such address.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise InputError(
            f"the server cannot listen on '{host:.80}' ({error.strerror}).",
            remedy="Use --host 127.0.0.1, or 0.0.0.0 for the whole network.",
        ) from None
    family, _, _, _, address = found[0]
    try:
        return socket.create_server(address[:2], family=family, backlog=128)
    except PermissionError:
        raise InfraError(
            f"port {port} may not be used by this user.",
            remedy="Choose a port above 1023 with --port, e.g. --port 8643.",
        ) from None
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise InfraError(
                f"the server could not listen on {host} port {port} ({error.strerror}).",
                remedy="Choose another address with --host, or another port with --port.",
            ) from None
        raise InfraError(
            f"port {port} is taken by another program.",
            remedy=f"Choose another port with --port, e.g. --port {port + 1}.",
        ) from None


class DuetServer(uvicorn.Server):
    """uvicorn with our own signal handling and greeting."""

    def __init__(
        self,
        config: uvicorn.Config,
        listener: socket.socket,
        greeting: Greeting,
        progress: BuildProgress,
    ) -> None:
        super().__init__(config)
        self._listener = listener
        self._address = listener.getsockname()[:2]
        self._greeting = greeting
        self._progress = progress
        self._manager = ServiceManager()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then print the address."""
        asyncio.get_running_loop().set_exception_handler(OutOfFiles())
        loop_first()
        await super().startup(sockets)
        self._listener.listen(KERNEL_QUEUE)
        be_prompt()
        self._greeting.say(*self._address)
        self._progress.show()
        self._manager.listening()

    async def main_loop(self) -> None:
        async with self._manager.going_on():
            await super().main_loop()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let SIGINT, SIGTERM and SIGHUP end the server.

        The process is ended by force after a second signal, or if the server needs more than END_S.
        """
        with ending(self._end):
            yield

    def _end(self) -> None:
        self.should_exit = True
        self._manager.ending()
