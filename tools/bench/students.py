# SPDX-License-Identifier: GPL-2.0-or-later
"""Students in `bench class`. All press *run live* at the same time, and wait until their run ends.

Meanwhile each student sends a light request over their own socket every PROBE_S, and times the
answer. As on the real page, the answer is queued after the rows of the run that the student
watches.

`python -m tools.bench.students ADDRESS LESSON STUDENTS SETTINGS` prints one JSON line. For each
student, the line has the run, how the run ended, and times. SETTINGS is a JSON list of knob values,
which the students use in turn.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import msgpack
from websockets.asyncio.client import ClientConnection, connect

from duet.lessons import load as lessons
from duet.stream.hub import OVER

PROBE_S = 1.0
"""Time between a student's light requests. The requests of all students are spread over it."""
OPEN_S = 60.0
"""Time limit until a student's socket is open, while others open theirs. Usual: 10 ms."""
ANSWER_S = 60.0
"""Time limit for the answer to the last light request. Usual: 10 ms."""
RUN_S = 600.0
"""Time limit until a student's run is over, including all runs before it. Usual: 20 s."""
NOBODYS = "live-nobody"
REFUSAL = "that run has ended."
"""The answer to `stop` for an unknown run (server/runs.py)."""


def arms_of(lesson: str) -> list[str]:
    """Return the lesson's first two arms, so that every run has the same lanes."""
    return [arm.name for arm in lessons.load(lesson).lesson.arms][:2]


class Student:
    """One student. Students send no cookie, so the server treats each as a separate visitor."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._asked_at: float | None = None
        self.answers_ms: list[float] = []

    async def say(self, **message: object) -> None:
        await self._socket.send(msgpack.packb(message))

    async def until(self, kind: str, **fields: object) -> dict[str, Any]:
        """Return the next message that has this type and these fields, or that is an error."""
        while True:
            message: dict[str, Any] = msgpack.unpackb(await self._socket.recv())
            if self._answered(message):
                continue
            if message["type"] == "error":
                return message
            if message["type"] == kind and all(message.get(k) == v for k, v in fields.items()):
                return message

    async def probe(self, first_s: float) -> None:
        """Send a light request every PROBE_S. Skip a request if an answer is still outstanding."""
        await asyncio.sleep(first_s)
        while True:
            await self._ask()
            await asyncio.sleep(PROBE_S)

    async def last_answer(self) -> None:
        """Wait for the last answer. If no request was answered yet, first send a request."""
        if not self.answers_ms:
            await self._ask()
        while self._asked_at is not None:
            self._answered(msgpack.unpackb(await self._socket.recv()))

    async def _ask(self) -> None:
        if self._asked_at is None:
            self._asked_at = time.monotonic()
            await self.say(type="stop", run=NOBODYS)

    def _answered(self, message: dict[str, Any]) -> bool:
        """Return whether a message answers the light request. If so, record its time."""
        mine = message["type"] == "error" and message["sentence"] == REFUSAL
        if not mine or self._asked_at is None:
            return False
        self.answers_ms.append((time.monotonic() - self._asked_at) * 1e3)
        self._asked_at = None
        return True

    async def runs(self, start: dict[str, Any]) -> dict[str, Any]:
        """Press *run live* and wait until the run is over."""
        began = time.monotonic()
        await self.say(**start)
        begun = await self.until("begun")
        if begun["type"] == "error":
            return {"run": "", "end": begun["sentence"], "waited_s": 0.0, "took_s": 0.0}
        waited_s = time.monotonic() - began
        while True:
            message = await self.until("run", run_id=begun["run_id"])
            if message["type"] == "error" or message["phase"] in OVER:
                break
        end = message.get("phase") or message["sentence"]
        took_s = time.monotonic() - began
        return {"run": begun["run_id"], "end": end, "waited_s": waited_s, "took_s": took_s}


async def student(
    address: str, lesson: str, params: dict[str, int], ready: asyncio.Barrier, first_s: float
) -> dict[str, Any]:
    """Simulate one student, from the opening of the page to the end of the run."""
    start = {"type": "start", "lesson": lesson, "arms": arms_of(lesson), "params": params}
    async with connect(
        f"ws://{address}/ws", compression=None, max_size=None, open_timeout=OPEN_S
    ) as socket:
        one = Student(socket)
        await one.say(type="open", lesson=lesson)
        await one.until("lesson")
        await ready.wait()
        probing = asyncio.create_task(one.probe(first_s), name="light questions")
        try:
            async with asyncio.timeout(RUN_S):
                found = await one.runs(start)
        except TimeoutError:
            end = f"it was not over within {RUN_S:.0f} s"
            found = {"run": "", "end": end, "waited_s": RUN_S, "took_s": RUN_S}
        finally:
            probing.cancel()
        async with asyncio.timeout(ANSWER_S):
            await one.last_answer()
        return found | {"answers_ms": one.answers_ms}


async def everyone(
    address: str, lesson: str, count: int, settings: list[dict[str, int]]
) -> list[dict[str, Any]]:
    """Run all students at the same time."""
    ready = asyncio.Barrier(count)
    return await asyncio.gather(
        *(
            student(address, lesson, settings[n % len(settings)], ready, PROBE_S * n / count)
            for n in range(count)
        )
    )


if __name__ == "__main__":
    where, slug, number, given = sys.argv[1:5]
    print(json.dumps(asyncio.run(everyone(where, slug, int(number), json.loads(given)))))
