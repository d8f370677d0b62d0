# SPDX-License-Identifier: GPL-2.0-or-later
"""Where classes are stored and how long, as the operator wants it."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from duet.base.errors import InputError
from duet.base.settings import runs_dir, whole_number
from duet.classes.database import backend_of

CLASSES_DAYS = 180
LABS_DAYS = 400
"""A course of a year, and its appeals."""


def classes_url() -> str:
    """Database of classes, a URL of SQLAlchemy: $DUET_CLASSES_DB.

    Else a file beside the folder of saved runs, and named after it, so that two servers with
    folders of their own share no classes.
    """
    runs = runs_dir().absolute()
    given = os.environ.get("DUET_CLASSES_DB")
    return given or f"sqlite:///{runs.with_name(f'{runs.name}-classes.sqlite')}"


def classes_days() -> int:
    """How long classes that have ended are stored: $DUET_CLASSES_DAYS.

    Raises:
        InputError: not a whole number from 0 to a million.
    """
    return whole_number("DUET_CLASSES_DAYS", CLASSES_DAYS, "delete classes once they have ended")


def labs_days() -> int:
    """How long answers of people who do nothing more are stored: $DUET_LABS_DAYS.

    Raises:
        InputError: not a whole number from 0 to a million.
    """
    return whole_number("DUET_LABS_DAYS", LABS_DAYS, "delete answers of labs so much later")


NAME_BYTES = 63
"""PostgreSQL cuts off longer names of sessions."""


def servers_url() -> str:
    """Where other servers of the same classes reach this one: $DUET_SERVERS_URL; empty: none.

    Raises:
        InputError: it is no such address, or the database cannot be shared.
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
            f"DUET_SERVERS_URL must be the address of this server, but {given!r:.100} came.",
            remedy="Write it as other servers reach it, e.g. http://10.0.0.5:8642, or unset it.",
        )
    if len(given.encode()) > NAME_BYTES or not given.isascii():
        raise InputError(
            f"DUET_SERVERS_URL may have {NAME_BYTES} ASCII characters, which PostgreSQL passes on.",
            remedy="Use an address or a shorter name.",
        )
    if backend_of(classes_url()) != "postgresql":
        raise InputError(
            "several servers share classes in PostgreSQL only.",
            remedy="Set DUET_CLASSES_DB to a URL of PostgreSQL, or unset DUET_SERVERS_URL.",
        )
    return given
