# SPDX-License-Identifier: GPL-2.0-or-later
"""Who keeps up gets what is published at once, framed once for all; nobody gets it out of order."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgpack
import uvicorn
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection, connect

from duet import messages as m
from duet.messages.codec import pack
from duet.stream.http import Admission, server_config
from duet.stream.hub import Hub, RunLog, Viewer
from duet.stream.packets import Framed
from duet.stream.viewer import Endpoint
from tests.backend.stream.test_together import lane, rows

Run = Callable[..., Any]
WAIT_S = 60.0
ROUNDS = 300


class Silent:
    """Greets with nothing and takes no command."""

    def greet(self, viewer: Viewer) -> None:
        viewer.put(pack(m.Begun(run_id="hello")))

    async def command(self, viewer: Viewer, command: m.Command) -> None:
        raise AssertionError


class Wire:
    """Stands for a socket: takes frames while it has room."""

    def __init__(self) -> None:
        self.room = True
        self.got: list[Framed] = []

    def take(self, framed: Framed) -> bool:
        if self.room:
            self.got.append(framed)
        return self.room


def test_what_cannot_go_straight_is_queued_and_so_is_all_behind_it(run_async: Run) -> None:
    async def publish() -> None:
        hub, log, wires = Hub(), RunLog("r", "lesson"), [Wire(), Wire()]
        viewers = [hub.join(), hub.join()]
        for viewer, wire in zip(viewers, wires, strict=True):
            viewer.watch(log)
            viewer.straight = wire.take
        hub.publish(log, lane("running"))
        hub.publish(log, rows("spans", 0))
        hub.publish(log, rows("links", 0))
        await asyncio.sleep(0)
        assert [framed.messages for framed in wires[0].got] == [1, 2]
        assert wires[0].got[1] is wires[1].got[1], "made once"
        wires[1].room = False
        hub.publish(log, rows("spans", 1))
        await asyncio.sleep(0)
        wires[1].room = True
        hub.publish(log, lane("done"))
        assert len(wires[0].got) == 4 and len(wires[1].got) == 2
        assert viewers[0].outbox.pop() is None
        waiting = viewers[1].outbox
        kinds = [packet.type for packet in iter(waiting.pop, None)]
        assert kinds == ["batch", "lane"], "in order, though there was room again for the second"

    run_async(publish())


def line(number: int) -> m.ErrorMessage:
    """What no outbox drops."""
    return m.ErrorMessage(code="number", sentence=str(number), remedy="")


@contextlib.asynccontextmanager
async def served(hub: Hub) -> AsyncIterator[str]:
    """Sockets of a hub on a real server in this loop; gives its address."""
    app = FastAPI()
    app.state.admission = Admission()
    app.websocket("/ws")(Endpoint(hub, Silent()).serve)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(server_config(app, timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        listener.close()


async def numbers(connection: ClientConnection) -> list[int]:
    """All numbers, until the last has come."""
    found: list[int] = []
    while not found or found[-1] < ROUNDS - 1:
        tree = msgpack.unpackb(await connection.recv())
        if tree["type"] == "error":
            found.append(int(tree["sentence"]))
    return found


def test_over_a_socket_straight_and_queued_messages_keep_their_order(run_async: Run) -> None:
    async def talk() -> tuple[list[list[int]], int]:
        hub, straight = Hub(), 0
        async with (
            asyncio.timeout(WAIT_S),
            served(hub) as address,
            contextlib.AsyncExitStack() as s,
        ):
            url = f"ws://{address}/ws"
            pages = [await s.enter_async_context(connect(url, compression=None)) for _ in range(2)]
            readers = [asyncio.create_task(numbers(one)) for one in pages]
            while (  # noqa: ASYNC110
                None in [v.straight for v in hub.viewers] or len(hub.viewers) < len(pages)
            ):
                await asyncio.sleep(0.01)
            for number in range(ROUNDS):
                straight += sum(viewer.straight is not None for viewer in hub.viewers)
                if number % 7:
                    hub.everyone(line(number))
                else:  # queued by itself; what follows must wait behind it
                    for viewer in hub.viewers:
                        viewer.put(pack(line(number)))
                await asyncio.sleep(0.001 if number % 3 else 0)
            return list(await asyncio.gather(*readers)), straight

    found, straight = run_async(talk())
    assert straight > ROUNDS, "more than half of two pages' messages went straight"
    assert found == [list(range(ROUNDS))] * 2
