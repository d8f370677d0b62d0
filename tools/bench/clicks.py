# SPDX-License-Identifier: GPL-2.0-or-later
"""A simulated page. It opens lessons, runs their main steps, and connects as a real page does."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgpack
from websockets.asyncio.client import ClientConnection, connect

from duet.base.clock import Clock
from duet.base.errors import InfraError
from duet.lessons import load as lessons
from duet.stream.hub import OVER
from tools.bench.watchers import ACK_EVERY

MOVES_S: Final = 240.0
"""Time limit from a click until every lane has sent a batch.

Usual: 0.1 s for a recording, 0.5 s for copies, 3-8 s for boots.
"""
OPEN_S: Final = 60.0
"""Time limit until a socket is open. Usual: 10 ms."""
REST_S: Final = 60.0
"""Time limit from `stop` to the end of a live run. Usual: 0.5 s."""
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """The main step of a lesson, as the page requests it."""

    lesson: str
    step: str
    clock: Clock
    start: Message


@dataclass(slots=True)
class Moved:
    """The result of a click.

    Args:
        ms: time until every lane had sent a batch; None if a lane sent no batch.
        lanes: number of lanes in the run.
        copies: number of lanes whose guest is a copy of a parked guest.
        why: why no batch arrived.
    """

    ms: float | None = None
    lanes: int = 0
    copies: int = 0
    why: str = ""


@dataclass(slots=True)
class Seen:
    """What a page has received so far about the lanes of one run."""

    arms: Sequence[str] = ()
    moving: set[str] = field(default_factory=set)
    cloned: set[str] = field(default_factory=set)
    failed: str = ""
    phase: str = ""
    lesson: str = ""
    source: str = ""

    @property
    def moves(self) -> bool:
        """Whether every lane has sent a batch."""
        return bool(self.arms) and self.moving >= set(self.arms)


def main_step(slug: str, clock: str) -> Step:
    """Return a lesson's hero step.

    Args:
        clock: clock of the step's live runs. "" means the lesson's clock.
    """
    lesson = lessons.load(slug).lesson
    scene = next((one for one in lesson.scenes if one.id == lesson.hero), lesson.scenes[0])
    chosen: Clock = "count" if (clock or lesson.clock) == "count" else "wall"
    start: Message = {
        "type": "start",
        "lesson": slug,
        "arms": list(scene.arms),
        "params": dict(scene.params),
        "clock": chosen,
    }
    if scene.workload is not None:
        start["workload"] = scene.workload
    return Step(slug, scene.id, chosen, start)


class Page:
    """A simulated page with its connection to the server. The function `opened` creates a Page."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._count = 0
        self._runs: dict[str, Seen] = {}

    async def say(self, message: Message) -> None:
        await self._socket.send(msgpack.packb(message))

    async def next(self) -> Message:
        """Receive the next message, and record it if it is about a lane or the run's phase."""
        message: Message = msgpack.unpackb(await self._socket.recv(), strict_map_key=False)
        self._count += 1
        if self._count % ACK_EVERY == 0:
            await self.say({"type": "ack", "n": self._count})
        seen = self._runs.setdefault(message.get("run_id") or "", Seen())
        match message["type"]:
            case "run":
                seen.arms, seen.phase = message["arms"], message["phase"]
                seen.lesson, seen.source = message["lesson"], message["source"]
            case "batch":
                seen.moving.add(message["arm"])
            case "lane":
                if message["cloned"]:
                    seen.cloned.add(message["arm"])
                if message["phase"] == "failed":
                    seen.failed = message["message"]
        return message

    async def leave(self, slug: str) -> None:
        """Open a lesson without a run, and wait until the lesson is shown."""
        await self.say({"type": "open", "lesson": slug, "run": "none"})
        async with asyncio.timeout(REST_S):
            while not is_lesson(await self.next(), slug):
                pass

    async def recorded(self, step: Step) -> Moved:
        """Click on a lesson, and wait until its recording moves."""
        return await self._bounded(self._recorded(step))

    async def live(self, step: Step) -> Moved:
        """Click on a lesson, run its step live, wait until its lanes move, then stop the run."""
        return await self._bounded(self._live(step))

    async def _bounded(self, click: Any) -> Moved:
        try:
            async with asyncio.timeout(MOVES_S + REST_S):
                moved: Moved = await click
                return moved
        except TimeoutError:
            return Moved(why=f"nothing moved within {MOVES_S:g} s")

    async def _recorded(self, step: Step) -> Moved:
        self._runs.clear()
        began = time.monotonic()
        await self._open(step)
        while True:
            message = await self.next()
            if message["type"] == "error":
                return Moved(why=str(message["sentence"]))
            seen = self._runs[message.get("run_id") or ""]
            if seen.moves and (seen.source, seen.lesson) == ("recorded", step.lesson):
                return Moved((time.monotonic() - began) * 1e3, len(seen.arms))

    async def _live(self, step: Step) -> Moved:
        self._runs.clear()
        began, run, ended = time.monotonic(), "", Moved(why="its run ended without events")
        asked = False
        await self._open(step)
        while True:
            message = await self.next()
            if message["type"] == "error":
                return Moved(why=str(message["sentence"]))
            if is_lesson(message, step.lesson) and not asked:
                asked = True
                await self.say(step.start)
            if message["type"] == "begun":
                run = str(message["run_id"])
            seen = self._runs[run] if run in self._runs else Seen()
            if seen.moves and ended.ms is None:
                ended = Moved((time.monotonic() - began) * 1e3, len(seen.arms), len(seen.cloned))
                await self.say({"type": "stop", "run": run})
            if seen.failed and ended.ms is None:
                ended = Moved(why=seen.failed)
            if seen.phase in OVER:
                return ended

    async def _open(self, step: Step) -> None:
        await self.say({"type": "open", "lesson": step.lesson, "step": step.step})


def is_lesson(message: Message, slug: str) -> bool:
    """Whether this message contains the lesson with that slug."""
    return bool(message["type"] == "lesson" and message["lesson"]["slug"] == slug)


@contextlib.asynccontextmanager
async def opened(address: str) -> AsyncIterator[Page]:
    """Open a simulated page as a new visitor.

    Raises:
        InfraError: the server does not answer.
    """
    try:
        socket = await connect(
            f"ws://{address}/ws", compression=None, max_size=None, open_timeout=OPEN_S
        )
    except OSError as error:
        raise InfraError(f"the server does not answer: {error}.", remedy="Try again.") from None
    async with socket:
        yield Page(socket)
