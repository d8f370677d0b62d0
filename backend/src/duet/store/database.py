# SPDX-License-Identifier: GPL-2.0-or-later
"""Engine, migrations and settings of the database, and class ownership among several servers.

SQLite uses WAL and syncs each commit (synchronous=FULL): a commit survives a kill and a power cut.
Source: https://sqlite.org/pragma.html#pragma_synchronous.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from sqlalchemy import Connection, Engine, Row, create_engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from duet.base import plugins
from duet.base.callbacks import Callbacks
from duet.base.errors import InfraError, InputError
from duet.base.settings import runs_dir, whole_number
from duet.store.limits import BUSY_MS, DEAD_PEER_S, END_MS, HUNG_S, LOCK_S, PROBE_S, PROBES

MIGRATIONS: Final = Path(__file__).with_name("migrations")
PRAGMAS: Final = {
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "foreign_keys": "ON",
    "busy_timeout": str(BUSY_MS),
    "secure_delete": "ON",
}
"""secure_delete overwrites deleted rows in the file, since members may delete their data."""
MODE: Final = 0o600
"""Permissions of the file, which contains nicknames and answers."""


def engine_of(url: str, **connect_args: Any) -> Engine:
    """Create the engine for a SQLAlchemy URL. For SQLite, also create the folder and the file.

    Args:
        connect_args: arguments for the driver. With such arguments, the pool has only one
            connection.

    Raises:
        InputError: the URL is invalid.
        InfraError: the driver is missing, or the file cannot be created.
    """
    remedy = "Give DUET_CLASSES_DB such as sqlite:////path/classes.sqlite, or unset it."
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            _make_file(parsed)
        one: dict[str, Any] = {"pool_size": 1, "max_overflow": 0} if connect_args else {}
        engine = create_engine(
            parsed,
            pool_pre_ping=parsed.get_backend_name() != "sqlite",
            connect_args=connect_args,
            **one,
        )
    except (ArgumentError, NoSuchModuleError) as error:
        raise InputError("DUET_CLASSES_DB is not a SQLAlchemy URL.", remedy=remedy) from error
    except ImportError as error:
        raise InfraError(
            f"the driver for the class database is missing ({error.name}).",
            remedy=f"Install the driver: .venv/bin/pip install {error.name}",
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _begin_sqlite)
        event.listen(engine, "begin", _begin_transaction)
    return engine


def backend_of(url: str) -> str:
    """Return the backend of a URL, such as `sqlite` or `postgresql`; '' if the URL is invalid."""
    try:
        return make_url(url).get_backend_name()
    except ArgumentError:
        return ""


def file_of(url: str) -> Path | None:
    """Return the file of an SQLite URL; None for another database or an invalid URL."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return None
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        return None
    return None if parsed.database == ":memory:" else Path(parsed.database)


def upgrade(connection: Connection) -> None:
    """Migrate the database to the newest revision, in the caller's transaction.

    Raises:
        InputError: the database has a revision from a newer Kernel Duet.
    """
    from alembic import command  # importing alembic takes 0.3 s, so only a store's thread does it
    from alembic.config import Config
    from alembic.util import CommandError

    revisions = [
        Path(str(one.__file__)).with_name("migrations") for one in plugins.offered("tables")
    ]
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    locations = os.pathsep.join(map(str, revisions))
    config.set_main_option("version_locations", locations.replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "heads")
    except CommandError as error:
        raise InputError(
            "the class database has a revision that this version of Kernel Duet does not know.",
            remedy="Use the newer version again, or name another database with DUET_CLASSES_DB.",
            detail=str(error),
        ) from error


@contextmanager
def open_transaction() -> Iterator[Connection]:
    """Open the database and begin a transaction, for a program other than the server.

    Raises:
        InfraError: the database cannot be opened, or reports an error.
    """
    engine = engine_of(classes_url())
    try:
        with engine.begin() as connection:
            upgrade(connection)
            yield connection
    except SQLAlchemyError as error:
        raise database_error(error) from error
    finally:
        engine.dispose()


def database_error(error: SQLAlchemyError) -> InfraError:
    """Return the error to report for an exception from the database."""
    reason = str(getattr(error, "orig", None) or error).splitlines()[0]
    return InfraError(
        f"the database of classes reports an error: {reason:.200}.",
        remedy="Check its disk space and permissions (docs/CLASSES.md), then try again.",
    )


def _make_file(url: URL) -> None:
    if not url.database or url.database == ":memory:":
        return
    path = Path(url.database)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, MODE))
    except OSError as error:
        raise InfraError(
            f"the class database cannot be opened: {error.strerror} ({path}).",
            remedy="Name another file with DUET_CLASSES_DB, such as sqlite:////path/file.",
        ) from error


def _begin_sqlite(connection: Any, _: object) -> None:
    """Prevent Python's sqlite3 from beginning transactions. Our transactions are immediate, even
    for reads."""
    connection.isolation_level = None
    for name, value in PRAGMAS.items():
        connection.execute(f"PRAGMA {name} = {value}").close()


def _begin_transaction(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


# The database session of one of several servers. Its locks mark the classes that the server owns.
#
# A broken session loses its locks, and another server may own the classes before the next session
# begins. So a call that was queued during an earlier session is refused in the new session.

Result = TypeVar("Result")
INFO: Final = "duet session"
SETTINGS: Final = {
    "tcp_keepalives_idle": str(PROBE_S),
    "tcp_keepalives_interval": str(PROBE_S),
    "tcp_keepalives_count": str(PROBES),
    "tcp_user_timeout": str(DEAD_PEER_S * 1000),
    "lock_timeout": f"{LOCK_S}s",
}
"""Settings with which PostgreSQL detects a dead server machine and releases its classes.

Linux does not probe a connection that has unconfirmed data; tcp_user_timeout covers that case.
"""


def connect_args(server: str) -> dict[str, Any]:
    """Return libpq's arguments: this server's address, and timeouts for a dead database."""
    return {
        "application_name": server,
        "connect_timeout": DEAD_PEER_S,
        "keepalives_idle": PROBE_S,
        "keepalives_interval": PROBE_S,
        "keepalives_count": PROBES,
        "tcp_user_timeout": DEAD_PEER_S * 1000,
    }


class Sessions:
    """Numbers the database sessions, so that calls from lost sessions can be refused.

    Each call carries the session number that the event loop knows. The store's thread knows the
    newest number, and refuses calls with another number.

    Attributes:
        lost: called on the event loop after a session is lost, before the next session is used.
    """

    def __init__(self) -> None:
        self.lost = Callbacks[[]]()
        self._known = 1
        self._made = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self) -> None:
        self._loop = asyncio.get_running_loop()

    def attach(self, engine: Engine) -> None:
        """Give each new session of an engine the next number."""
        event.listen(engine, "connect", self._connected)

    def fenced(self, work: Callable[[Connection], Result]) -> Callable[[Connection], Result]:
        """Wrap work so that it is refused in any session other than the current one."""
        asked = self._known

        def checked(connection: Connection) -> Result:
            found = int(connection.info[INFO])
            if found != asked:
                if self._loop is not None:
                    self._loop.call_soon_threadsafe(self._renew, found)
                raise InfraError(
                    "the connection to the class database was lost and has been replaced.",
                    remedy="Try again in a few seconds.",
                )
            return work(connection)

        return checked

    def _connected(self, connection: Any, record: Any) -> None:
        self._made += 1
        record.info[INFO] = self._made
        for name, value in SETTINGS.items():
            connection.execute(f"SET {name} = '{value}'")
        connection.commit()

    def _renew(self, found: int) -> None:
        if found > self._known:
            self._known = found
            self.lost()


# Class ownership. A server owns a class if the server's database session holds the class's lock.
#
# PostgreSQL releases a session's locks when the session ends, so a dead server owns no classes. The
# application_name of a session is the address of its server. A server that hangs stops polling the
# database. Another server that needs one of its classes then ends the session of the hanging
# server.

UPGRADES: Final = "upgrades"
"""Name of the lock, used like a class id, that lets only one server at a time migrate tables."""

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
log = logging.getLogger("duet.store")


def claim(connection: Connection, class_id: str) -> str | None:
    """Try to acquire a class, and keep it until `release` or the end of this session.

    Returns:
        None if this session owns the class. Otherwise the owner's address, or '' if the owner has
            just ended.
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
    """Return the address of the server that owns a class; None if no server owns the class."""
    held = _holder(connection, class_id)
    return None if held is None else held.server or ""


def _holder(connection: Connection, class_id: str) -> Row[Any] | None:
    """Return (mine, server, pid, unused_s) of the session that holds a class's lock, or None."""
    return connection.execute(_HELD, {"key": _key(class_id)}).first()


def _end(connection: Connection, held: Row[Any]) -> None:
    """End the session of a hanging server. If the server recovers, it no longer owns classes."""
    log.error(
        "the server %s has not polled the database for %.0f s: its session is ended, and its "
        "classes are released",
        *(held.server or "of a class", held.unused_s),
    )
    connection.execute(_END, {"pid": held.pid, "within_ms": END_MS})


def servers(connection: Connection) -> list[str]:
    """Return the addresses of all servers of this database."""
    return [str(name) for name in connection.scalars(_SERVERS)]


def release(connection: Connection, class_id: str) -> None:
    connection.execute(_RELEASE, {"key": _key(class_id)})


def wait_for_upgrades(connection: Connection) -> None:
    """Wait for the lock for migrations, and hold the lock until the end of the transaction."""
    connection.execute(_WAIT, {"key": _key(UPGRADES)})


def _key(class_id: str) -> int:
    """Return the lock number of a class: 63 bits of a hash, so that collisions are improbable."""
    digest = hashlib.sha256(f"duet class {class_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


# Settings of the operator.


CLASSES_DAYS = 180


def classes_days() -> int:
    """Return the number of days for which ended classes are kept ($DUET_CLASSES_DAYS).

    Raises:
        InputError: the value is not a whole number from 0 to a million.
    """
    return whole_number("DUET_CLASSES_DAYS", CLASSES_DAYS, "delete classes once they have ended")


def classes_url() -> str:
    """Return the SQLAlchemy URL of the database: $DUET_CLASSES_DB.

    The default is a file next to the folder of saved runs. The file is named after the folder, so
    that servers with separate folders have separate classes.
    """
    runs = runs_dir().absolute()
    given = os.environ.get("DUET_CLASSES_DB")
    return given or f"sqlite:///{runs.with_name(f'{runs.name}-classes.sqlite')}"


NAME_BYTES = 63
"""PostgreSQL truncates a longer application_name."""


def servers_url() -> str:
    """Return this server's address for other servers that share its classes: $DUET_SERVERS_URL.

    Return '' if no other server shares this server's classes.

    Raises:
        InputError: the address is invalid, or the database cannot be shared.
    """
    given = os.environ.get("DUET_SERVERS_URL", "").rstrip("/")
    if not given:
        return ""
    try:
        parts = urlsplit(given)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc or parts.query or parts.fragment:
        raise InputError(
            f"DUET_SERVERS_URL must be the address of this server, but it is {given!r:.100}.",
            remedy="Set an address such as http://10.0.0.5:8642, or unset DUET_SERVERS_URL.",
        )
    if len(given.encode()) > NAME_BYTES or not given.isascii():
        raise InputError(
            f"DUET_SERVERS_URL may have at most {NAME_BYTES} characters, all of them ASCII.",
            remedy="Use an IP address or a shorter name.",
        )
    if backend_of(classes_url()) != "postgresql":
        raise InputError(
            "several servers can share classes only in PostgreSQL.",
            remedy="Set DUET_CLASSES_DB to a PostgreSQL URL, or unset DUET_SERVERS_URL.",
        )
    return given
