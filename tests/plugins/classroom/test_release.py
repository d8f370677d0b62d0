# SPDX-License-Identifier: GPL-2.0-or-later
"""A class is free for other servers only once all that was asked for it is committed."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from duet.plugins.classroom import queries
from duet.plugins.classroom.records import MemberFacts
from duet.plugins.classroom.rooms import Ownership, Rooms, let_go
from tests.plugins.classroom.test_store import fill, store

BEHIND_S = 0.2


class DatabasePoll(Ownership):
    """Reads what another server would, at the moment when the class becomes free."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.members: list[str] = []

    def release(self, connection: Connection, class_id: str) -> None:
        with contextlib.closing(sqlite3.connect(self._file)) as other:
            names = other.execute("SELECT name FROM members WHERE class_id = ?", [class_id])
            self.members = [name for (name,) in names]


def test_what_was_asked_before_is_committed_before_a_class_is_free(
    tmp_path: Path, run_async: Any
) -> None:
    async def go() -> list[str]:
        async with store(tmp_path) as stored:
            facts = await stored.ask(fill)
            looking = DatabasePoll(tmp_path / "classes.sqlite")
            behind = asyncio.ensure_future(stored.ask(lambda c: time.sleep(BEHIND_S)))
            await asyncio.sleep(BEHIND_S / 4)
            new = MemberFacts("m9", "Bob", "1" * 64, time.time())
            joining = asyncio.ensure_future(
                stored.ask(lambda c: queries.add_member(c, facts.class_id, new))
            )
            await asyncio.sleep(0)
            await let_go(Rooms(stored, looking), facts.class_id)
            await asyncio.gather(behind, joining)
            return looking.members

    assert "Bob" in run_async(go())
