# SPDX-License-Identifier: GPL-2.0-or-later
"""A process that holds a class with the real store, and answers until it is killed."""

from __future__ import annotations

import asyncio
from multiprocessing.connection import Connection
from typing import Any

# A store imports them late: here once, not in each process that is forked.
import alembic.command
import alembic.config  # noqa: F401
import msgpack

from duet.plugins.classroom import messages as cm
from duet.plugins.classroom.classrooms import Classrooms
from duet.store.store import Store
from duet.stream.hub import Hub, Viewer
from tests.plugins.classroom.stores import running
from tests.support.toy_server import SLUG

MEMBERS = 6
QUESTIONS = 3
Acknowledged = tuple[str, str, float]
"""Member, question and value that were confirmed."""


async def come(viewer: Viewer, kind: str) -> dict[str, Any]:
    """The next message of that type."""
    while True:
        packet = viewer.outbox.pop()
        if packet is None:
            viewer.ready.clear()
            await viewer.ready.wait()
        elif packet.type in (kind, "error"):
            message: dict[str, Any] = msgpack.unpackb(packet.body)
            assert message["type"] == kind, message
            return message


async def answer(rooms: Classrooms, viewer: Viewer, member: str, at: int, to: Connection) -> None:
    """Answer on and on, each time a higher value; report what was confirmed."""
    while True:
        for number in range(QUESTIONS):
            at += 1
            question = f"q{number}"
            command = cm.Answer(type="class_answer", step="s", question=question, value=float(at))
            await rooms.command(viewer, command)
            message = await come(viewer, "class_answered")
            to.send((member, message["question"], message["value"]))


async def hold(url: str, code: str, secrets: list[str], at: int, to: Connection) -> None:
    """Hold the class of that code, or a new one."""
    hub = Hub()
    async with running(Classrooms(Store(url))) as rooms:
        if not code:
            teacher = hub.join()
            await rooms.command(teacher, cm.StartClass(type="class_start", lesson=SLUG))
            code = (await come(teacher, "class"))["code"]
        work, found = [], []
        for number in range(MEMBERS):
            viewer = hub.join()
            secret = secrets[number] if secrets else ""
            join = cm.JoinClass(type="class_join", code=code, nickname=f"m{number}", secret=secret)
            await rooms.command(viewer, join)
            welcome = await come(viewer, "class_welcome")
            found.append(welcome["secret"])
            while viewer.outbox.pop() is not None:
                pass  # what it had answered before
            work.append(answer(rooms, viewer, welcome["member"], at, to))
        to.send((code, found))
        await asyncio.gather(*work)


def run(url: str, code: str, secrets: list[str], at: int, to: Connection) -> None:
    """See the module."""
    asyncio.run(hold(url, code, secrets, at, to))
