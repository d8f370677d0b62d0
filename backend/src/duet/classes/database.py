# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine of the database, and its revision.

SQLite writes ahead (WAL) and syncs each commit (synchronous=FULL): what is committed is there
after a kill and after a power cut. Source: https://sqlite.org/pragma.html#pragma_synchronous.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from duet.base.errors import InfraError, InputError
from duet.classes.limits import BUSY_MS

MIGRATIONS: Final = Path(__file__).with_name("migrations")
PRAGMAS: Final = {
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "foreign_keys": "ON",
    "busy_timeout": str(BUSY_MS),
    "secure_delete": "ON",
}
"""secure_delete: what a member has deleted is overwritten in the file."""
MODE: Final = 0o600
"""Nicknames and answers are in it."""


def engine_of(url: str, **connect_args: Any) -> Engine:
    """The engine for a SQLAlchemy URL; the folder and the file of an SQLite are made.

    Args:
        connect_args: for the driver; with some, there is one connection at most.

    Raises:
        InputError: it is no such URL.
        InfraError: the driver or the folder is missing.
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
        raise InputError("DUET_CLASSES_DB is not a URL of SQLAlchemy.", remedy=remedy) from error
    except ImportError as error:
        raise InfraError(
            f"the driver of the database of classes is missing ({error.name}).",
            remedy=f"Install it: .venv/bin/pip install {error.name}",
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _begin_sqlite)
        event.listen(engine, "begin", _begin_transaction)
    return engine


def backend_of(url: str) -> str:
    """`sqlite` or `postgresql`, say; empty: it is no URL of SQLAlchemy."""
    try:
        return make_url(url).get_backend_name()
    except ArgumentError:
        return ""


def file_of(url: str) -> Path | None:
    """The file of an SQLite URL; None: another database."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return None
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        return None
    return None if parsed.database == ":memory:" else Path(parsed.database)


def upgrade(connection: Connection) -> None:
    """Bring the database to the newest revision, in the caller's transaction.

    Raises:
        InputError: a newer Kernel Duet has written it.
    """
    from alembic import command  # 0.3 s, which only the thread of a store takes
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise InputError(
            "the database of classes has a revision that this Kernel Duet does not know.",
            remedy="Use the newer version again, or name another database with DUET_CLASSES_DB.",
            detail=str(error),
        ) from error


def trouble(error: SQLAlchemyError) -> InfraError:
    """Why nothing is stored, for the page."""
    reason = str(getattr(error, "orig", None) or error).splitlines()[0]
    return InfraError(
        f"the database of classes refused: {reason:.200}.",
        remedy="Make room on its disk and look at its rights (docs/CLASSES.md), then try again.",
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
            f"the database of classes cannot be opened: {error.strerror} ({path}).",
            remedy="Name another file with DUET_CLASSES_DB, such as sqlite:////path/file.",
        ) from error


def _begin_sqlite(connection: Any, _: object) -> None:
    """Python's sqlite3 shall begin no transaction by itself: ours are immediate, also to read."""
    connection.isolation_level = None
    for name, value in PRAGMAS.items():
        connection.execute(f"PRAGMA {name} = {value}").close()


def _begin_transaction(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
