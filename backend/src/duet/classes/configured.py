# SPDX-License-Identifier: GPL-2.0-or-later
"""Where classes are stored and how long, as the operator wants it."""

from __future__ import annotations

import os

from duet.settings import runs_dir, whole_number

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
