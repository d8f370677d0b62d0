# SPDX-License-Identifier: GPL-2.0-or-later
"""A server that cannot reach the database gives its classes up, and stores nothing more of them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text
from websockets.exceptions import ConnectionClosed

from duet.base.errors import DuetError, InfraError
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom import queries
from duet.plugins.classroom import queries as reading
from duet.plugins.classroom.records import Stored
from duet.plugins.classroom.refusals import Elsewhere
from duet.plugins.classroom.room import Room
from duet.plugins.classroom.rooms import store_all
from duet.plugins.federation import shared as looking
from duet.plugins.federation.relay import MOVED
from duet.plugins.federation.shared import AWAY, DatabasePoll, SharedClassrooms
from duet.store.store import Store
from duet.stream.hub import Hub, Viewer
from duet.stream.viewer import CLOSE_RESTART
from tests.plugins.classroom.pages import join, start
from tests.plugins.classroom.stores import running
from tests.plugins.federation.several import database, server
from tests.support.people import until
from tests.support.toy_server import SLUG, Page, browser, page

__all__ = ["database"]
WITHIN_S = 30.0
ONE = "http://one"
BACKEND = text("SELECT pid FROM pg_stat_activity WHERE application_name = :server")
END = text(
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = :server"
)
START = cm.StartClass(type="class_start", lesson=SLUG)
POLL = cm.AskClass(type="class_ask", text="Why?", options=["a", "b"], round=1)


@pytest.fixture
def engine(database: str) -> Iterator[Engine]:
    made = create_engine(database)
    yield made
    made.dispose()


def end_session(engine: Engine, server: str) -> None:
    with engine.begin() as connection:
        assert list(connection.execute(END, {"server": server}))


@contextlib.contextmanager
def cut_off(engine: Engine, server: str) -> Iterator[None]:
    """The database answers nothing of what that server asks, and still counts it as alive."""
    with engine.begin() as connection:
        (pid,) = connection.scalars(BACKEND, {"server": server}).all()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def closed(one: Page) -> tuple[int, str]:
    """How the server closes a page."""
    with pytest.raises(ConnectionClosed) as found:
        await one.until_type("no such type")
    assert found.value.rcvd is not None
    return found.value.rcvd.code, found.value.rcvd.reason


def test_classes_are_given_up_once_each_time_that_the_database_is_silent(
    monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setattr(looking, "LOOK_S", 0.01)
    monkeypatch.setattr(looking, "GIVE_UP_S", 0.1)
    monkeypatch.setattr(looking, "HELD_S", 0.0)
    answers, lost, failed = True, 0, 0
    refusal = InfraError("away.", remedy="")

    async def look(within_s: float) -> None:
        if not answers:
            await asyncio.sleep(within_s)
            raise refusal

    async def held() -> None:
        nonlocal failed
        failed += 1
        raise (refusal, ValueError("odd"))[failed % 2]

    def given_up() -> None:
        nonlocal lost
        lost += 1

    async def go() -> None:
        nonlocal answers
        task = asyncio.create_task(DatabasePoll(look, held, given_up).go_on())
        for outage in (1, 2):
            asked = failed
            await until(lambda: failed > asked + 3, WITHIN_S)  # noqa: B023
            assert lost == outage - 1
            answers = False
            await until(lambda: lost == outage, WITHIN_S)  # noqa: B023
            await asyncio.sleep(0.15)
            assert lost == outage
            answers = True
        assert not task.done()
        task.cancel()

    run_async(go())


def test_pages_leave_a_server_that_the_database_does_not_answer(
    tmp_path: Path, engine: Engine, database: str, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setattr(looking, "LOOK_S", 0.05)
    monkeypatch.setattr(looking, "GIVE_UP_S", 0.5)

    async def go(address: str) -> None:
        async with browser(address, "teacher") as teacher, page(address) as member:
            facts = await start(teacher)
            welcome = await join(member, facts["code"], "m")
            with cut_off(engine, f"http://{address}"):
                for one in (teacher, member):
                    assert await closed(one) == (CLOSE_RESTART, MOVED)
            async with page(address) as member:
                again = await join(member, facts["code"], secret=welcome["secret"])
                assert again["name"] == "m"

    with server(tmp_path, database) as address:
        run_async(go(address))


def test_a_page_that_comes_back_while_the_database_fails_connects_once_more(
    tmp_path: Path, engine: Engine, database: str, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    async def begin(address: str) -> tuple[str, str]:
        async with browser(address, "teacher") as teacher, page(address) as one:
            code = (await start(teacher))["code"]
            return code, (await join(one, code, "m"))["secret"]

    async def go(address: str, code: str, secret: str) -> None:
        end_session(engine, f"http://{address}")
        async with page(address) as one:
            await one.say(type="class_join", code=code, secret=secret)
            assert await closed(one) == (CLOSE_RESTART, AWAY)
        async with page(address) as one:
            assert (await join(one, code, secret=secret))["name"] == "m"

    with server(tmp_path, database) as address:
        begun = run_async(begin(address))
    monkeypatch.setattr(looking, "LOOK_S", WITHIN_S)  # the page is first to ask
    with server(tmp_path, database) as address:
        run_async(go(address, *begun))


@dataclass
class Holding:
    """A server without a page's socket, and its only instructor's classes."""

    classes: SharedClassrooms
    hub: Hub
    store: Store
    teachers: list[Viewer]

    def rooms(self) -> list[Room]:
        return self.classes.rooms()

    async def refused(self, work: Any) -> str:
        with pytest.raises(DuetError) as found:
            await work
        assert isinstance(found.value, InfraError)
        return found.value.sentence


@contextlib.asynccontextmanager
async def holding(database: str, count: int = 1) -> AsyncIterator[Holding]:
    """Holds so many classes."""
    store, hub = Store(database, ONE), Hub()
    async with running(SharedClassrooms(store, None)) as classes:
        found = Holding(classes, hub, store, [hub.join() for _ in range(count)])
        for teacher in found.teachers:
            await classes.command(teacher, START)
        yield found


@pytest.fixture
def seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server does not look by itself."""
    monkeypatch.setattr(looking, "LOOK_S", WITHIN_S)


def stored(engine: Engine, room: Room) -> Stored:
    with engine.begin() as connection:
        found = reading.load(connection, room.facts.class_id)
    assert found is not None
    return found


class Forgetful(SharedClassrooms):
    """Carries the first command out, and dies before it has said so."""

    asked = 0

    async def here(self, viewer: Viewer, command: Any) -> None:
        await super().here(viewer, command)
        self.asked += 1
        if self.asked == 1:
            raise Elsewhere("")


def test_who_joins_while_the_owner_dies_is_one_member(database: str, run_async: Any) -> None:
    async def go() -> None:
        async with running(Forgetful(Store(database, ONE), None)) as classes:
            hub = Hub()
            await super(Forgetful, classes).here(hub.join(), START)
            (room,) = classes.rooms()
            join_ann = cm.JoinClass(type="class_join", code=room.facts.code, nickname="Ann")
            await classes.command(hub.join(), join_ann)
            assert classes.asked == 2
            await classes.command(hub.join(), join_ann)  # another page
            names = [member.facts.name for member in room.members.values()]
            assert names == ["Ann", "Ann 2"]

    run_async(go())


@pytest.mark.usefixtures("seldom")
def test_nothing_is_stored_of_a_class_that_is_lost_while_another_one_is(
    engine: Engine, database: str, run_async: Any
) -> None:
    async def go() -> None:
        async with holding(database, 2) as one:
            place = {"lesson": SLUG, "step": "s", "place": f"?lesson={SLUG}&step=s"}
            for teacher in one.teachers:
                await one.classes.command(teacher, cm.Drive(type="class_drive", **place))
            rooms = one.rooms()
            end_session(engine, ONE)
            await store_all(one.store, iter(rooms))
            assert not one.rooms() and all(teacher.comes_back for teacher in one.teachers)
            assert [stored(engine, room).place for room in rooms] == [None, None]

    run_async(go())


@pytest.mark.usefixtures("seldom")
def test_what_waits_in_a_class_that_is_lost_is_refused(
    engine: Engine, database: str, run_async: Any
) -> None:
    async def go() -> None:
        async with holding(database) as one:
            (room,), (teacher,) = one.rooms(), one.teachers
            end_session(engine, ONE)
            asked = (one.classes.command(teacher, POLL) for _ in range(2))
            first, second = await asyncio.gather(*asked, return_exceptions=True)
            assert "has been replaced" in str(first)
            assert "no longer owns the class" in str(second)
            assert stored(engine, room).questions == ()
            late = room.ask(one.store, lambda c: queries.set_driver(c, room.facts.class_id, "x"))
            assert "no longer owns" in await one.refused(late)
            with pytest.raises(InfraError, match="no longer owns"):
                one.classes._own.add_page(one.hub.join(), room, None)

    run_async(go())


@pytest.mark.usefixtures("seldom")
def test_a_class_that_is_lost_while_it_is_loaded_does_not_come_into_memory(
    engine: Engine, database: str, run_async: Any
) -> None:
    async def go() -> None:
        async with holding(database) as one:
            (room,) = one.rooms()
            one.classes._lost()
            coming = asyncio.create_task(one.classes._own._loaded(room.facts.class_id, ""))
            await asyncio.sleep(0)  # the database is asked
            one.classes._lost()
            assert "no longer owns" in await one.refused(coming)
            assert not one.rooms()
            resume = cm.ResumeClass(type="class_resume", class_id=room.facts.class_id)
            await one.classes.command(one.hub.join(), resume)
            assert len(one.rooms()) == 1

    run_async(go())
