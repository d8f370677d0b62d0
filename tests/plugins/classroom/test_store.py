# SPDX-License-Identifier: GPL-2.0-or-later
"""The store of classes on a real SQLite: what was acknowledged is there, and only that."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text

from duet.base import budgets
from duet.base.errors import DuetError, InfraError, InputError
from duet.plugins.classroom import queries
from duet.plugins.classroom import queries as reading
from duet.plugins.classroom import rooms as storing
from duet.plugins.classroom.purge import Purge
from duet.plugins.classroom.records import (
    AnswerFacts,
    ClassFacts,
    ConfusionFacts,
    MemberFacts,
    PlaceFacts,
    QuestionFacts,
)
from duet.plugins.classroom.tables import METADATA
from duet.store.database import engine_of, file_of, upgrade
from duet.store.limits import DAY_S
from duet.store.store import Store

FACTS = ClassFacts("c1", "", "Grace periods", "02-grace-periods", "teacher", 1000.0)
MEMBER = MemberFacts("m1", "Ada", "0" * 64, 1001.0)
QUESTION = QuestionFacts("one hog", "predict")
ANSWER = AnswerFacts("one hog", "predict", 1, "m1", choice=2, right=True)
Run = Callable[..., Any]


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'classes.sqlite'}"


@asynccontextmanager
async def store(folder: Path, days: int = 180) -> AsyncIterator[Store]:
    made = Store(url(folder))
    Purge(made, days)
    made.begin()
    try:
        yield made
    finally:
        await made.close()


def fill(connection: Connection) -> ClassFacts:
    """A class with a member, an answer, a place and confusion."""
    facts = queries.start_class(connection, replace(FACTS, started_s=time.time()))
    queries.add_member(connection, "c1", replace(MEMBER, joined_s=time.time()))
    queries.open_question(connection, "c1", QUESTION)
    queries.open_question(connection, "c1", replace(QUESTION, text="changed by nobody"))
    queries.put_answer(connection, "c1", replace(ANSWER, choice=0, right=False))
    queries.put_answer(connection, "c1", ANSWER)
    queries.put_place(connection, "c1", PlaceFacts(7, time.time(), {"step": "one hog"}))
    for _ in range(2):
        queries.add_confusion(connection, "c1", 30, "one hog")
    return facts


def test_what_was_stored_is_read_after_a_restart(tmp_path: Path, run_async: Run) -> None:
    async def go() -> None:
        async with store(tmp_path) as one:
            facts = await one.ask(fill)
        async with store(tmp_path) as one:
            found = await one.ask(lambda c: reading.load(c, "c1"))
            assert found is not None
            assert found.facts == facts and found.place is not None
            assert (found.place.number, found.place.fields) == (7, {"step": "one hog"})
            assert [member.name for member in found.members] == ["Ada"]
            assert found.questions == (QUESTION,) and found.answers == (ANSWER,)
            assert found.confusion == (ConfusionFacts(30, "one hog", 2),)
            spelt = facts.code.replace("-", " ").upper()
            assert await one.ask(lambda c: reading.open_class(c, spelt)) == "c1"
            lines = await one.ask(lambda c: reading.classes_of(c, "teacher"))
            assert lines == [(facts, 1)]
            assert await one.ask(lambda c: reading.classes_of(c, "another")) == []

    run_async(go())


def test_sqlite_syncs_each_commit_and_hides_the_file(tmp_path: Path, run_async: Run) -> None:
    async def go() -> dict[str, Any]:
        async with store(tmp_path) as one:
            names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")

            def ask(connection: Connection) -> dict[str, Any]:
                return {n: connection.scalar(text(f"PRAGMA {n}")) for n in names}

            return await one.ask(ask)

    found = run_async(go())
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
    assert (tmp_path / "classes.sqlite").stat().st_mode & 0o777 == 0o600


def test_a_call_that_fails_takes_no_other_with_it(tmp_path: Path, run_async: Run) -> None:
    """They wait together, so they share a transaction."""

    async def go() -> list[Any]:
        made = Store(url(tmp_path))
        members = [MEMBER, replace(MEMBER, name="again"), replace(MEMBER, member="m2", name="Bo")]
        calls = [asyncio.create_task(made.ask(fill))]
        calls += [
            asyncio.create_task(made.ask(lambda c, m=m: queries.add_member(c, "c1", m)))
            for m in members
        ]
        await asyncio.sleep(0.05)  # all of them wait now
        made.begin()
        done = await asyncio.gather(*calls, return_exceptions=True)
        found = await made.ask(lambda c: reading.load(c, "c1"))
        await made.close()
        assert found is not None and [m.name for m in found.members] == ["Bo", "Ada"]
        return done[1:]

    first, second, third = run_async(go())
    assert isinstance(first, InfraError) and "UNIQUE" in first.sentence
    assert isinstance(second, InfraError) and third is None


def test_a_member_who_is_forgotten_leaves_no_trace_in_the_file(
    tmp_path: Path, run_async: Run
) -> None:
    async def go() -> None:
        async with store(tmp_path) as one:
            await one.ask(fill)
            name = replace(MEMBER, member="m3", name="Zebulon-Quirinus")
            await one.ask(lambda c: queries.add_member(c, "c1", name))
            await one.ask(lambda c: queries.put_answer(c, "c1", replace(ANSWER, member="m3")))
            await one.ask(lambda c: queries.set_driver(c, "c1", "m3"))
            await one.ask(lambda c: queries.forget_member(c, "c1", "m3"))
            found = await one.ask(lambda c: reading.load(c, "c1"))
            assert found is not None and found.facts.driver == ""
            assert [a.member for a in found.answers] == ["m1"]

    run_async(go())
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == ["classes.sqlite"], "the log is folded in at the end"
    assert b"Quirinus" not in files[0].read_bytes()


def test_old_classes_are_deleted_and_unused_ones_end(tmp_path: Path, run_async: Run) -> None:
    now_s = time.time()

    def several(connection: Connection) -> None:
        for name, started, ended in (
            ("old", 300, 200), ("young", 300, 100), ("forgotten", 300, None), ("used", 1, None),
        ):  # fmt: skip
            facts = replace(FACTS, class_id=name, started_s=now_s - started * DAY_S)
            queries.start_class(connection, facts)
            if ended is not None:
                queries.end_class(connection, name, now_s - ended * DAY_S)

    async def go() -> dict[str, bool]:
        async with store(tmp_path) as one:
            await one.ask(several)
        async with store(tmp_path) as one:
            found = await one.ask(lambda c: reading.classes_of(c, "teacher"))
        return {facts.class_id: facts.ended_s is None for facts, _ in found}

    assert run_async(go()) == {"young": False, "forgotten": False, "used": True}


def test_a_server_that_runs_on_deletes_old_classes(
    tmp_path: Path, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does twice a day."""
    for name in ("PLACE_EVERY_S", "DELETE_EVERY_S"):
        monkeypatch.setattr(storing, name, 0.05)

    async def go() -> None:
        async with store(tmp_path, days=1) as one:
            await one.ask(fill)
            await one.ask(lambda c: queries.end_class(c, "c1", time.time() - 2 * DAY_S))
            purge = Purge(one, 1)
            work = asyncio.create_task(storing.keep_storing(one, [], purge))
            async with asyncio.timeout(30):
                while await one.ask(lambda c: reading.load(c, "c1")) is not None:
                    pass
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    run_async(go())


def test_a_store_that_is_behind_refuses(
    tmp_path: Path, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "CLASS_WAITING", 2)

    async def go() -> tuple[DuetError, DuetError]:
        async with store(tmp_path) as one:
            await one.ask(fill)
            slow = asyncio.create_task(one.ask(lambda c: time.sleep(0.5)))
            await asyncio.sleep(0.1)
            waiting = [asyncio.create_task(one.ask(lambda c: None)) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(InfraError, match="is overloaded") as full:
                await one.ask(lambda c: None)
            await asyncio.gather(slow, *waiting)
            with pytest.raises(InfraError, match="did not answer") as late:
                await one.ask(lambda c: time.sleep(0.5), within_s=0.05)
        return full.value, late.value

    assert all(error.remedy for error in run_async(go()))


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        ("no url", InputError, "not a SQLAlchemy URL"),
        ("nosuch://x", InputError, "not a SQLAlchemy URL"),
        ("sqlite:////proc/nothing/classes.sqlite", InfraError, "cannot be opened"),
    ],
)
def test_a_database_that_cannot_be_opened_is_one_sentence(
    run_async: Run, given: str, kind: type[DuetError], says: str
) -> None:
    async def go() -> None:
        made = Store(given)
        made.begin()
        with pytest.raises(kind, match=says):
            await made.ask(lambda c: None)
        await made.close()

    run_async(go())


def test_migrations_make_the_tables(tmp_path: Path) -> None:
    engine = engine_of(url(tmp_path))
    with engine.begin() as connection:
        upgrade(connection)
        upgrade(connection)
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def test_a_newer_database_is_named(tmp_path: Path) -> None:
    engine = engine_of(url(tmp_path))
    with engine.begin() as connection:
        upgrade(connection)
        connection.execute(text("DELETE FROM alembic_version"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('9999')"))
    with engine.begin() as connection, pytest.raises(InputError, match="revision"):
        upgrade(connection)
    engine.dispose()
    with sqlite3.connect(tmp_path / "classes.sqlite") as raw:
        assert raw.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]
    raw.close()


def test_the_file_of_a_url() -> None:
    assert file_of("sqlite:////a/b.sqlite") == Path("/a/b.sqlite")
    assert file_of("sqlite://") is None and file_of("postgresql://x/y") is None
    assert file_of("no url") is None


def test_a_full_disk_refuses_answers_and_loses_none_that_was_confirmed(
    tmp_path: Path, run_async: Run
) -> None:
    """SQLite itself refuses: the file may have no further page. Calls come together."""

    def limit(connection: Connection, pages: int) -> None:
        there = connection.scalar(text("PRAGMA page_count"))
        connection.exec_driver_sql(f"PRAGMA max_page_count = {there + pages}")

    async def go() -> tuple[int, int]:
        async with store(tmp_path) as one:
            await one.ask(fill)
            await one.ask(lambda c: limit(c, 3))
            confirmed, refused = set[str](), 0

            async def put(number: int) -> None:
                nonlocal refused
                step = f"{number:>03}" * 20  # so that a page has few of them
                question = replace(QUESTION, question=step)
                try:
                    await one.ask(lambda c: queries.put_question(c, "c1", question))
                except InfraError as error:
                    assert "full" in error.sentence
                    refused += 1
                else:
                    confirmed.add(step)

            for turn in range(10):
                await asyncio.gather(*(put(number) for number in range(turn * 30, turn * 30 + 30)))
            await one.ask(lambda c: limit(c, 1000))
            await put(999)
            found = await one.ask(lambda c: reading.load(c, "c1"))
        assert found is not None
        there = {question.question for question in found.questions}
        assert confirmed <= there and len(there) <= len(confirmed) + 1
        return len(confirmed), refused

    confirmed, refused = run_async(go())
    assert confirmed >= 1 and refused >= 1
