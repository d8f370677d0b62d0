# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of what a class tries, in the same database; see tables.py."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    String,
    Table,
    Text,
)

from duet.classes.tables import ID, METADATA, WORD

OPENED: Final = Table(
    "class_opened",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("lesson", WORD, primary_key=True),
    Column("step", WORD, primary_key=True),
    Column("patches", Boolean, nullable=False),
)
GALLERIES: Final = Table(
    "class_galleries",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("shown", Boolean, nullable=False),
)
TRIES: Final = Table(
    "class_tries",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("lesson", WORD, nullable=False),
    Column("step", WORD, nullable=False),
    Column("workload", WORD, nullable=False),
    Column("clock", String(8), nullable=False),
    Column("arms", JSON, nullable=False),
    Column("params", JSON, nullable=False),
    Column("turned", JSON, nullable=False),
    Column("summary", String(300), nullable=False),
    Column("run_id", String(128), nullable=False),
    Column("state", String(8), nullable=False),
    Column("sentence", Text, nullable=False),
    Column("result", JSON(none_as_null=True)),
    Column("asked_s", Float, nullable=False),
)
MAKERS: Final = Table(
    "class_try_makers",
    METADATA,
    Column("class_id", ID, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("member", ID, primary_key=True),
    Column("asked_s", Float, nullable=False),
    ForeignKeyConstraint(
        ["class_id", "number"],
        ["class_tries.class_id", "class_tries.number"],
        name="fk_class_try_makers_try",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["class_id", "member"],
        ["members.class_id", "members.member"],
        name="fk_class_try_makers_member",
        ondelete="CASCADE",
    ),
)
