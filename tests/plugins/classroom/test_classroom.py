# SPDX-License-Identifier: GPL-2.0-or-later
"""A class over real sockets and a real database: joining, following, asking, coming back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duet.base import budgets
from tests.plugins.classroom.pages import class_app, drive, join, refused, start
from tests.support.toy_server import SLUG, Page, browser, page, serving

Run = Any


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with serving(class_app(tmp_path)) as where:
        yield where


def test_a_class_is_started_and_joined(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with (
            browser(address, "teacher") as teacher,
            page(address) as one,
            page(address) as two,
        ):
            state = await start(teacher, title="  Grace   periods ")
            code = state["code"]
            assert state["title"] == "Grace periods" and state["link"] == f"?class={code}"
            assert (state["open"], state["driving"], state["part"]) == (True, True, "instructor")
            first = await join(one, code.upper().replace("-", " "), "Ada")
            second = await join(two, code, " ada ")
            assert (first["name"], second["name"]) == ("Ada", "ada 2")
            assert first["secret"] and first["secret"] != second["secret"]
            state = await teacher.until_type("class", connected=2)
            assert state["members"] == 2 and state["driver"] == ""
            state = await one.until_type("class", connected=2)
            assert (state["driving"], state["part"]) == (False, "member")
            roster = await teacher.until(lambda m: m["type"] == "class_roster" and m["members"])
            assert {m["name"] for m in roster["members"]} <= {"Ada", "ada 2"}

    run_async(go())


def test_a_place_reaches_all_others_at_once(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with (
            browser(address, "teacher") as teacher,
            page(address) as one,
            page(address) as two,
        ):
            code = (await start(teacher))["code"]
            await join(one, code, "Ada")
            spot = {"arm": "srcu", "row": 1, "t_ns": 5.0}
            await drive(teacher, "one hog", moment_ns=1e6, mode="play", spotlight=spot)
            place = await one.until_type("class_place")
            assert (place["step"], place["moment_ns"], place["mode"]) == ("one hog", 1e6, "play")
            assert place["place"] == f"?lesson={SLUG}&step=one hog"
            assert place["spotlight"] == spot and place["age_s"] < 5
            await asyncio.sleep(0.2)
            await join(two, code, "Bo")
            late = await two.until_type("class_place")
            assert late["number"] == place["number"] and late["age_s"] >= 0.2
            error = await refused(one, type="class_drive", lesson=SLUG)
            assert error["code"] == "forbidden"
            assert not [m for m in teacher.seen if m["type"] == "class_place"]

    run_async(go())


def test_the_wheel_is_handed_over_and_comes_back(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with browser(address, "teacher") as teacher, page(address) as one:
            code = (await start(teacher))["code"]
            ada = (await join(one, code, "Ada"))["member"]
            await teacher.say(type="class_hand", member=ada)
            assert (await one.until_type("class", driving=True))["driver"] == "Ada"
            state = await teacher.until_type("class", driver_member=ada)
            assert not state["driving"]
            assert (await refused(teacher, type="class_drive", lesson=SLUG))["code"] == "forbidden"
            await drive(one, "three hogs")
            assert (await teacher.until_type("class_place"))["step"] == "three hogs"
            assert (await refused(teacher, type="class_hand", member="no"))["code"] == "member"
            await one.say(type="class_leave")
            assert not (await one.until_type("class", open=False))["driving"]
            await teacher.until_type("class", driving=True, driver="")
            assert (await refused(one, type="class_confused"))["code"] == "no-class"

    run_async(go())


def test_only_the_instructor_leads(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with (
            browser(address, "teacher") as teacher,
            browser(address, "another") as other,
            page(address) as one,
        ):
            state = await start(teacher)
            await join(one, state["code"], "Ada")
            for command in (
                {"type": "class_hand"},
                {"type": "class_end"},
                {"type": "class_ask", "text": "Why?", "options": ["a", "b"]},
                {"type": "class_reveal", "question": "poll-1"},
            ):
                assert (await refused(one, **command))["code"] == "forbidden"
            wrong = await refused(other, type="class_resume", class_id=state["class_id"])
            none = await refused(other, type="class_resume", class_id="nothing")
            assert wrong["code"] == "no-class" and wrong["sentence"] == none["sentence"]
            none = await refused(other, type="class_join", code="no such class", nickname="x")
            assert none["code"] == "no-class"
            error = await refused(other, type="class_join", code=state["code"], nickname=" \u202e ")
            assert error["code"] == "nickname"
            for command in ({"type": "class_confused"}, {"type": "class_forget"}):
                assert (await refused(teacher, **command))["code"] == "forbidden"
            assert (await refused(other, type="class_start", lesson="none"))["code"] == "input"

    run_async(go())


def answer(**fields: object) -> dict[str, object]:
    return {"type": "class_answer", "step": "one hog", "question": "predict", **fields}


def kinds(one: Page, kind: str) -> list[dict[str, Any]]:
    return [m for m in one.seen if m["type"] == kind]


def test_answers_are_hidden_until_they_are_revealed(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with (
            browser(address, "teacher") as teacher,
            page(address) as one,
            page(address) as two,
        ):
            code = (await start(teacher))["code"]
            await join(one, code, "Ada")
            await join(two, code, "Bo")
            await one.say(**answer(choice=1, right=False))  # it opens the question
            await one.until_type("class_answered", choice=1)
            await teacher.until(lambda m: m["type"] == "class_tally" and m["rounds"])
            ask = {"type": "class_ask", "step": "one hog", "question": "predict"}
            await teacher.say(**ask, text="Who waits?")
            assert (await two.until_type("class_question"))["text"] == "Who waits?"
            await two.say(**answer(choice=2, right=True))
            await two.until_type("class_answered")
            await teacher.say(**ask, round=2)
            assert (await one.until_type("class_question", round=2))["text"] == "Who waits?"
            assert (await refused(two, **answer(choice=2)))["code"] == "closed"
            await one.say(**answer(round=2, choice=2, right=True))
            await one.until_type("class_answered", round=2)
            await teacher.until(lambda m: m["type"] == "class_tally" and len(m["rounds"]) == 2)
            assert kinds(one, "class_tally") == kinds(two, "class_tally") == []
            await teacher.say(type="class_reveal", step="one hog", question="predict")
            tally = await two.until_type("class_tally", revealed=True)
            first, second = tally["rounds"]
            assert [(b["choice"], b["count"]) for b in first["bars"]] == [(1, 1), (2, 1)]
            assert (first["right"], second["right"], second["answers"]) == (1, 1, 1)
            assert (await refused(one, **answer(round=2, choice=1)))["code"] == "closed"

    run_async(go())


def test_a_poll_takes_its_options_and_marks_have_no_names(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with browser(address, "teacher") as teacher, page(address) as one:
            await join(one, (await start(teacher))["code"], "Ada")
            assert (await refused(teacher, type="class_ask", text="Why?"))["code"] == "closed"
            await teacher.say(type="class_ask", text="Why?", options=["a", "b"])
            poll = (await one.until_type("class_question"))["question"]
            assert poll == "poll-1"
            for wrong in ({"choice": 2}, {"value": 1.0}, {}, {"choice": 1, "value": 1.0}):
                error = await refused(one, type="class_answer", question=poll, **wrong)
                assert error["code"] == "closed"
            assert (await refused(one, type="class_answer", question="x", choice=0)) is not None
            mark = {"x": 0.25, "y": 0.5, "arm": "srcu", "row": 2, "t_ns": 7.0}
            await one.say(**answer(mark=mark))
            assert (await one.until_type("class_answered"))["mark"] == mark
            tally = await teacher.until_type("class_tally", step="one hog")
            assert tally["rounds"][0]["marks"] == [mark]

    run_async(go())


def test_a_member_comes_back_by_its_secret(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with browser(address, "teacher") as teacher:
            code = (await start(teacher))["code"]
            async with page(address) as one:
                welcome = await join(one, code, "Ada")
                await one.say(**answer(value=3.5))
                await one.until_type("class_answered")
                await one.say(type="class_follow", following=False, step="one hog")
                roster = await teacher.until(
                    lambda m: m["type"] == "class_roster" and any(x["step"] for x in m["members"])
                )
                (line,) = roster["members"]
                assert (line["following"], line["answered"]) == (False, 1)
            await teacher.until_type("class", connected=0)
            async with page(address) as one:
                again = await join(one, code, "", welcome["secret"])
                assert again == welcome
                assert (await one.until_type("class_answered"))["value"] == 3.5
                await one.say(type="class_confused")
                await one.say(type="class_confused")
                curve = await teacher.until(
                    lambda m: m["type"] == "class_confusion" and m["points"]
                )
                assert [(p["at_s"] % 10, p["count"]) for p in curve["points"]] == [(0, 1)]
                await one.say(type="class_forget")
                await one.until_type("class", open=False)
                await teacher.until_type("class", members=0)
                tally = await teacher.until_type("class_tally")
                assert tally["rounds"] == []
                error = await refused(one, type="class_join", code=code, secret=welcome["secret"])
                assert error["code"] == "nickname"

    run_async(go())


def test_a_class_that_ended_is_over_for_all(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with browser(address, "teacher") as teacher, page(address) as one:
            state = await start(teacher)
            await join(one, state["code"], "Ada")
            await teacher.say(type="class_end")
            for each in (teacher, one):
                await each.until_type("class", open=False)
            error = await refused(one, type="class_join", code=state["code"], nickname="x")
            assert error["code"] == "no-class"
            error = await refused(teacher, type="class_resume", class_id=state["class_id"])
            assert error["code"] == "no-class"
            assert (await start(teacher))["class_id"] != state["class_id"]

    run_async(go())


def test_a_restarted_server_knows_the_class(tmp_path: Path, run_async: Run) -> None:
    async def before(address: str) -> tuple[dict[str, Any], dict[str, Any], int]:
        async with browser(address, "teacher") as teacher, page(address) as one:
            state = await start(teacher)
            welcome = await join(one, state["code"], "Ada")
            await teacher.say(type="class_ask", text="Why?", options=["a", "b"])
            await one.until_type("class_question")
            await one.say(type="class_answer", question="poll-1", choice=1)
            await one.until_type("class_answered")
            await teacher.say(type="class_hand", member=welcome["member"])
            await one.until_type("class", driving=True)
            await drive(one, "one hog", moment_ns=4.0)
            number = (await teacher.until_type("class_place"))["number"]
            return state, welcome, number

    async def after(
        address: str, state: dict[str, Any], welcome: dict[str, Any], number: int
    ) -> None:
        async with browser(address, "teacher") as teacher, page(address) as one:
            await teacher.say(type="class_resume", class_id=state["class_id"])
            place = await teacher.until_type("class_place")
            assert place["number"] > number and place["moment_ns"] == 4.0
            assert (await teacher.until_type("class_question"))["options"] == ["a", "b"]
            assert (await teacher.until_type("class_tally"))["rounds"][0]["answers"] == 1
            await join(one, state["code"], "", welcome["secret"])
            assert (await one.until_type("class_answered"))["choice"] == 1
            await drive(one, "three hogs")
            assert (await teacher.until_type("class_place"))["number"] == place["number"] + 1

    with serving(class_app(tmp_path)) as address:
        kept = run_async(before(address))
    with serving(class_app(tmp_path)) as address:
        run_async(after(address, *kept))


def test_limits_are_one_sentence(
    address: str, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "CLASS_MEMBERS", 1)
    monkeypatch.setattr(budgets, "CLASSES_OPEN", 1)
    monkeypatch.setattr(budgets, "CLASS_QUESTIONS", 2)

    async def go() -> None:
        async with (
            browser(address, "teacher") as teacher,
            page(address) as one,
            page(address) as two,
        ):
            state = await start(teacher)
            await join(one, state["code"], "Ada")
            error = await refused(two, type="class_join", code=state["code"], nickname="Bo")
            assert "1 members" in error["sentence"] and error["code"] == "full"
            error = await refused(two, type="class_start", lesson=SLUG)
            assert "1 classes" in error["sentence"] and error["code"] == "full"
            await one.say(**answer(choice=0))
            await one.until_type("class_answered")
            error = await refused(one, **answer(choice=0, question="another"))
            assert error["code"] == "full", "members open half of all questions"
            await teacher.say(type="class_ask", text="Why?", options=["a", "b"])
            await teacher.until_type("class_question")
            error = await refused(teacher, type="class_ask", text="Why?", options=["a", "b"])
            assert error["code"] == "full"
            await one.say(type="class_leave")
            await one.until_type("class", open=False)
        async with browser(address, "third") as third:  # the empty class made room for it
            second = await start(third)
        async with browser(address, "teacher") as teacher:
            await teacher.say(type="class_resume", class_id=state["class_id"])
            await teacher.until_type("class", class_id=state["class_id"])
            assert second["class_id"] != state["class_id"]

    run_async(go())


def test_the_roster_and_tallies_are_calm(address: str, run_async: Run) -> None:
    """40 answers in a moment give a few tallies, and the last one has them all."""

    async def go() -> None:
        async with browser(address, "teacher") as teacher:
            code = (await start(teacher))["code"]
            members = [page(address) for _ in range(8)]
            pages = [await one.__aenter__() for one in members]
            for number, one in enumerate(pages):
                await join(one, code, f"m{number}")
            began = time.monotonic()
            for choice in range(5):
                for one in pages:
                    await one.say(**answer(choice=choice))
            await teacher.until(
                lambda m: (
                    m["type"] == "class_tally"
                    and m["rounds"]
                    and m["rounds"][0]["bars"] == [{"choice": 4, "value": None, "count": 8}]
                )
            )
            took_s = time.monotonic() - began
            await asyncio.gather(*(one.__aexit__(None, None, None) for one in members))
            assert len(kinds(teacher, "class_tally")) <= 2 + took_s / 0.25
            assert len(kinds(teacher, "class_roster")) <= 3 + took_s + 8

    run_async(go())
