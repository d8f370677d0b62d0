# SPDX-License-Identifier: GPL-2.0-or-later
"""What a class has in memory is what is stored, whatever its pages do at once, and leave."""

from __future__ import annotations

import asyncio
import contextlib
import random
from pathlib import Path
from typing import Any

import msgpack
import pytest

from duet.base import budgets
from duet.base.errors import DuetError
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom import queries as reading
from duet.plugins.classroom.classrooms import Classrooms
from duet.plugins.classroom.room import Room
from duet.store.store import Store
from duet.stream.hub import Hub, Viewer
from tests.plugins.classroom.stores import running
from tests.plugins.classroom.worker import come
from tests.support.toy_server import SLUG

PAGES, COMMANDS, BOARD = 8, 100, 0.4


def some(rng: random.Random, code: str, secrets: list[str]) -> cm.ClassCommand:
    """A command, often one that is refused."""
    step = rng.choice(["", "s", "s2"])
    question = rng.choice(["poll-1", "poll-2"]) if step == "" else rng.choice(["q", "r"])
    key = {"step": step, "question": question}
    kind = rng.choice(["answer"] * 6 + ["ask", "reveal", "join", "join", "forget", "lost", "hand"])
    match kind:
        case "answer":
            number = rng.randrange(3)
            turn = rng.choice([1, 1, 1, 2])
            return cm.Answer(type="class_answer", **key, round=turn, choice=number)
        case "ask":
            poll = {"text": "Why?", "options": ["a", "b"]}
            chosen = rng.choice([key, {"step": ""} | poll, key | poll])
            return cm.AskClass(type="class_ask", **chosen, round=rng.choice([1, 2]))
        case "reveal":
            return cm.Reveal(type="class_reveal", **key)
        case "join":
            secret = rng.choice([*secrets, ""]) if secrets else ""
            return cm.JoinClass(type="class_join", code=code, nickname="Ada", secret=secret)
        case "forget":
            return cm.ForgetMe(type="class_forget")
        case "hand":
            return cm.HandWheel(type="class_hand")
    return cm.Confused(type="class_confused")


def of_board(rng: random.Random, rooms: Classrooms) -> cm.BoardCommand:
    """A question, a vote on one, or what an instructor does with them."""
    number = rng.choice([*(n for room in rooms.rooms() for n in room.board.raised), 1])
    match rng.choice(["raise", "raise", "raise", "settle", "count"] + ["vote"] * 6):
        case "raise":
            return cm.RaiseQuestion(type="class_raise", text="Why?", step="s")
        case "settle":
            states = {"answered": rng.random() < 0.5, "hidden": rng.random() < 0.2}
            return cm.SettleRaised(type="class_settle", number=number, **states)
        case "count":
            return cm.CountDown(type="class_count_down", act=rng.choice(["start", "extend"]))
    return cm.Upvote(type="class_upvote", number=number, on=rng.random() < 0.8)


async def page(
    rooms: Classrooms, hub: Hub, viewer: Viewer, rng: random.Random, code: str, secrets: list[str]
) -> None:
    """One page; now and then it goes in the middle of a command, and another one comes."""
    for _ in range(COMMANDS):
        board = rng.random() < BOARD
        command = of_board(rng, rooms) if board else some(rng, code, secrets)
        task = asyncio.create_task(rooms.command(viewer, command))
        if rng.random() < 0.15:
            await asyncio.sleep(rng.random() * 0.01)
            hub.leave(viewer)
            task.cancel()
            viewer = hub.join()
        with contextlib.suppress(DuetError, asyncio.CancelledError):
            await task
        while (packet := viewer.outbox.pop()) is not None:
            if packet.type == "class_welcome":
                secrets.append(msgpack.unpackb(packet.body)["secret"])


def seen(room: Room) -> dict[str, object]:
    """What a room knows of its class."""
    return {
        "facts": room.facts,
        "members": {ident: one.facts for ident, one in room.members.items()},
        "answered": {ident: one.answered for ident, one in room.members.items()},
        "questions": {key: one.facts for key, one in room.questions.items()},
        "answers": {key: one.answers for key, one in room.questions.items()},
        "confusion": room.confusion,
        "board": room.board.facts,
        "raised": {number: (one.facts, one.voters) for number, one in room.board.raised.items()},
    }


@pytest.mark.parametrize("seed", range(6))
def test_memory_and_store_agree(
    tmp_path: Path, run_async: Any, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "CLASS_RAISE_EVERY_S", 0.0)

    async def go() -> None:
        hub = Hub()
        store = Store(f"sqlite:///{tmp_path / 'classes.sqlite'}")
        async with running(Classrooms(store)) as rooms:
            hub.left.register(rooms.viewer_left)
            teacher = hub.join()
            await rooms.command(teacher, cm.StartClass(type="class_start", lesson=SLUG))
            state = await come(teacher, "class")
            shown = cm.ShowRaised(type="class_show_raised", shown=True)
            await rooms.command(teacher, shown)
            secrets: list[str] = []
            rngs = [random.Random(f"{seed} {n}") for n in range(PAGES)]
            work = [page(rooms, hub, hub.join(), rng, state["code"], secrets) for rng in rngs[1:]]
            await asyncio.gather(page(rooms, hub, teacher, rngs[0], "none", secrets), *work)
            await rooms.idle()
            (room,) = rooms.rooms()
            found = await store.ask(lambda c: reading.load(c, state["class_id"]))
            assert found is not None
            stored, memory = seen(Room(found)), seen(room)
            assert len(room.members) > 3 and sum(map(len, memory["answers"].values())) > 3  # type: ignore[attr-defined]
            assert sum(len(one.voters) for one in room.board.raised.values()) > 0
            for name, value in memory.items():
                assert value == stored[name], name

    run_async(go())
