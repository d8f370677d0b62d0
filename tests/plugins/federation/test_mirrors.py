# SPDX-License-Identifier: GPL-2.0-or-later
"""A live run of one server is watched at another one, as it goes on and when its server is gone."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgpack
import pytest
from sqlalchemy import create_engine

from duet import messages as m
from duet.base.errors import InfraError
from duet.host.protocol import packed
from duet.messages.codec import Packet, pack
from duet.plugins.federation import mirrors, relay
from duet.plugins.federation.mirrors import Mirror
from duet.session import RunSpec
from duet.stream.hub import Hub
from tests.plugins.classroom.pages import join, start
from tests.plugins.classroom.trying import (
    ENDLESS_S,
    STEP,
    NumberedRun,
    NumberedStage,
    attempt,
    gallery,
)
from tests.plugins.federation.several import database, server
from tests.support.toy_server import SLUG, Message, Page, browser, page, reported
from tests.support.toy_stage import NOW, ToyRun, ToyStage

__all__ = ["database"]
FAST = 50.0
WITHIN_S = 30.0
CHANGED = "own-rwsem-0123456789"
RUN_ID = f"kept:{SLUG}:run-20260101-000000-abcdef"


async def watched(one: Page, run_id: str) -> Message:
    """Open a run that goes on; gives who controls it, or the error that comes instead."""
    await one.open(run_id)
    return await one.until(lambda found: found["type"] in ("control", "error"))


def test_all_of_a_run_reaches_pages_of_another_server(
    tmp_path: Path, database: str, run_async: Any
) -> None:
    async def go(one: str, other: str) -> None:
        async with page(one) as first, page(other) as second, page(other) as third:
            await first.open("none")
            await first.start("rwsem", seconds=2)
            run_id = await first.begun()
            for follower in (second, third):
                await follower.open(run_id)
            for each in (first, second, third):
                assert (await each.until_over())["phase"] == "done"
            theirs = reported(first.seen, run_id)
            for follower in (second, third):
                await has_all(follower, run_id, theirs)
            ours = reported(second.seen, run_id)
            assert theirs == ours == reported(third.seen, run_id) and len(ours) == 2
            assert "there is no run" in (await watched(second, f"{run_id}x"))["sentence"]

    with server(tmp_path, database) as one, server(tmp_path, database) as other:
        run_async(go(one, other))


async def begin_endless(first: Page) -> str:
    await first.open("none")
    await first.start("rwsem", seconds=ENDLESS_S)
    return await first.begun()


async def has_all(one: Page, run_id: str, wanted: object) -> None:
    """Until a page has these batches: who came late reads first how the run ended."""
    async with asyncio.timeout(WITHIN_S):
        while reported(one.seen, run_id) != wanted:
            await one.until(lambda found: found["type"] in ("batch", "gap"))


async def endless_at(address: str) -> str:
    async with page(address) as first:
        return await begin_endless(first)


def test_a_run_is_controlled_at_its_own_server_alone(
    tmp_path: Path, database: str, run_async: Any
) -> None:
    async def go(one: str, other: str) -> None:
        async with page(one) as first, page(other) as second:
            run_id = await begin_endless(first)
            control = await watched(second, run_id)
            assert (control["type"], control["by"]) == ("control", "other")
            assert control["may_take"] is False
            await second.say(type="stop", run=run_id)
            assert "has ended" in (await second.until_type("error"))["sentence"]
            await first.say(type="stop", run=run_id)
            for each in (first, second):
                assert (await each.until_over())["phase"] == "stopped"

    stage = NumberedStage(FAST)
    with server(tmp_path, database, stage) as one, server(tmp_path, database) as other:
        run_async(go(one, other))


def test_a_run_whose_server_is_gone_has_failed_and_says_so(
    tmp_path: Path, database: str, run_async: Any
) -> None:
    with server(tmp_path, database) as other, contextlib.ExitStack() as stack:
        one = stack.enter_context(server(tmp_path, database, NumberedStage(FAST)))
        run_id = run_async(endless_at(one))

        async def go() -> None:
            async with page(other) as second:
                assert (await watched(second, run_id))["type"] == "control"
                stack.close()
                over = await second.until_over()
                assert over["phase"] == "failed" and "The run's server is gone" in over["message"]

        run_async(go())


def test_a_run_that_is_over_and_not_saved_comes_with_all_its_data(
    tmp_path: Path, database: str, run_async: Any
) -> None:
    async def go(one: str, other: str) -> None:
        async with page(one) as first, page(other) as second:
            await first.open("none")
            await first.start("rwsem", seconds=1)
            run_id = await first.begun()
            assert (await first.until_over())["phase"] == "done"
            wanted = reported(first.seen, run_id)
            assert wanted
            await second.open(run_id)
            await has_all(second, run_id, wanted)

    with server(tmp_path, database) as one, server(tmp_path, database) as other:
        run_async(go(one, other))


def test_a_run_that_broke_is_looked_for_anew(tmp_path: Path, database: str, run_async: Any) -> None:
    with server(tmp_path, database) as other, contextlib.ExitStack() as stack:
        one = stack.enter_context(server(tmp_path, database, NumberedStage(FAST)))
        run_id = run_async(endless_at(one))

        async def go() -> None:
            async with page(other) as second, page(other) as third:
                assert (await watched(second, run_id))["type"] == "control"
                stack.close()
                assert (await second.until_over())["phase"] == "failed"
                async with asyncio.timeout(WITHIN_S):
                    assert "there is no run" in (await watched(third, run_id))["sentence"]

        run_async(go())


class ChangedStage(ToyStage):
    """Its runs say that they have a changed patch."""

    def prepare(self, spec: RunSpec, hub: Hub) -> ToyRun:
        run = NumberedRun(replace(spec, arms=(CHANGED,)), hub, self.speed)
        run.begun, run.halt = [], asyncio.Event()
        run.state("preparing")
        return run


def test_a_run_with_a_changed_patch_costs_a_page_no_lesson(
    tmp_path: Path, database: str, run_async: Any
) -> None:
    async def go(one: str, other: str) -> None:
        async with page(one) as first, page(other) as second:
            run_id = await begin_endless(first)
            error = await watched(second, run_id)
            assert "has a changed patch" in error["sentence"] and error["run"] == run_id
            assert any(found["type"] == "lesson" for found in second.seen)

    stage = ChangedStage(FAST)
    with server(tmp_path, database, stage) as one, server(tmp_path, database) as other:
        run_async(go(one, other))


def test_a_server_that_is_silent_holds_up_no_run_of_another(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    for limit in ("RUN_S", "HAS_RUN_S"):
        monkeypatch.setattr(mirrors, limit, WITHIN_S)
    monkeypatch.setattr(relay, "DIAL_S", WITHIN_S)

    async def go(one: str, other: str) -> None:
        async with page(one) as first, page(other) as second, page(other) as third:
            run_id = await begin_endless(first)
            waiting = asyncio.create_task(watched(second, f"{run_id}x"))
            await asyncio.sleep(0.1)
            assert (await watched(third, run_id))["by"] == "other"
            assert not waiting.done()
            waiting.cancel()

    with (
        silent_servers(database),
        server(tmp_path, database, NumberedStage(FAST)) as one,
        server(tmp_path, database) as other,
    ):
        run_async(go(one, other))


@contextlib.contextmanager
def silent_servers(database: str) -> Iterator[None]:
    """Other servers of the database that take connections and say nothing."""
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            door = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            name = f"http://127.0.0.1:{door.getsockname()[1]}"
            engine = create_engine(database, connect_args={"application_name": name})
            stack.callback(engine.dispose)
            stack.enter_context(engine.connect())
        yield


def test_a_member_of_another_server_tries_a_run_at_the_owner_of_the_class(
    tmp_path: Path, database: str, run_async: Any
) -> None:
    async def go(one: str, other: str) -> None:
        async with browser(one, "teacher") as teacher, page(other) as member:
            await teacher.open("none")
            await member.open("none")
            facts = await start(teacher)
            await teacher.say(type="class_open_step", lesson=SLUG, step=STEP, knobs=True)
            await teacher.until(lambda found: found["type"] == "class_opened" and found["steps"])
            await join(member, facts["code"], "Ada")
            await attempt(member, hogs=2, seconds=ENDLESS_S)
            (tried,) = await gallery(member, "running")
            assert [maker["name"] for maker in tried["makers"]] == ["Ada"]
            assert (await watched(member, tried["run"]))["by"] == "other"

    stage = NumberedStage(FAST)
    with server(tmp_path, database, stage) as one, server(tmp_path, database) as other:
        run_async(go(one, other))
    assert len(stage.made) == 1


def run(**changes: object) -> m.Run:
    usual: dict[str, Any] = {"run_id": RUN_ID, "lesson": SLUG, "clock": "wall", "source": "live"}
    usual |= {"params": {}, "phase": "running", "workload": "storm", "arms": ["rwsem"]}
    usual |= {"started_at": NOW, "recorded_at": None, "message": ""}
    return m.Run(**usual | changes)


@pytest.mark.parametrize(
    "sent",
    [
        pack(run(run_id="another")),
        pack(run(arms=["own-rwsem-0123456789"])),
        pack(m.Begun(run_id=RUN_ID)),
        Packet(b"garbage", "run"),
        Packet(msgpack.packb({"type": "gap", "rows": -1}), "gap"),
        Packet(msgpack.packb(["run"]), "run"),
    ],
)
def test_what_is_no_message_of_the_run_is_refused(sent: Packet, run_async: Any) -> None:
    async def go() -> None:
        hub = Hub()
        mirror = Mirror(RUN_ID, hub)
        if b"own-" not in sent.body:
            mirror.take(packed(pack(run())))
        with pytest.raises(InfraError):
            mirror.take(packed(sent))
        mirror.broke(InfraError("it broke.", remedy=""))
        newest = mirror.log.run()
        assert newest is None or newest.phase == "failed"

    run_async(go())
