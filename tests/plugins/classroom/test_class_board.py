# SPDX-License-Identifier: GPL-2.0-or-later
"""Members' questions without names, their votes, and the timer, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duet.base import budgets
from duet.plugins.classroom.board import hash_of
from duet.plugins.classroom.limits import ROSTER_EVERY_S
from duet.plugins.classroom.text import cleaned
from tests.plugins.classroom.pages import class_app, join, refused, start
from tests.plugins.classroom.pages import teacher_and_two as three
from tests.support.toy_server import Message, Page, browser, cookie, page, serving

Run = Any


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(budgets, "CLASS_RAISE_EVERY_S", 0.0)
    with serving(class_app(tmp_path)) as where:
        yield where


async def ask(one: Page, text: str, step: str = "one hog") -> int:
    """Ask, and wait until it is confirmed; gives the question's number."""
    await one.say(type="class_raise", text=text, step=step)
    text = cleaned(text)
    own = await one.until(
        lambda m: m["type"] == "class_own" and any(q["text"] == text for q in m["asked"])
    )
    return int(next(q["number"] for q in own["asked"] if q["text"] == text))


async def listed(one: Page, **first: object) -> list[Message]:
    """The list of questions, once its first one is like that."""

    def fits(m: Message) -> bool:
        found = m["type"] == "class_raised" and m["questions"]
        return bool(found) and all(m["questions"][0][name] == v for name, v in first.items())

    return list((await one.until(fits))["questions"])


def test_questions_are_shown_by_the_instructor_and_sorted_by_votes(
    address: str, run_async: Run
) -> None:
    async def go() -> None:
        async with three(address) as (teacher, one, two):
            code = (await start(teacher))["code"]
            await join(one, code, "Ada")
            await join(two, code, "Bo")
            first = await ask(one, "  Why\n does it \u202e wait? ")
            second = await ask(two, "What is a <b>grace</b> period?", "three hogs")
            questions = await listed(teacher, number=first)
            assert questions[0]["text"] == "Why does it wait?" and questions[0]["votes"] == 0
            assert (await refused(one, type="class_upvote", number=second))["code"] == "closed"
            await teacher.say(type="class_show_raised", shown=True)
            questions = await listed(two, number=first)
            assert [q["number"] for q in questions] == [first, second]
            await one.say(type="class_upvote", number=second)
            await one.say(type="class_upvote", number=second)
            await two.say(type="class_upvote", number=second)
            top = (await listed(one, number=second, votes=2))[0]
            assert top["text"] == "What is a <b>grace</b> period?" and top["step"] == "three hogs"
            own = [m for m in one.seen if m["type"] == "class_own"][-1]
            assert own["voted"] == [second]
            await one.say(type="class_upvote", number=second, on=False)
            await listed(teacher, number=second, votes=1)
            await teacher.say(type="class_settle", number=second, answered=True, hidden=False)
            assert (await listed(two, number=first))[1]["answered"]
            await teacher.say(type="class_settle", number=first, answered=False, hidden=True)
            await listed(two, number=second)
            own = await one.until(lambda m: m["type"] == "class_own" and m["asked"][0]["hidden"])
            assert own["asked"][0]["number"] == first
            assert (await refused(two, type="class_upvote", number=first))["code"] == "closed"
            await teacher.say(type="class_show_raised", shown=False)
            await two.until_type("class_raised", questions=[])

    run_async(go())


def test_nothing_that_goes_out_says_who_asked(tmp_path: Path, address: str, run_async: Run) -> None:
    async def go() -> tuple[list[Message], list[Message], str, str]:
        async with three(address) as (teacher, one, two):
            state = await start(teacher)
            ada = await join(one, state["code"], "Ada Lovelace")
            await join(two, state["code"], "Bo")
            await quiet(teacher)  # nothing of the joining is still on its way
            before = len(teacher.seen)
            number = await ask(one, "Who asks?")
            await teacher.say(type="class_show_raised", shown=True)
            await listed(two, number=number)
            await one.say(type="class_upvote", number=number)
            await listed(two, number=number, votes=1)
            await quiet(teacher)
            new = teacher.seen[before:]
            return new, teacher.seen + two.seen, state["class_id"], ada["member"]

    new, seen, class_id, member = run_async(go())
    who = hash_of(class_id, member)
    # Not even that a member has just done something: it would give away who.
    assert {m["type"] for m in new} == {"class_raised"}
    bodies = [got(address, f"/api/classes/{class_id}/report{end}") for end in ("", ".csv")]
    assert all("Who asks?" in body for body in bodies)
    everything = json.dumps(seen) + "".join(bodies) + got(address, "/api/health")
    assert who not in everything
    for message in seen:
        if "Who asks?" in json.dumps(message):
            assert set(message) == {"type", "class_id", "shown", "questions"}
            keys = {"number", "step", "text", "votes", "answered", "hidden"}
            assert set(message["questions"][0]) == keys
    assert member not in "".join(bodies) and "Ada" not in "".join(bodies)
    with contextlib.closing(sqlite3.connect(tmp_path / "classes.sqlite")) as other:
        rows = other.execute("SELECT * FROM raised").fetchall()
    assert member not in str(rows) and who in str(rows)


async def quiet(one: Page) -> None:
    """Read until nothing comes any more; a roster comes within a second of what changed it."""
    with contextlib.suppress(TimeoutError):
        while True:
            await one.next(ROSTER_EVERY_S + 0.5)


def got(address: str, path: str) -> str:
    """As the browser that started the class."""
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request("GET", path, headers=cookie(address, "teacher"))
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def test_a_question_is_confirmed_when_it_is_stored_and_not_before(
    tmp_path: Path, address: str, run_async: Run
) -> None:
    async def go() -> None:
        async with browser(address, "teacher") as teacher, page(address) as one:
            await join(one, (await start(teacher))["code"], "Ada")
            other = sqlite3.connect(tmp_path / "classes.sqlite", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")  # nobody else writes meanwhile
            try:
                asked = asyncio.create_task(ask(one, "Why?"))
                await asyncio.sleep(0.7)
                assert not asked.done()
                assert not [
                    m for m in teacher.seen if m["type"] == "class_raised" and m["questions"]
                ]
            finally:
                other.execute("ROLLBACK")
            await asked
            assert other.execute("SELECT text FROM raised").fetchall() == [("Why?",)]
            other.close()

    run_async(go())


def test_questions_votes_and_timer_outlast_a_restart(tmp_path: Path, run_async: Run) -> None:
    async def before(address: str) -> tuple[Message, Message, float]:
        async with browser(address, "teacher") as teacher, page(address) as one:
            state = await start(teacher)
            welcome = await join(one, state["code"], "Ada")
            await teacher.say(type="class_show_raised", shown=True)
            number = await ask(one, "Why?")
            await listed(one, number=number)
            await one.say(type="class_upvote", number=number)
            await listed(one, votes=1)
            await teacher.say(type="class_count_down", act="start", seconds=300)
            ends = (await one.until_type("class_timer"))["ends_ns"]
            return state, welcome, ends

    async def after(address: str, state: Message, welcome: Message, ends: float) -> None:
        async with browser(address, "teacher") as teacher, page(address) as one:
            await teacher.say(type="class_resume", class_id=state["class_id"])
            assert (await listed(teacher, votes=1))[0]["text"] == "Why?"
            assert (await teacher.until_type("class_timer"))["ends_ns"] == ends
            await join(one, state["code"], "", welcome["secret"])
            own = await one.until_type("class_own")
            assert (own["asked"][0]["text"], own["voted"]) == ("Why?", [1])
            await one.say(type="class_forget")
            await teacher.until(
                lambda m: m["type"] == "class_raised" and m["shown"] and not m["questions"]
            )

    with serving(class_app(tmp_path)) as address:
        kept = run_async(before(address))
    with serving(class_app(tmp_path)) as address:
        run_async(after(address, *kept))
    names = ("raised", "raised_votes", "members")
    with contextlib.closing(sqlite3.connect(tmp_path / "classes.sqlite")) as other:
        assert [other.execute(f"SELECT count(*) FROM {n}").fetchone()[0] for n in names] == [0] * 3


def test_the_timer_is_an_end_that_all_pages_and_late_ones_have(
    address: str, run_async: Run
) -> None:
    async def go() -> None:
        async with three(address) as (teacher, one, late):
            code = (await start(teacher))["code"]
            await join(one, code, "Ada")
            await teacher.say(type="class_count_down", act="start", seconds=120)
            set_ = await one.until_type("class_timer")
            assert set_["length_s"] == 120
            assert 119e9 < set_["ends_ns"] - set_["sent_ns"] <= 120e9
            assert abs(set_["sent_ns"] - time.time_ns()) < 30e9
            await join(late, code, "Bo")
            came = await late.until_type("class_timer")
            assert came["ends_ns"] == set_["ends_ns"] and came["sent_ns"] > set_["sent_ns"]
            await teacher.say(type="class_count_down", act="extend", seconds=60)
            more = await late.until_type("class_timer", length_s=180.0)
            assert more["ends_ns"] - set_["ends_ns"] == pytest.approx(60e9)
            await teacher.say(type="class_count_down", act="stop")
            await one.until_type("class_timer", ends_ns=None)
            error = await refused(teacher, type="class_count_down", act="start", seconds=0)
            assert error["code"] != "forbidden"
            ticks = [m for m in one.seen if m["type"] == "class_timer"]
            assert len(ticks) == 3, "an end travels, no ticks"

    run_async(go())


def test_a_member_may_do_nothing_of_the_instructors(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with browser(address, "teacher") as teacher, page(address) as one:
            await join(one, (await start(teacher))["code"], "Ada")
            number = await ask(one, "Why?")
            for command in (
                {"type": "class_settle", "number": number, "answered": True, "hidden": False},
                {"type": "class_show_raised", "shown": True},
                {"type": "class_count_down", "act": "start"},
                {"type": "class_remove", "member": "x"},
                {"type": "class_watch", "member": "x"},
            ):
                assert (await refused(one, **command))["code"] == "forbidden"
            for command in (
                {"type": "class_raise", "text": "Why?"},
                {"type": "class_upvote", "number": number},
                {"type": "class_consent", "allowed": True},
                {"type": "class_here", "lesson": "x"},
            ):
                assert (await refused(teacher, **command))["code"] == "forbidden"

    run_async(go())


def test_questions_are_bounded(
    address: str, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "CLASS_RAISED_EACH", 2)
    monkeypatch.setattr(budgets, "CLASS_RAISED", 3)

    async def go() -> None:
        async with three(address) as (teacher, one, two):
            code = (await start(teacher))["code"]
            await join(one, code, "Ada")
            await join(two, code, "Bo")
            for text in (" \u200b ", "", "x" * 281):
                assert (await refused(one, type="class_raise", text=text))["type"] == "error"
            for text in ("a", "b"):
                await ask(one, text)
            assert (await refused(one, type="class_raise", text="c"))["code"] == "full"
            await ask(two, "c")
            assert (await refused(two, type="class_raise", text="d"))["code"] == "full"
            monkeypatch.setattr(budgets, "CLASS_RAISE_EVERY_S", 60.0)
            error = await refused(two, type="class_raise", text="e")
            assert "every 60 s" in error["sentence"] and error["code"] == "closed"

    run_async(go())


def test_the_instructor_deletes_what_is_stored_of_a_member(
    tmp_path: Path, address: str, run_async: Run
) -> None:
    async def go() -> None:
        async with three(address) as (teacher, one, two):
            state = await start(teacher)
            ada = (await join(one, state["code"], "Ada"))["member"]
            await join(two, state["code"], "Bo")
            await teacher.say(type="class_show_raised", shown=True)
            own, other = await ask(one, "Hers?"), await ask(two, "His?")
            for member in (one, two):
                await member.until(
                    lambda m: m["type"] == "class_raised" and len(m["questions"]) == 2
                )
            for member, number in ((two, own), (one, other), (two, other)):
                await member.say(type="class_upvote", number=number)
            await teacher.say(type="class_ask", text="Why?", options=["a", "b"])
            for member in (one, two):
                await member.until_type("class_question")
                await member.say(type="class_answer", question="poll-1", choice=0)
                await member.until_type("class_answered")
            path = f"/api/classes/{state['class_id']}/report"
            report = json.loads(await asyncio.to_thread(got, address, path))
            assert (report["members"], len(report["raised"])) == (2, 2)
            assert (await refused(teacher, type="class_remove", member="no"))["code"] == "member"
            await teacher.say(type="class_remove", member=ada)
            await one.until_type("class", open=False)
            await listed(teacher, number=other, votes=1)
            report = json.loads(await asyncio.to_thread(got, address, path))
            assert report["members"] == 1 and report["questions"][0]["rounds"][0]["answers"] == 1
            assert [(q["text"], q["votes"]) for q in report["raised"]] == [("His?", 1)]

    run_async(go())
    assert b"Hers?" not in (tmp_path / "classes.sqlite").read_bytes()
