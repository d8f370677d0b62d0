# SPDX-License-Identifier: GPL-2.0-or-later
"""Which classes go on, by code and id; in memory, since each request of a member wants it."""

from __future__ import annotations

import contextlib

from sqlalchemy import Connection, select

from duet.base.errors import DuetError
from duet.classes.limits import CALL_S
from duet.classes.store import ClassStore
from duet.classes.tables import CLASSES
from duet.classes.words import squeezed


class OpenClasses:
    """Read from the database once; whoever starts or ends a class says so."""

    def __init__(self) -> None:
        self._codes: dict[str, str] = {}
        """Squeezed code -> id."""
        self._changes = 0

    async def load(self, store: ClassStore) -> None:
        """Those of the database; as before where it cannot be read, or while they change here."""
        with contextlib.suppress(DuetError):
            await self.look(store)

    async def look(self, store: ClassStore, within_s: float = CALL_S) -> None:
        """See load.

        Raises:
            InfraError: the database does not say it within that time.
        """

        def read(connection: Connection) -> list[tuple[str, str]]:
            of = CLASSES.c.ended_s.is_(None)
            found = connection.execute(select(CLASSES.c.code_key, CLASSES.c.class_id).where(of))
            return [(row.code_key, row.class_id) for row in found]

        before = self._changes
        found = dict(await store.ask(read, within_s))
        if self._changes == before:
            self._codes = found

    def add(self, code: str, class_id: str) -> None:
        """A class has begun."""
        self._changes += 1
        self._codes[squeezed(code)] = class_id

    def drop(self, class_id: str) -> None:
        """It has ended."""
        self._changes += 1
        self._codes = {code: known for code, known in self._codes.items() if known != class_id}

    def by_code(self, code: str) -> str | None:
        """Its id, however the code is spelt."""
        return self._codes.get(squeezed(code))

    def goes_on(self, class_id: str) -> bool:
        """Whether a class has not ended."""
        return class_id in self._codes.values()
