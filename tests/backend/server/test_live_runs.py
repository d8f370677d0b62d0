# SPDX-License-Identifier: GPL-2.0-or-later
"""Live runs of several visitors over real sockets; only the guests behind them are synthetic."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from duet.api.app import create_app
from duet.base.budgets import FINISHED_RUNS
from duet.base.errors import InputError
from duet.host.guests import live_runs as runs_at_once
from duet.server import runs as performer
from duet.server import runs as run_requests
from duet.server.director import Director
from duet.server.run_board import Control
from tests.support.toy_server import SLUG, Page, page, serving
from tests.support.toy_stage import ToyKernels, ToyRecordings, ToyRun, ToyStage, toy_app

NOWHERE = Path("/nonexistent")


@contextlib.asynccontextmanager
async def pages(address: str, *names: str) -> AsyncIterator[list[Page]]:
    """Pages of browsers, each with the lesson open; equal names are tabs of one browser."""
    port = address.rpartition(":")[2]
    async with contextlib.AsyncExitStack() as stack:
        made = []
        for name in names:
            cookie = {"Cookie": f"duet-{port}={name:x<22}"}
            one = await stack.enter_async_context(page(address, additional_headers=cookie))
            await one.open()
            await one.until_type("lesson")
            made.append(one)
        yield made


def live_of(one: Page) -> set[str]:
    """Ids of live runs of which this page was sent anything."""
    return {x["run_id"] for x in one.seen if x["type"] in ("run", "batch") and of_live(x)}


def of_live(message: dict[str, Any]) -> bool:
    return str(message["run_id"]).startswith("kept:")


def test_two_run_live_a_third_has_the_recording_and_none_disturbs_another(run_async: Any) -> None:
    made: list[ToyRun] = []

    class Stage(ToyStage):
        def prepare(self, *given: Any) -> ToyRun:
            made.append(super().prepare(*given))
            return made[-1]

    def director(hub: Any) -> Director:
        return Director(hub, Stage(8.0), ToyRecordings(), ToyKernels(), slots=2)

    async def watch(address: str) -> None:
        async with pages(address, "ann", "bob", "eve") as (ann, bob, eve):
            await ann.start("srcu", hogs=2, seconds=4)
            await bob.start("rwsem", hogs=5, seconds=4)
            mine, his = await ann.begun(), await bob.begun()
            both = await eve.until(lambda x: x["type"] == "runs" and len(x["live"]) == 2)
            assert {run["run_id"] for run in both["live"]} == {mine, his}
            assert not any(run["yours"] for run in both["live"])
            await eve.open()
            assert (await eve.until_type("run"))["source"] == "recorded"
            await asyncio.gather(ann.until_over(), bob.until_over())
            await eve.until(lambda x: x["type"] == "runs" and not x["live"])
        assert [live_of(one) for one in (ann, bob, eve)] == [{mine}, {his}, set()]
        assert ann.of_run(mine, "metrics") and bob.of_run(his, "metrics")

    with serving(create_app(director, page=NOWHERE)) as address:
        run_async(watch(address))
    assert sorted(run.slot for run in made) == [0, 1]


def test_a_run_that_nobody_can_ask_for_any_more_gives_up_what_it_holds(run_async: Any) -> None:
    made: list[ToyRun] = []

    class Stage(ToyStage):
        def prepare(self, *given: Any) -> ToyRun:
            made.append(super().prepare(*given))
            return made[-1]

    async def watch(address: str) -> None:
        async with pages(address, "ann") as (ann,):
            for hogs in range(1, FINISHED_RUNS + 2):
                await ann.start("srcu", hogs=hogs, seconds=1)
                await ann.begun()
                await ann.until_over()

    def director(hub: Any) -> Director:
        return Director(hub, Stage(50.0), ToyRecordings(), ToyKernels())

    with serving(create_app(director, page=NOWHERE)) as address:
        run_async(watch(address))
    assert [run.closed for run in made] == [True] + [False] * FINISHED_RUNS


def test_who_waits_sees_his_place_and_only_the_page_that_asked_is_moved(run_async: Any) -> None:
    async def watch(address: str) -> None:
        async with pages(address, "ann", "bob", "bob", "eve") as (ann, bob, tab, eve):
            await ann.start("srcu", seconds=4)
            run_id = await ann.begun()
            await bob.start("rwsem", seconds=1)
            await eve.start("srcu", "rwsem", seconds=1)
            waits = await bob.until(lambda x: x["type"] == "runs" and x["waiting"])
            assert waits["waiting"]["place"] == 1
            assert 0 < waits["waiting"]["estimate_s"] < 60
            behind = await eve.until(lambda x: x["type"] == "runs" and x["waiting"])
            assert (behind["waiting"]["place"], behind["waiting"]["waiting"]) == (2, 2)
            # A link to a run that waits is a link to it, now and later.
            link = waits["waiting"]["run_id"]
            await eve.say(type="stop", run=behind["waiting"]["run_id"])
            await eve.until(lambda x: x["type"] == "runs" and not x["waiting"])
            await eve.open(link)
            assert (await eve.until_type("run", run_id=link))["phase"] == "preparing"
            await ann.say(type="stop", run=run_id)
            assert await bob.begun() == link
            await asyncio.gather(bob.until_over(), eve.until_over())
            assert (await tab.until_type("runs"))["live"][0]["run_id"] == run_id
            await tab.open()
            await tab.until_type("lesson")
            assert live_of(tab) == set() and not [x for x in tab.seen if x["type"] == "begun"]

    with serving(toy_app(NOWHERE, speed=8.0)) as address:
        run_async(watch(address))


def test_equal_requests_share_one_run_and_a_withdrawn_one_says_so(run_async: Any) -> None:
    async def watch(address: str) -> None:
        async with pages(address, "ann", "bob", "eve") as (ann, bob, eve):
            await ann.start("srcu", "rwsem", hogs=2, seconds=4)
            run_id = await ann.begun()
            await bob.start("rwsem", "srcu", hogs=2, seconds=4)
            assert await bob.begun() == run_id
            mine = await bob.until_type("control", run_id=run_id)
            assert (mine["by"], mine["yours"]) == ("other", True)
            await eve.start("srcu", hogs=3)
            waits = await eve.until(lambda x: x["type"] == "runs" and x["waiting"])
            link = waits["waiting"]["run_id"]
            await bob.open(link)
            await bob.until_type("run", run_id=link, phase="preparing")
            await eve.say(type="stop", run=link)
            assert "withdrawn" in (await bob.until_type("error", run=link))["sentence"]
            await ann.until_over()

    with serving(toy_app(NOWHERE, speed=8.0)) as address:
        run_async(watch(address))


def test_who_asks_right_after_the_end_of_an_equal_run_gets_a_new_one(run_async: Any) -> None:
    """A run is cleared away for a while after its pages have seen its end."""

    class Slow(ToyRun):
        async def perform(self, slot: int = 0) -> None:
            await super().perform(slot)
            await asyncio.sleep(1.5)

    class Stage(ToyStage):
        def prepare(self, request: Any, hub: Any) -> ToyRun:
            run = Slow(request, hub, self.speed)
            run.state("preparing")
            return run

    def director(hub: Any) -> Director:
        return Director(hub, Stage(8.0), ToyRecordings(), ToyKernels(), slots=2)

    async def watch(address: str) -> None:
        async with pages(address, "ann") as (ann,):
            await ann.start("srcu", hogs=2, seconds=2)
            first = await ann.begun()
            await ann.until_over()
            await ann.start("srcu", hogs=2, seconds=2)
            assert await ann.begun() != first
            await ann.until_over()

    with serving(create_app(director, page=NOWHERE)) as address:
        run_async(watch(address))


def test_a_run_that_does_not_end_when_it_is_to_gives_its_slot_up(
    monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setattr(performer, "END_RUN_S", 0.5)

    class Deaf(ToyRun):
        async def perform(self, slot: int = 0) -> None:
            self.state("running")
            await asyncio.sleep(3600)

    made: list[ToyRun] = []

    class Stage(ToyStage):
        def prepare(self, request: Any, hub: Any) -> ToyRun:
            kind = ToyRun if made else Deaf
            made.append(kind(request, hub, self.speed))
            made[-1].state("preparing")
            return made[-1]

    def director(hub: Any) -> Director:
        return Director(hub, Stage(8.0), ToyRecordings(), ToyKernels(), slots=1)

    async def watch(address: str) -> None:
        async with pages(address, "ann", "bob") as (ann, bob):
            await ann.start("srcu", hogs=2, seconds=2)
            run_id = await ann.begun()
            await ann.say(type="stop", run=run_id)
            assert "did not end within" in (await ann.until_type("error"))["sentence"]
            await bob.start("rwsem", hogs=3, seconds=2)
            await bob.begun()
            assert (await bob.until_over())["phase"] == "done"

    with serving(create_app(director, page=NOWHERE)) as address:
        run_async(watch(address))


def test_a_measurement_waits_for_live_runs_and_nothing_begins_beside_it(run_async: Any) -> None:
    async def watch(address: str) -> None:
        async with pages(address, "ann", "bob", "eve") as (ann, bob, eve):
            await ann.start("srcu", seconds=4)
            run_id = await ann.begun()
            await bob.say(type="measure", lesson=SLUG, arms=["rwsem", "srcu"], repeats=1)
            await bob.until(lambda x: x["type"] == "runs" and x["waiting"])
            await eve.start("rwsem", seconds=1)
            await eve.until(lambda x: x["type"] == "runs" and x["waiting"])
            await ann.say(type="stop", run=run_id)
            measures = await eve.until(
                lambda x: x["type"] == "runs" and x["live"] and x["live"][0]["purpose"] == "measure"
            )
            assert len(measures["live"]) == 1 and measures["waiting"]["place"] == 1
            await eve.begun()
            last = [x for x in eve.seen if x["type"] == "measured"][-1]
            assert last["done"] == last["total"]

    with serving(toy_app(NOWHERE, speed=8.0, slots=2)) as address:
        run_async(watch(address))


def test_a_judgement_is_for_who_asked_for_it(run_async: Any) -> None:
    async def watch(address: str) -> None:
        async with pages(address, "ann", "bob") as (ann, bob):
            ask = {"lesson": SLUG, "challenge": "one-word", "arm": "srcu-expedited"}
            await ann.say(type="judge", **ask)
            found = await ann.until_type("judged", phase="done")
            assert found["met"] is True and found["lines"][0]["says"] == "fast"
            phases = [x["phase"] for x in ann.seen if x["type"] == "judged"]
            assert phases[:2] == ["waiting", "measuring"]
            assert not [x for x in bob.seen if x["type"] == "judged"]
            await ann.say(type="judge", **{**ask, "challenge": "no-such"})
            assert "no challenge 'no-such'" in (await ann.until_type("error"))["sentence"]

    with serving(toy_app(NOWHERE, speed=8.0)) as address:
        run_async(watch(address))


def test_a_run_and_the_judgement_that_is_asked_for_with_it_both_happen(run_async: Any) -> None:
    async def watch(address: str) -> None:
        async with pages(address, "ann", "bob") as (ann, bob):
            await bob.start("rwsem", seconds=4)
            other = await bob.begun()
            await ann.start("srcu", seconds=1)
            await ann.until(lambda x: x["type"] == "runs" and x["waiting"])
            ask = {"lesson": SLUG, "challenge": "one-word", "arm": "srcu-expedited"}
            await ann.say(type="judge", **ask)
            waits = await ann.until_type("judged")
            assert waits["phase"] == "waiting" and "after your live run" in waits["because"]
            await ann.until(lambda x: x["type"] == "runs" and x["waiting"]["behind"] == "measure")
            run = await ann.begun()
            assert run != other
            await ann.until_over()
            assert (await ann.until_type("judged", phase="done"))["met"] is True
            assert not [x for x in ann.seen if x["type"] == "judged" and x["phase"] == "failed"]

    with serving(toy_app(NOWHERE, speed=8.0)) as address:
        run_async(watch(address))


def test_a_judgement_that_waits_can_be_taken_back(run_async: Any) -> None:
    async def watch(address: str) -> None:
        async with pages(address, "ann", "bob") as (ann, bob):
            await bob.start("rwsem", seconds=4)
            await bob.begun()
            ask = {"lesson": SLUG, "challenge": "one-word", "arm": "srcu-expedited"}
            await ann.say(type="judge", **ask)
            waits = await ann.until(lambda x: x["type"] == "runs" and x["waiting"])
            await ann.say(type="stop", run=waits["waiting"]["run_id"])
            assert "withdrawn" in (await ann.until_type("judged", phase="failed"))["because"]

    with serving(toy_app(NOWHERE, speed=8.0)) as address:
        run_async(watch(address))


def test_idle_control_is_free_and_held_guests_go_on(
    run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_requests, "Control", partial(Control, idle_s=0.5))

    async def watch(address: str) -> None:
        async with pages(address, "ann") as (ann,):
            await ann.start("srcu", seconds=40)
            run_id = await ann.begun()
            await ann.until_type("metrics")
            await ann.say(type="hold", on=True, after=0)
            await ann.until_type("held", phase="held")
            await ann.until_type("control", by="nobody")
            await ann.until_type("held", phase="going")
            assert ann.of_run(run_id, "run")[-1]["phase"] == "running"

    with serving(toy_app(NOWHERE)) as address:
        run_async(watch(address))


def test_a_run_whose_askers_have_gone_does_not_begin(run_async: Any) -> None:
    async def watch(address: str) -> None:
        async with pages(address, "ann") as (ann,):
            await ann.start("srcu", seconds=40)
            run_id = await ann.begun()
            async with pages(address, "bob") as (bob,):
                await bob.start("rwsem", seconds=1)
                waits = await bob.until(lambda x: x["type"] == "runs" and x["waiting"])
            await ann.say(type="stop", run=run_id)
            await ann.until(lambda x: x["type"] == "runs" and not x["live"])
            await ann.open(waits["waiting"]["run_id"])
            refused = await ann.until_type("error", run=waits["waiting"]["run_id"])
            assert "no run" in refused["sentence"]

    with serving(toy_app(NOWHERE)) as address:
        run_async(watch(address))


def test_runs_at_once_are_what_the_host_carries_or_what_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DUET_LIVE_RUNS", raising=False)
    assert runs_at_once() >= 1
    monkeypatch.setenv("DUET_LIVE_RUNS", "3")
    assert runs_at_once() == 3
    for wrong in ("0", "99", "many"):
        monkeypatch.setenv("DUET_LIVE_RUNS", wrong)
        with pytest.raises(InputError, match="DUET_LIVE_RUNS must be"):
            runs_at_once()
