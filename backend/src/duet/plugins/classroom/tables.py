# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables for classes. A change of a table needs a revision in migrations. A test
checks the revision."""

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
    String,
    Table,
    Text,
    text,
)

from duet.store.tables import ID, METADATA, WORD

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
