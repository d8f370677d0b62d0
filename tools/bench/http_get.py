# SPDX-License-Identifier: GPL-2.0-or-later
"""GET requests over a persistent connection, with as little client work as possible."""

from __future__ import annotations

import asyncio
from types import TracebackType

READ_BYTES = 1 << 20


class Getting:
    """One connection. Use with `async with`."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port

    async def __aenter__(self) -> Getting:
        opening = asyncio.open_connection(self._host, self._port, limit=READ_BYTES)
        self._reader, self._writer = await opening
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()

    async def get(self, path: str) -> bytes:
        """Send a GET request and return the response body.

        Raises:
            ConnectionError: the response status is not 200.
        """
        head = f"GET {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n\r\n"
        self._writer.write(head.encode())
        answer = await self._reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise ConnectionError(answer.partition(b"\r\n")[0].decode())
        lines = answer.lower().split(b"\r\n")
        (length,) = (line[16:] for line in lines if line.startswith(b"content-length: "))
        return await self._reader.readexactly(int(length))
