# SPDX-License-Identifier: GPL-2.0-or-later
"""Client of a guest's microscope: sends commands, awaits answers, and passes on other messages.

Only a failed command raises an exception. If the stream ends or breaks, that is reported to the
listener as a fault.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from duet.base.errors import DuetError, InfraError
from duet.base.native import compiled
from duet.base.settings import repo_root
from duet.lenses.limits import SCOPE_ANSWER_S, SCOPE_CONNECT_S, SCOPE_SNAPSHOT_S
from duet.lenses.scope.wire import (
    RESET,
    SNAPSHOT,
    Cells,
    Log,
    Message,
    Reply,
    ScopeReader,
    watch_line,
)

CHUNK_BYTES = 1 << 20
REMEDY = "Start the run again; its guest is then booted again."


class MicroscopeListener(Protocol):
    """A run that listens to a microscope."""

    def on_cells(self, cells: Cells) -> None: ...

    def on_log(self, log: Log) -> None: ...

    def on_scope_fault(self, sentence: str, remedy: str) -> None:
        """Handle the microscope's fault, after which no more messages follow."""


class ScopeClient:
    """One connection. Use it with `async with`, which closes it at the end.

    Args:
        socket: the plugin's socket, which exists before the guest's first instruction.
    """

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._reader = ScopeReader()
        self._task: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._orders = asyncio.Lock()
        self._answer: asyncio.Future[Message] | None = None
        self._listener: MicroscopeListener | None = None
        self.fault: tuple[str, str] | None = None
        """Sentence and remedy, once the connection has failed."""

    async def __aenter__(self) -> ScopeClient:
        try:
            async with asyncio.timeout(SCOPE_CONNECT_S):
                stream, self._writer = await asyncio.open_unix_connection(self._socket)
        except (OSError, TimeoutError) as error:
            self.fault = f"The microscope cannot be reached: {error or 'no answer'}.", REMEDY
            return self
        self._task = asyncio.create_task(self._read(stream), name="microscope")
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._writer:
            self._writer.close()

    def set_listener(self, listener: MicroscopeListener | None) -> None:
        """Set the listener for future messages; None means no listener."""
        self._listener = listener
        if listener and self.fault:
            listener.on_scope_fault(*self.fault)

    async def watch(self, address: int, size: int, log: int) -> None:
        """Watch an object. The counts and the log start from zero.

        Raises:
            InfraError: the microscope does not answer or refuses.
        """
        await self._order(watch_line(address, size, log))

    async def reset(self) -> None:
        """Set the counts to zero.

        Raises:
            InfraError: the microscope does not answer.
        """
        await self._order(RESET)

    async def snapshot(self) -> Cells:
        """Return all current counts.

        Before this returns, the listener has received all accesses that were logged earlier.

        Raises:
            InfraError: the microscope does not answer.
        """
        found = await self._request(
            SNAPSHOT,
            lambda message: isinstance(message, Cells) and message.answer,
            SCOPE_SNAPSHOT_S,
        )
        assert isinstance(found, Cells)
        return found

    async def _order(self, order: bytes) -> None:
        reply = await self._request(
            order, lambda message: isinstance(message, Reply), SCOPE_ANSWER_S
        )
        assert isinstance(reply, Reply)
        if not reply.ok:
            raise InfraError(f"the microscope refuses: {reply.text}", remedy=REMEDY)

    async def _request(
        self, order: bytes, fits: Callable[[Message], bool], limit_s: float
    ) -> Message:
        async with self._orders:
            if self.fault or self._writer is None:
                raise InfraError(self.fault[0] if self.fault else "No microscope.", remedy=REMEDY)
            self._answer = asyncio.get_running_loop().create_future()
            self._fits = fits
            try:
                async with asyncio.timeout(limit_s):
                    self._writer.write(order)
                    await self._writer.drain()
                    return await self._answer
            except (OSError, TimeoutError) as error:
                raise InfraError(
                    f"the microscope did not answer `{order.decode().strip()}` in {limit_s:g} s.",
                    remedy=REMEDY,
                ) from error
            finally:
                self._answer = None

    async def _read(self, stream: asyncio.StreamReader) -> None:
        try:
            while chunk := await stream.read(CHUNK_BYTES):
                for message in self._reader.feed(chunk):
                    self._dispatch(message)
            self._fail("The microscope's stream has ended.", REMEDY)
        except DuetError as error:
            self._fail(error.sentence, error.remedy)
        except OSError as error:
            self._fail(f"The microscope's stream has broken: {error}.", REMEDY)

    def _dispatch(self, message: Message) -> None:
        if self._listener and isinstance(message, Cells):
            self._listener.on_cells(message)
        elif self._listener and isinstance(message, Log):
            self._listener.on_log(message)
        if self._answer and not self._answer.done() and self._fits(message):
            self._answer.set_result(message)

    def _fail(self, sentence: str, remedy: str) -> None:
        self.fault = sentence, remedy
        if self._answer and not self._answer.done():
            self._answer.set_exception(InfraError(sentence, remedy=remedy))
        if self._listener:
            self._listener.on_scope_fault(sentence, remedy)


# Compiles the microscope (vm-images/microscope) for the installed QEMU. This takes about two
# seconds, once.

FLAGS = ("-flto", "-fvisibility=hidden", "-pthread", "-Wmissing-prototypes", "-Wstrict-prototypes")


def plugin_library(qemu_version: str) -> Path:
    """Return the plugin's shared library. Compile it if needed.

    Args:
        qemu_version: version as duet.guests.qemu.qemu_version() returns it, e.g. "7.2.22".

    Raises:
        InfraError: QEMU is too old, its version is unknown, or the compiler is missing or fails.
    """
    folder = repo_root() / "vm-images" / "microscope"
    source = folder / "plugin.c"
    rest = [file for file in sorted(folder.glob("*.[ch]")) if file != source]
    flags = (*FLAGS, f"-DSCOPE_API={plugin_api(qemu_version)}")
    return compiled(source, rest=rest, flags=flags)


def plugin_api(qemu_version: str) -> int:
    """Return the version of the plugin interface to compile for; see vm-images/microscope/api.h.

    Raises:
        InfraError: this QEMU has no plugin interface, or its version is unknown.
    """
    found = re.match(r"(\d+)\.(\d+)", qemu_version)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < (6, 0):
        raise InfraError(
            f"the microscope needs QEMU 6.0 or newer, not version '{qemu_version:.20}'.",
            remedy="Install a newer QEMU: apt-get install qemu-system-x86",
        )
    if version < (9, 0):
        return 1
    return 2 if version < (9, 1) else 3
