# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of what a class has on all its screens: members' questions, their votes, the timer."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    String,
    Table,
)

from duet.classes.tables import ID, METADATA, WORD

HASH: Final = String(64)

BOARDS: Final = Table(
    "boards",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("shown", Boolean, nullable=False),
    Column("timer_s", Float),
    Column("timer_ends_s", Float),
)
RAISED: Final = Table(
    "raised",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("step", WORD, nullable=False),
    Column("text", String(300), nullable=False),
    Column("asker_sha256", HASH, nullable=False),
    Column("answered", Boolean, nullable=False),
    Column("hidden", Boolean, nullable=False),
)
VOTES: Final = Table(
    "raised_votes",
    METADATA,
    Column("class_id", ID, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("voter_sha256", HASH, primary_key=True),
    ForeignKeyConstraint(
        ["class_id", "number"],
        ["raised.class_id", "raised.number"],
        name="fk_raised_votes_number",
        ondelete="CASCADE",
    ),
)
