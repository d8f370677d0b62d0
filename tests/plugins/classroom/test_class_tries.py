# SPDX-License-Identifier: GPL-2.0-or-later
"""Let the class try: a class's runs over real sockets, in the real queue and a real database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duet.base import budgets
from duet.messages import ServerMessage, lasting_types, models
from duet.plugins.classroom import messages as cm
from tests.plugins.classroom.pages import drive, join, refused
from tests.plugins.classroom.trying import (
    ARMS,
    ENDLESS_S,
    STEP,
    NumberedStage,
    attempt,
    gallery,
    tries_app,
    trying,
)
from tests.support.toy_server import SLUG, browser, page, serving

Run = Any
FAST = 50.0


def makers(one: dict[str, Any]) -> list[str]:
    return [maker["name"] for maker in one["makers"]]


def test_what_is_said_of_a_class_outlives_a_switch_of_runs() -> None:
    said = {tag for tag, model in models(ServerMessage).items() if model.__module__ == cm.__name__}
    assert said and said <= lasting_types()


def test_equal_tries_are_one_run_with_both_as_its_makers(tmp_path: Path, run_async: Run) -> None:
    stage = NumberedStage(FAST)

    async def go(address: str) -> None:
        async with trying(address, "Ada", "Bo") as (teacher, ada, bo):
            await attempt(ada, hogs=9, seconds=2)
            await ada.until(lambda x: x["type"] == "class_tries" and x["tries"])
            await attempt(bo, seconds=2, hogs=9)
            (one,) = await gallery(bo, "done")
            assert makers(one) == ["Ada", "Bo"] and one["turned"] == {"hogs": 9, "seconds": 2}
            result = one["result"]
            assert (result["title"], result["unit"]) == ("umounts", "umounts/s")
            assert [lane["value"] for lane in result["lanes"]] == [900, 180]
            assert result["ratio"] == 0.2 and one["run"].startswith(f"kept:{SLUG}:run-")
            await attempt(ada, hogs=9, seconds=2)
            await attempt(bo, hogs=1, seconds=2)
            both = await gallery(teacher, "done", "done")
            assert [makers(each) for each in both] == [["Ada", "Bo"], ["Bo"]]

    with serving(tries_app(tmp_path, stage)) as address:
        run_async(go(address))
    assert [request.params["hogs"] for request in stage.made] == [9, 1]


def test_five_tries_of_one_member_hold_nobody_back(tmp_path: Path, run_async: Run) -> None:
    async def go(address: str) -> None:
        async with trying(address, "Ada", "Bo") as (teacher, ada, bo):
            await attempt(ada, hogs=1, seconds=ENDLESS_S)
            await gallery(ada, "running")
            for hogs in range(2, 2 + budgets.CLASS_TRIES_WAITING):
                await attempt(ada, hogs=hogs, seconds=1)
            await gallery(ada, "running", *["waiting"] * budgets.CLASS_TRIES_WAITING)
            error = await refused(
                ada, type="class_try", lesson=SLUG, step=STEP, arms=ARMS, params={"hogs": 8}
            )
            assert error["code"] == "full" and "already have 5 waiting runs" in error["sentence"]
            await attempt(bo, hogs=9, seconds=1)
            (mine,) = await gallery(bo, "waiting")
            assert mine["place"] == 2 and 15 < mine["estimate_s"] < 120
            all_of = await gallery(teacher, "running", *["waiting"] * 6)
            assert [one["place"] for one in all_of] == [None, 1, None, None, None, None, 2]
            await ada.say(type="class_take_back", number=2)
            await gallery(teacher, "running", *["waiting"] * 5)
            assert (await refused(bo, type="class_take_back", number=3))["code"] == "forbidden"
            await ada.say(type="stop", run=all_of[0]["run"])
            await gallery(bo, "done")
            all_of = await gallery(ada, "failed", *["done"] * 4)
            assert "stopped" in all_of[0]["sentence"]

    with serving(tries_app(tmp_path, stage := NumberedStage(FAST))) as address:
        run_async(go(address))
    assert stage.performed == [1, 9, 3, 4, 5, 6], "Ada gave her place back, and Bo's was next"


def test_what_may_not_be_tried_is_refused_in_a_sentence(tmp_path: Path, run_async: Run) -> None:
    async def go(address: str) -> None:
        async with trying(address, "Ada", opened=False) as (teacher, ada):
            tried = {"type": "class_try", "lesson": SLUG, "step": STEP, "arms": ARMS}
            opens = {"type": "class_open_step", "lesson": SLUG, "step": STEP, "knobs": True}
            shows = {"type": "class_show_gallery", "shown": True}
            closed = await refused(ada, **tried)
            assert "has not opened this step" in closed["sentence"]
            for command in (opens, shows):
                assert (await refused(ada, **command))["code"] == "forbidden"
            unknown = await refused(teacher, **{**opens, "step": "none"})
            assert "has no step 'none'" in unknown["sentence"]
            patches = await refused(teacher, **opens, patches=True)
            assert "patches cannot be changed here" in patches["sentence"]
            await teacher.say(**opens)
            state = await ada.until(lambda x: x["type"] == "class_opened" and x["steps"])
            assert state["steps"] == [{"lesson": SLUG, "step": STEP, "patches": False}]
            assert "compiles no kernels" in state["no_patches"]
            own = await refused(ada, **{**tried, "arms": ["rwsem", "own-srcu-0123456789"]})
            assert "not change a patch" in own["sentence"]
            range_ = await refused(ada, **tried, params={"hogs": 99})
            assert range_["code"] == "input" and "hogs" in range_["sentence"]
            assert "members try runs" in (await refused(teacher, **tried))["sentence"]
            await teacher.say(**{**opens, "knobs": False})
            await ada.until(lambda x: x["type"] == "class_opened" and not x["steps"])
            assert (await refused(ada, **tried))["code"] == "closed"
            async with page(address) as stranger:
                assert (await refused(stranger, **tried))["code"] == "no-class"

    with serving(tries_app(tmp_path, NumberedStage(FAST))) as address:
        run_async(go(address))


def test_a_server_without_guests_opens_no_step(tmp_path: Path, run_async: Run) -> None:
    async def go(address: str) -> None:
        async with trying(address, "Ada", opened=False) as (teacher, ada):
            opens = {"type": "class_open_step", "lesson": SLUG, "step": STEP, "knobs": True}
            for one, command in (
                (teacher, opens),
                (ada, {"type": "class_try", "lesson": SLUG, "step": STEP, "arms": ARMS}),
            ):
                assert "guests are switched off" in (await refused(one, **command))["sentence"]

    with serving(tries_app(tmp_path, NumberedStage(FAST), live=False)) as address:
        run_async(go(address))


def test_members_see_their_own_until_the_gallery_is_shown(tmp_path: Path, run_async: Run) -> None:
    async def go(address: str) -> None:
        async with trying(address, "Ada", "Bo") as (teacher, ada, bo):
            await attempt(ada, hogs=2, seconds=1)
            await attempt(bo, hogs=4, seconds=1)
            await gallery(teacher, "done", "done")
            (mine,) = await gallery(bo, "done")
            assert makers(mine) == ["Bo"]
            await teacher.say(type="class_show_gallery", shown=True)
            assert len(await gallery(bo, "done", "done")) == 2
            await teacher.say(type="class_show_gallery", shown=False)
            assert len(await gallery(bo, "done")) == 1
            await ada.say(type="class_forget")
            (left,) = await gallery(teacher, "done")
            assert makers(left) == ["Bo"]

    with serving(tries_app(tmp_path, NumberedStage(FAST))) as address:
        run_async(go(address))


def test_a_restart_brings_the_gallery_back_and_ends_what_ran(
    tmp_path: Path, run_async: Run
) -> None:
    known: dict[str, str] = {}

    async def before(address: str) -> None:
        async with trying(address, "Ada") as (teacher, ada):
            await teacher.say(type="class_show_gallery", shown=True)
            await attempt(ada, hogs=2, seconds=1)
            await gallery(ada, "done")
            await attempt(ada, hogs=3, seconds=ENDLESS_S)
            await gallery(ada, "done", "running")
            for key in ("code", "class_id"):
                known[key] = next(x for x in teacher.seen if x["type"] == "class")[key]

    async def after(address: str) -> None:
        async with browser(address, "teacher") as teacher, browser(address, "Cy") as late:
            await teacher.say(type="class_resume", class_id=known["class_id"])
            one, other = await gallery(teacher, "done", "failed")
            assert one["result"]["ratio"] == 0.2 and makers(one) == ["Ada"]
            assert "The server ended" in other["sentence"]
            await join(late, known["code"], "Cy")
            opened = await late.until_type("class_opened")
            assert opened["gallery"] and opened["steps"][0]["step"] == STEP
            assert len(await gallery(late, "done", "failed")) == 2

    with serving(tries_app(tmp_path, NumberedStage(FAST))) as address:
        run_async(before(address))
    with serving(tries_app(tmp_path, NumberedStage(FAST))) as address:
        # Cookies are named by the port; the class is the browser's, whichever port it is.
        run_async(after(address))


def test_only_the_instructor_shows_two_runs_and_who_comes_late_lands_there(
    tmp_path: Path, run_async: Run
) -> None:
    async def go(address: str) -> None:
        async with trying(address, "Ada") as (teacher, ada), page(address) as late:
            state = next(x for x in teacher.seen if x["type"] == "class")
            both = f"?lesson={SLUG}&step={STEP}&run=three-hogs&with=kept:{SLUG}:run-1"
            await teacher.say(type="class_drive", lesson=SLUG, step=STEP, place=both)
            assert (await ada.until_type("class_place"))["place"] == both
            await join(late, state["code"], "Cy")
            assert (await late.until_type("class_place"))["place"] == both
            member = next(x for x in ada.seen if x["type"] == "class_welcome")["member"]
            await teacher.say(type="class_hand", member=member)
            await ada.until_type("class", driving=True)
            error = await refused(ada, type="class_drive", lesson=SLUG, step=STEP, place=both)
            assert error["code"] == "forbidden" and "two runs" in error["sentence"]
            await drive(ada, STEP)
            assert "with=" not in (await late.until_type("class_place"))["place"]

    with serving(tries_app(tmp_path, NumberedStage(FAST))) as address:
        run_async(go(address))
