# SPDX-License-Identifier: GPL-2.0-or-later
"""The database of classes in a backup: one moment of it, also while a server writes."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InputError
from duet.plugins.classroom import queries
from duet.plugins.classroom import queries as reading
from duet.plugins.classroom.records import (
    AnswerFacts,
    ClassFacts,
    MemberFacts,
    QuestionFacts,
    Stored,
)
from duet.server.backup import Places, kind_of, make, restore
from duet.store.store import Store

ANSWER = AnswerFacts("s", "q", 1, "m", value=0.0)


def places(root: Path) -> Places:
    return Places(
        root / "runs", root / "access.json", root / "changes", root / "data/classes.sqlite"
    )


async def opened(where: Places) -> Store:
    store = Store(f"sqlite:///{where.classes}")
    store.begin()
    await store.ask(lambda c: None)
    return store


async def fill(store: Store, name: str) -> None:
    facts = ClassFacts(name, "", name, "02-grace-periods", "teacher", time.time())
    await store.ask(lambda c: queries.start_class(c, facts))
    await store.ask(lambda c: queries.add_member(c, name, MemberFacts("m", "Ada", "0", 1.0)))
    await store.ask(lambda c: queries.put_question(c, name, QuestionFacts("s", "q")))


async def put(store: Store, value: float) -> None:
    await store.ask(lambda c: queries.put_answer(c, "c", replace(ANSWER, value=value)))


async def found(where: Places, name: str) -> Stored | None:
    store = await opened(where)
    try:
        return await store.ask(lambda c: reading.load(c, name))
    finally:
        await store.close()


def test_a_backup_has_what_was_confirmed_before_it(tmp_path: Path, run_async: Any) -> None:
    """Answers come all the time; what a backup has is a whole database of one moment."""
    there = places(tmp_path / "there")

    async def go() -> None:
        store = await opened(there)
        await fill(store, "c")
        confirmed = 0.0

        async def answer() -> None:
            nonlocal confirmed
            while True:
                await put(store, confirmed + 1)
                confirmed += 1

        work = asyncio.create_task(answer())
        for number in range(8):
            await asyncio.sleep(0.02)
            before = confirmed
            backup, here = tmp_path / f"b{number}", places(tmp_path / f"here{number}")
            contents = await asyncio.to_thread(make, backup, there)
            assert contents.counts() == {"classes": 1}
            restore(backup, here, replace=False)
            stored = await found(here, "c")
            assert stored is not None
            (one,) = stored.answers
            assert one.value is not None and before <= one.value <= confirmed + 1
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await store.close()

    run_async(go())


def test_a_restored_database_takes_nothing_of_the_former_one(
    tmp_path: Path, run_async: Any
) -> None:
    there, backup = places(tmp_path / "there"), tmp_path / "backup"

    async def go() -> None:
        store = await opened(there)
        await fill(store, "first")
        make(backup, there)
        await fill(store, "second")
        assert there.classes is not None
        ahead = there.classes.with_name("classes.sqlite-wal").read_bytes()
        await store.close()
        # As if the server had been killed: its last pages lie ahead of the file.
        there.classes.with_name("classes.sqlite-wal").write_bytes(ahead)
        with pytest.raises(InputError, match="already stored here"):
            restore(backup, there, replace=False)
        restore(backup, there, replace=True)
        assert await found(there, "first") is not None
        assert await found(there, "second") is None
        assert there.classes.stat().st_mode & 0o777 == 0o600

    run_async(go())


def test_another_database_has_a_backup_of_its_own(
    tmp_path: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, backup = places(tmp_path / "there"), tmp_path / "backup"
    run_async(opened_and_closed(there))
    make(backup, there)
    monkeypatch.setenv("DUET_CLASSES_DB", "postgresql://server/classes")
    here = Places.default()
    assert here.classes is None
    with pytest.raises(InputError, match="another database"):
        restore(backup, replace_runs(here, tmp_path), replace=True)
    monkeypatch.setenv("DUET_CLASSES_DB", "")
    monkeypatch.setenv("DUET_RUNS", str(tmp_path / "runs"))
    assert Places.default().classes == tmp_path / "runs-classes.sqlite"
    assert kind_of("classes.sqlite") == "classes" and kind_of("classes/x.sqlite") is None


async def opened_and_closed(where: Places) -> None:
    await (await opened(where)).close()


def replace_runs(where: Places, folder: Path) -> Places:
    """The same, with other files in a folder of the test."""
    return Places(folder / "r", folder / "a.json", folder / "c", where.classes)
