# SPDX-License-Identifier: GPL-2.0-or-later
"""Client for a guest's QEMU monitor (QEMU's docs/interop/qmp-spec.rst).

The client runs one command at a time. It supports only a few commands, so it uses no library.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from duet.base.errors import InfraError
from duet.guests.limits import QMP_S

REMEDY = "Start the run again: its guest reboots."


class Monitor:
    """One connection to a monitor. Use with `async with`. QEMU serves one client per socket.

    Args:
        socket: GuestFacts.qmp_socket.
    """

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def __aenter__(self) -> Monitor:
        try:
            async with asyncio.timeout(QMP_S):
                opened = await asyncio.open_unix_connection(self._socket)
        except (OSError, TimeoutError) as error:
            raise InfraError(
                f"the guest's monitor cannot be reached: {error or 'no answer'}.", remedy=REMEDY
            ) from error
        self._reader, self._writer = opened
        try:
            await self._until("QMP", "greet")
            await self.do("qmp_capabilities")
        except BaseException:
            self._writer.close()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._writer.close()

    async def do(self, command: str, **arguments: object) -> Any:
        """Execute a command and return its result.

        Returns:
            The value of "return" in the monitor's answer.

        Raises:
            InfraError: QEMU refuses the command, has ended, or does not answer within QMP_S.
        """
        asked = {"execute": command} | ({"arguments": arguments} if arguments else {})
        self._writer.write(json.dumps(asked).encode() + b"\n")
        return await self._until("return", f"carry out `{command}`")

    async def _until(self, key: str, what: str) -> Any:
        """Return the first reply that has `key`; skip events before it.

        Args:
            what: the operation, for the text of an error.
        """
        reply: dict[str, Any] = {}
        try:
            async with asyncio.timeout(QMP_S):
                while key not in reply and "error" not in reply:
                    reply = json.loads(await self._reader.readline() or b'{"error": "hung up"}')
        except (OSError, ValueError, TimeoutError) as error:
            raise InfraError(
                f"the guest's monitor did not {what} in {QMP_S:g} s.", remedy=REMEDY
            ) from error
        if "error" in reply:
            raise InfraError(
                f"the guest's monitor did not {what}: {reply['error']}.", remedy=REMEDY
            )
        return reply[key]
