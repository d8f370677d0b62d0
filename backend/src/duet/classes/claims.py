# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of several servers owns a class: the one whose database session has its lock.

PostgreSQL takes the locks of a session back when the session ends, so a class is free as soon as
its server is dead. The session says in its application_name where its server is reached. A server
that hangs stops its looks at the database: whoever wants one of its classes ends its session.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from typing import Any, Final

from sqlalchemy import Connection, Row, select, text
from sqlalchemy.dialects.postgresql import insert

from duet.classes.limits import END_MS, HUNG_S
from duet.classes.tables import SECRETS

RELAY: Final = "relay"
"""Name of the secret by which servers know each other."""
SECRET_BYTES: Final = 32
UPGRADES: Final = "upgrades"
"""Named like a class: only one server at a time changes tables."""

_CLAIM: Final = text("SELECT pg_try_advisory_lock(:key)")
_RELEASE: Final = text("SELECT pg_advisory_unlock(:key)")
_WAIT: Final = text("SELECT pg_advisory_xact_lock(:key)")
_HELD: Final = text(
    "SELECT l.pid = pg_backend_pid() AS mine, a.application_name AS server, a.pid AS pid,"
    " CASE WHEN a.state = 'active' THEN 0"
    " ELSE EXTRACT(EPOCH FROM clock_timestamp() - a.state_change) END AS unused_s"
    " FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
    " WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1"
    " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (l.classid::bigint << 32 | l.objid::bigint) = :key"
)
_END: Final = text("SELECT pg_terminate_backend(:pid, :within_ms)")
_SERVERS: Final = text(
    "SELECT DISTINCT application_name FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name LIKE 'http%'"
)
log = logging.getLogger("duet.classes")


def claim(connection: Connection, class_id: str) -> str | None:
    """Own a class from now on, until `release` or the end of this session.

    Returns:
        None: it is owned here; else where its owner is reached, empty if that has just ended.
    """
    held = _holder(connection, class_id)
    if held is not None and held.mine:
        return None
    if held is not None and held.unused_s > HUNG_S:
        _end(connection, held)
        held = None
    if held is None and connection.scalar(_CLAIM, {"key": _key(class_id)}):
        return None
    return owner(connection, class_id) or ""


def owner(connection: Connection, class_id: str) -> str | None:
    """Where the server is reached that owns a class; None: none does."""
    held = _holder(connection, class_id)
    return None if held is None else held.server or ""


def _holder(connection: Connection, class_id: str) -> Row[Any] | None:
    """The session that has the lock of a class: mine, server, pid, unused_s."""
    return connection.execute(_HELD, {"key": _key(class_id)}).first()


def _end(connection: Connection, held: Row[Any]) -> None:
    """End the session of a server that hangs; should that go on, it owns nothing any more."""
    log.error(
        "the server %s has not looked at the database for %.0f s: its session is ended, and its "
        "classes are free",
        *(held.server or "of a class", held.unused_s),
    )
    connection.execute(_END, {"pid": held.pid, "within_ms": END_MS})


def servers(connection: Connection) -> list[str]:
    """Where all servers of this database are reached."""
    return [str(name) for name in connection.scalars(_SERVERS)]


def release(connection: Connection, class_id: str) -> None:
    """Own a class no more."""
    connection.execute(_RELEASE, {"key": _key(class_id)})


def wait_for_upgrades(connection: Connection) -> None:
    """Until no other server changes tables; this one may, until the end of its transaction."""
    connection.execute(_WAIT, {"key": _key(UPGRADES)})


def shared_secret(connection: Connection) -> str:
    """The secret of all servers of this database; the first one makes it."""
    made = {"name": RELAY, "secret": secrets.token_urlsafe(SECRET_BYTES)}
    connection.execute(insert(SECRETS).values(made).on_conflict_do_nothing())
    return str(connection.scalar(select(SECRETS.c.secret).where(SECRETS.c.name == RELAY)))


def _key(class_id: str) -> int:
    """A lock's number: 63 bits, so that no two classes meet."""
    digest = hashlib.sha256(f"duet class {class_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
