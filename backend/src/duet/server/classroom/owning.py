# SPDX-License-Identifier: GPL-2.0-or-later
"""Which classes are this server's to hold: all of them, or those whose lock it has."""

from __future__ import annotations

from sqlalchemy import Connection

from duet.classes import claims, queries, reading, try_queries
from duet.classes.records import ClassFacts, Stored


class Owning:
    """Of the only server. All of it runs in the thread of the store."""

    def start(self, connection: Connection, facts: ClassFacts) -> ClassFacts:
        """A new class, which is this server's."""
        return queries.start_class(connection, facts)

    def find(self, connection: Connection, class_id: str, code: str) -> Stored | str | None:
        """An open class by its id or its code; see load."""
        known = class_id or reading.open_class(connection, code)
        return self.load(connection, known) if known else None

    def load(self, connection: Connection, class_id: str) -> Stored | str | None:
        """An open class; None: there is none. A string: where its owner is reached."""
        stored = reading.load(connection, class_id)
        return None if stored is None or stored.facts.ended_s is not None else stored

    def release(self, connection: Connection, class_id: str) -> None:
        """A class has left the memory."""


class Shared(Owning):
    """Of one of several servers."""

    def start(self, connection: Connection, facts: ClassFacts) -> ClassFacts:
        """See Owning."""
        claims.claim(connection, facts.class_id)
        return super().start(connection, facts)

    def load(self, connection: Connection, class_id: str) -> Stored | str | None:
        """See Owning. What was to run for the class on a server that is dead has failed."""
        owner = claims.claim(connection, class_id)
        if owner is not None:
            return owner
        try_queries.end_unfinished(connection, class_id)
        stored = super().load(connection, class_id)
        if stored is None:
            claims.release(connection, class_id)
        return stored

    def release(self, connection: Connection, class_id: str) -> None:
        """See Owning."""
        claims.release(connection, class_id)
