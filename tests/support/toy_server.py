# SPDX-License-Identifier: GPL-2.0-or-later
"""A real uvicorn on a free port, and a small page that speaks the contract over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import msgpack
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from duet.stream.http import server_config

SLUG = "02-grace-periods"
Message = dict[str, Any]
LATE_S = 200
"""Until a message must have come, on a busy host."""


@contextlib.contextmanager
def serving(
    app: Any, send_buffer: int | None = None, port: int = 0, at: str = "127.0.0.1"
) -> Iterator[str]:
    """Serve an application in a thread, at an address of this machine; yields host:port."""
    listener = socket.create_server((at, port))
    if send_buffer is not None:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    config = server_config(app, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    try:
        deadline = time.monotonic() + 120
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.started
        listener.listen(1024)  # as duet.cli.serve does
        host, port = listener.getsockname()
        yield f"{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
        assert not thread.is_alive()
    nothing_held_the_loop(app)


def nothing_held_the_loop(app: Any) -> None:
    """No callback worked longer on the event loop than the budget says (CPU time, not wall)."""
    holds = app.state.watchdog.holds
    assert holds.worked == 0, holds


class Page:
    """What a browser does, without drawing."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.seen: list[Message] = []

    async def say(self, **message: object) -> None:
        await self.socket.send(msgpack.packb(message))

    async def open(self, run: str | None = None) -> None:
        await self.say(type="open", lesson=SLUG, run=run)

    async def start(self, *arms: str, **params: int) -> None:
        await self.say(type="start", lesson=SLUG, arms=list(arms), params=params)

    async def next(self, timeout_s: float = LATE_S) -> Message:
        body = await asyncio.wait_for(self.socket.recv(), timeout_s)
        message: Message = msgpack.unpackb(body)
        self.seen.append(message)
        return message

    async def until(self, wanted: Callable[[Message], bool], timeout_s: float = LATE_S) -> Message:
        async with asyncio.timeout(timeout_s):
            while True:
                message = await self.next(timeout_s)
                if wanted(message):
                    return message

    async def until_type(self, kind: str, **fields: object) -> Message:
        return await self.until(
            lambda m: m["type"] == kind and all(m[k] == v for k, v in fields.items())
        )

    async def begun(self) -> str:
        """The id of the run that this page asked for, once it begins."""
        return str((await self.until_type("begun"))["run_id"])

    async def until_over(self) -> Message:
        over = ("done", "stopped", "failed")
        return await self.until(
            lambda m: m["type"] == "run" and m["source"] == "live" and m["phase"] in over
        )

    def of_run(self, run_id: str, kind: str) -> list[Message]:
        return [m for m in self.seen if m.get("run_id") == run_id and m["type"] == kind]


@contextlib.asynccontextmanager
async def page(address: str, **options: Any) -> AsyncIterator[Page]:
    """A connected page, after its greeting."""
    async with connect(
        f"ws://{address}/ws", compression=None, max_size=None, **options
    ) as connection:
        made = Page(connection)
        assert (await made.next())["type"] == "hello"
        try:
            yield made
        finally:
            await asyncio.gather(connection.close(), drain(connection))


async def drain(connection: ClientConnection) -> None:
    """Read what is left. Behind a full queue the library does not see the server's close frame,
    and leaving would take its `close_timeout` of ten seconds."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            await connection.recv()


def reported(
    messages: list[Message], run_id: str
) -> dict[tuple[str, str], list[tuple[int, int, int]]]:
    """(arm, table) -> (first seq, last seq, rows) of batches and gaps, as they came."""
    ranges: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for m in messages:
        if m.get("run_id") != run_id or m.get("table") in (None, "open"):
            continue
        if m["type"] == "batch":
            part = (m["seq"], m["seq"], m["n"])
        else:
            part = (m["from_seq"], m["to_seq"], m["rows"])
        ranges.setdefault((m["arm"], m["table"]), []).append(part)
    return ranges


def cookie(address: str, name: str) -> dict[str, str]:
    """Of one browser."""
    return {"Cookie": f"duet-{address.rpartition(':')[2]}={name:x<22}"}


@contextlib.asynccontextmanager
async def browser(address: str, name: str) -> AsyncIterator[Page]:
    """A page of a browser with that name."""
    async with page(address, additional_headers=cookie(address, name)) as one:
        yield one
