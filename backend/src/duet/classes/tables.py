# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables. A change of them needs a revision in migrations/versions; a test compares both."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    text,
)

METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
ID, WORD = String(32), String(64)
OPEN: Final = text("ended_s IS NULL")

CLASSES: Final = Table(
    "classes",
    METADATA,
    Column("class_id", ID, primary_key=True),
    Column("code", WORD, nullable=False),
    Column("code_key", WORD, nullable=False),
    Column("title", String(120), nullable=False),
    Column("lesson", WORD, nullable=False),
    Column("instructor", WORD, nullable=False, index=True),
    Column("started_s", Float, nullable=False),
    Column("ended_s", Float),
    Column("used_s", Float, nullable=False),
    Column("driver", ID, nullable=False),
    Column("place_number", Integer, nullable=False),
    Column("place_at_s", Float),
    Column("place", JSON),
    Index(
        "ix_classes_open_code", "code_key", unique=True, sqlite_where=OPEN, postgresql_where=OPEN
    ),
)
MEMBERS: Final = Table(
    "members",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("member", ID, primary_key=True),
    Column("name", WORD, nullable=False),
    Column("secret_sha256", String(64), nullable=False),
    Column("joined_s", Float, nullable=False),
)
QUESTIONS: Final = Table(
    "questions",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("step", WORD, primary_key=True),
    Column("question", WORD, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("text", String(300), nullable=False),
    Column("options", JSON, nullable=False),
    Column("round", Integer, nullable=False),
    Column("revealed", Boolean, nullable=False),
    Column("by_instructor", Boolean, nullable=False),
)
ANSWERS: Final = Table(
    "answers",
    METADATA,
    Column("class_id", ID, primary_key=True),
    Column("step", WORD, primary_key=True),
    Column("question", WORD, primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("member", ID, primary_key=True),
    Column("choice", Integer),
    Column("value", Float),
    Column("mark", JSON(none_as_null=True)),
    Column("right", Boolean),
    Column("at_s", Float, nullable=False),
    ForeignKeyConstraint(
        ["class_id", "step", "question"],
        ["questions.class_id", "questions.step", "questions.question"],
        name="fk_answers_question",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["class_id", "member"],
        ["members.class_id", "members.member"],
        name="fk_answers_member",
        ondelete="CASCADE",
    ),
)
CONFUSION: Final = Table(
    "confusion",
    METADATA,
    Column("class_id", ForeignKey("classes.class_id", ondelete="CASCADE"), primary_key=True),
    Column("at_s", Integer, primary_key=True),
    Column("step", WORD, primary_key=True),
    Column("count", Integer, nullable=False),
)
SECRETS: Final = Table(
    "server_secrets",
    METADATA,
    Column("name", WORD, primary_key=True),
    Column("secret", String(64), nullable=False),
)
"""By which servers that share the database know each other."""
