# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables for labs: people, their attempts, and grades that people gave."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    JSON,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    String,
    Table,
    Text,
)

from duet.store.tables import METADATA, WORD

PEOPLE: Final = Table(
    "lab_people",
    METADATA,
    Column("person", WORD, primary_key=True),
    Column("name", WORD, nullable=False),
    Column("since_s", Float, nullable=False),
)
ATTEMPTS: Final = Table(
    "lab_attempts",
    METADATA,
    Column("lab", WORD, primary_key=True),
    Column("person", ForeignKey("lab_people.person", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("task", WORD, nullable=False),
    Column("answer", JSON, nullable=False),
    Column("found", JSON, nullable=False),
    Column("at_s", Float, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("sha256", String(64), nullable=False),
)
GRADES: Final = Table(
    "lab_grades",
    METADATA,
    Column("lab", WORD, primary_key=True),
    Column("person", WORD, primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("points", Float, nullable=False),
    Column("comment", Text, nullable=False),
    Column("by", WORD, nullable=False),
    Column("at_s", Float, nullable=False),
    ForeignKeyConstraint(
        ["lab", "person", "attempt"],
        ["lab_attempts.lab", "lab_attempts.person", "lab_attempts.number"],
        name="fk_lab_grades_attempt",
        ondelete="CASCADE",
    ),
)
