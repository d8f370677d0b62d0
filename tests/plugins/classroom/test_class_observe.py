# SPDX-License-Identifier: GPL-2.0-or-later
"""Looking over a member's shoulder: only the instructor, only with consent, and never more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.classroom.pages import class_app, join, refused, start
from tests.plugins.classroom.pages import teacher_and_two as three
from tests.support.toy_server import SLUG, Page, browser, serving

Run = Any
HERE = {"type": "class_here", "lesson": SLUG, "step": "one hog", "place": "?step=one hog"}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with serving(class_app(tmp_path)) as where:
        yield where


def seen(one: Page) -> list[Any]:
    return [m for m in one.seen if m["type"] == "class_seen"]


def test_no_place_goes_out_without_consent(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with three(address) as (teacher, one, two):
            code = (await start(teacher))["code"]
            ada = (await join(one, code, "Ada"))["member"]
            await join(two, code, "Bo")
            assert (await refused(one, **HERE))["code"] == "unwatched"  # nobody has asked
            await teacher.say(type="class_watch", member=ada)
            assert (await one.until_type("class_watched", phase="asking"))["allowed"] is None
            await teacher.until_type("class_watching", phase="asking", name="Ada")
            assert (await refused(one, **HERE))["code"] == "unwatched"  # asked, not agreed
            await two.say(type="class_consent", allowed=True)  # for itself alone
            assert (await two.until_type("class_watched", allowed=True))["phase"] == "none"
            assert (await refused(one, **HERE))["code"] == "unwatched"
            await one.say(type="class_consent", allowed=False)
            await teacher.until_type("class_watching", phase="refused")
            await one.until_type("class_watched", phase="none", allowed=False)
            assert (await refused(one, **HERE))["code"] == "unwatched"
            # Who has refused is not asked again.
            asked = len([m for m in one.seen if m["type"] == "class_watched"])
            await teacher.say(type="class_watch", member=ada)
            await teacher.until_type("class_watching", phase="refused")
            await one.say(type="class_confused")
            await teacher.until_type("class_confusion")
            assert len([m for m in one.seen if m["type"] == "class_watched"]) == asked
            assert seen(teacher) == seen(two) == []

    run_async(go())


def test_with_consent_the_page_that_asked_has_the_place_until_it_is_taken_back(
    address: str, run_async: Run
) -> None:
    async def go() -> None:
        async with three(address) as (teacher, one, two), browser(address, "teacher") as wall:
            state = await start(teacher)
            await wall.say(type="class_resume", class_id=state["class_id"])
            await wall.until_type("class_welcome", part="instructor")
            ada = (await join(one, state["code"], "Ada"))["member"]
            await join(two, state["code"], "Bo")
            await teacher.say(type="class_watch", member=ada)
            await one.until_type("class_watched", phase="asking")
            await one.say(type="class_consent", allowed=True)
            await one.until_type("class_watched", phase="watched")
            await one.say(**HERE, moment_ns=5.0, mode="play")
            place = await teacher.until_type("class_seen")
            assert (place["member"], place["step"], place["moment_ns"]) == (ada, "one hog", 5.0)
            assert (await refused(two, **HERE))["code"] == "unwatched"
            # One click ends it; what comes after it is refused.
            await one.say(type="class_consent", allowed=False)
            await teacher.until_type("class_watching", phase="refused")
            assert (await refused(one, **HERE))["code"] == "unwatched"
            await one.say(type="class_consent", allowed=True)
            await one.until_type("class_watched", phase="none", allowed=True)
            # Who has agreed in this class is not asked again, and its page says so.
            await teacher.say(type="class_watch", member=ada)
            await one.until_type("class_watched", phase="watched")
            await one.say(**HERE)
            await teacher.until_type("class_seen", moment_ns=None)
            await teacher.say(type="class_watch")
            await one.until_type("class_watched", phase="none")
            assert (await refused(one, **HERE))["code"] == "unwatched"
            # Nobody else has seen a place: not the class, and not the instructor's other page.
            assert seen(two) == seen(wall) == seen(one) == []
            assert len(seen(teacher)) == 2

    run_async(go())


def test_who_leaves_ends_it(address: str, run_async: Run) -> None:
    async def go() -> None:
        async with browser(address, "teacher") as other, three(address) as (teacher, one, two):
            state = await start(teacher)
            ada = (await join(one, state["code"], "Ada"))["member"]
            bo = (await join(two, state["code"], "Bo"))["member"]
            for member, ident in ((one, ada), (two, bo)):
                await member.say(type="class_consent", allowed=True)
                await member.until_type("class_watched", allowed=True)
                await teacher.say(type="class_watch", member=ident)
                await member.until_type("class_watched", phase="watched")
            # Another member is watched now, so the first one is not any more.
            await one.until_type("class_watched", phase="none", allowed=True)
            assert (await refused(one, **HERE))["code"] == "unwatched"
            await two.say(type="class_leave")
            await teacher.until_type("class_watching", phase="away", name="Bo")
            assert (await refused(teacher, type="class_watch", member=bo))["code"] == "member"
            await other.say(type="class_resume", class_id=state["class_id"])
            await other.until_type("class_welcome")
            await other.say(type="class_watch", member=ada)
            await one.until_type("class_watched", phase="watched")
            await other.say(type="class_leave")
            await one.until_type("class_watched", phase="none")
            await asyncio.sleep(0)
            assert (await refused(one, **HERE))["code"] == "unwatched"

    run_async(go())
