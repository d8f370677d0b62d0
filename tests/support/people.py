# SPDX-License-Identifier: GPL-2.0-or-later
"""Browsers in a class that reconnect automatically, as the page does."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import msgpack
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.support.toy_server import SLUG, Message

AGAIN_S = 0.25
"""Delay before a page reconnects, as in a browser."""
ANSWERED_S = 5.0
STAMP = "?t="


async def until(met: Callable[[], bool], within_s: float) -> None:
    """Wait until a condition is met."""
    async with asyncio.timeout(within_s):
        while True:
            if met():
                return
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def living(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run these people as tasks while the block runs."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        yield
        for task in tasks:
            if task.done():
                task.result()
    finally:
        pending = set(tasks)
        while pending:  # a socket that breaks just then may swallow the cancellation
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=1)


def dial(url: str, cookie: str) -> connect:
    """Open the WebSocket of a browser."""
    headers = {"Cookie": cookie}
    return connect(
        url, compression=None, max_size=None, close_timeout=1, additional_headers=headers
    )


class Person:
    """A browser.

    Args:
        enters: the command with which it joins its class.

    Attributes:
        back: monotonic time of the last (re)join.
        welcomes: number of joins.
        ids: ids of the member; one, unless the server took it for two members.
        facts: the newest `class` message.
    """

    def __init__(self, url: str, cookie: str, **enters: str) -> None:
        self._url, self.cookie = url, cookie
        self._enters: Message = dict(enters)
        self.socket: ClientConnection | None = None
        self.back = 0.0
        self.welcomes = 0
        self.ids: set[str] = set()
        self.facts: Message = {}
        self.complaints: list[Message] = []
        self.here = asyncio.Event()

    async def live(self) -> None:
        """Stay connected, forever."""
        while True:
            with contextlib.suppress(ConnectionClosed, OSError, InvalidStatus, TimeoutError):
                async with dial(self._url, self.cookie) as socket:
                    await socket.send(msgpack.packb(self._enters))
                    self.socket = socket
                    await self._read(socket)
            self.here.clear()
            self.socket = None
            await asyncio.sleep(AGAIN_S)

    async def move(self) -> None:
        """Reconnect, to whichever server nginx chooses."""
        if self.socket is not None:
            self.here.clear()
            await self.socket.close()
        await self.here.wait()

    async def say(self, **message: object) -> bool:
        """Send a command in the class; return whether it was sent."""
        await self.here.wait()
        if self.socket is None:
            return False
        try:
            await self.socket.send(msgpack.packb(message))
        except ConnectionClosed:
            return False
        return True

    def take(self, message: Message) -> None:
        """Handle a message."""

    async def _read(self, socket: ClientConnection) -> None:
        while True:
            message: Message = msgpack.unpackb(await socket.recv())
            match message["type"]:
                case "class_welcome":
                    self._welcomed(message)
                case "class":
                    self.facts = message
                case "error":
                    self.complaints.append(message)
            self.take(message)

    def _welcomed(self, message: Message) -> None:
        self.welcomes += 1
        self.back = time.monotonic()
        self.ids.add(message["member"])
        if message["part"] == "instructor":
            self._enters = {"type": "class_resume", "class_id": message["class_id"]}
        else:
            self._enters = self._enters | {"secret": message["secret"]}
        self.here.set()


class Teacher(Person):
    """An instructor that starts a class, and drives it."""

    def __init__(self, url: str, cookie: str) -> None:
        super().__init__(url, cookie, type="class_start", lesson=SLUG)

    async def drive(self, every_s: float) -> None:
        """Send a new position at an interval, forever; each contains its time of sending."""
        while True:
            place = f"{STAMP}{time.time_ns()}"
            await self.say(type="class_drive", lesson=SLUG, step="s", place=place)
            await asyncio.sleep(every_s)


class Member(Person):
    """A member that follows the driver, and keeps answering with increasing values.

    Attributes:
        confirmed: question -> the highest confirmed value.
        late_ms: age of each position at its arrival.
        newest: monotonic time at which the last position arrived.
    """

    def __init__(self, url: str, cookie: str, code: str, name: str) -> None:
        super().__init__(url, cookie, type="class_join", code=code, nickname=name)
        self.name = name
        self.confirmed: dict[str, float] = {}
        self.answers = 0
        self.late_ms: list[float] = []
        self.newest = 0.0
        self._answered = asyncio.Event()

    def take(self, message: Message) -> None:
        """See Person."""
        if message["type"] == "class_answered":
            question, value = message["question"], message["value"]
            self.confirmed[question] = max(value, self.confirmed.get(question, 0.0))
            self.answers += 1
            self._answered.set()
        elif message["type"] == "class_place" and message["place"].startswith(STAMP):
            sent_ns = int(message["place"].removeprefix(STAMP))
            self.late_ms.append((time.time_ns() - sent_ns) / 1e6)
            self.newest = time.monotonic()

    async def answer(self, every_s: float) -> None:
        """Answer repeatedly, and wait some seconds for each confirmation."""
        value = 0.0
        while True:
            for question in ("q0", "q1"):
                value += 1
                self._answered.clear()
                said = {"type": "class_answer", "step": "s", "question": question}
                if await self.say(**said, value=value):
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._answered.wait(), ANSWERED_S)
            await asyncio.sleep(every_s)
