# SPDX-License-Identifier: GPL-2.0-or-later
"""Create the tables for classes, their tries and their boards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "classroom_0001"
down_revision = None
branch_labels = None
depends_on = None

ID, WORD, HASH = sa.String(32), sa.String(64), sa.String(64)
OPEN = sa.text("ended_s IS NULL")


def upgrade() -> None:
    _classes()
    _tries()
    _boards()


def _classes() -> None:
    op.create_table(
        "classes",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("code", WORD, nullable=False),
        sa.Column("code_key", WORD, nullable=False),
        sa.Column("title", sa.String(120), nullable=False),
        sa.Column("lesson", WORD, nullable=False),
        sa.Column("instructor", WORD, nullable=False),
        sa.Column("started_s", sa.Float, nullable=False),
        sa.Column("ended_s", sa.Float),
        sa.Column("used_s", sa.Float, nullable=False),
        sa.Column("driver", ID, nullable=False),
        sa.Column("place_number", sa.Integer, nullable=False),
        sa.Column("place_at_s", sa.Float),
        sa.Column("place", sa.JSON),
        sa.PrimaryKeyConstraint("class_id", name="pk_classes"),
    )
    op.create_index("ix_classes_instructor", "classes", ["instructor"])
    op.create_index(
        "ix_classes_open_code",
        "classes",
        ["code_key"],
        unique=True,
        sqlite_where=OPEN,
        postgresql_where=OPEN,
    )
    op.create_table(
        "members",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("member", ID, nullable=False),
        sa.Column("name", WORD, nullable=False),
        sa.Column("secret_sha256", sa.String(64), nullable=False),
        sa.Column("joined_s", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("class_id", "member", name="pk_members"),
        _of_class("members"),
    )
    op.create_table(
        "questions",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("step", WORD, nullable=False),
        sa.Column("question", WORD, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("text", sa.String(300), nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("revealed", sa.Boolean, nullable=False),
        sa.Column("by_instructor", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("class_id", "step", "question", name="pk_questions"),
        _of_class("questions"),
    )
    op.create_table(
        "answers",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("step", WORD, nullable=False),
        sa.Column("question", WORD, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("member", ID, nullable=False),
        sa.Column("choice", sa.Integer),
        sa.Column("value", sa.Float),
        sa.Column("mark", sa.JSON),
        sa.Column("right", sa.Boolean),
        sa.Column("at_s", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint(
            "class_id", "step", "question", "round", "member", name="pk_answers"
        ),
        sa.ForeignKeyConstraint(
            ["class_id", "step", "question"],
            ["questions.class_id", "questions.step", "questions.question"],
            name="fk_answers_question",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["class_id", "member"],
            ["members.class_id", "members.member"],
            name="fk_answers_member",
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "confusion",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("at_s", sa.Integer, nullable=False),
        sa.Column("step", WORD, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("class_id", "at_s", "step", name="pk_confusion"),
        _of_class("confusion"),
    )


def _tries() -> None:
    op.create_table(
        "class_opened",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("lesson", WORD, nullable=False),
        sa.Column("step", WORD, nullable=False),
        sa.Column("patches", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("class_id", "lesson", "step", name="pk_class_opened"),
        _of_class("class_opened"),
    )
    op.create_table(
        "class_galleries",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("shown", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("class_id", name="pk_class_galleries"),
        _of_class("class_galleries"),
    )
    op.create_table(
        "class_tries",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("lesson", WORD, nullable=False),
        sa.Column("step", WORD, nullable=False),
        sa.Column("workload", WORD, nullable=False),
        sa.Column("clock", sa.String(8), nullable=False),
        sa.Column("arms", sa.JSON, nullable=False),
        sa.Column("params", sa.JSON, nullable=False),
        sa.Column("turned", sa.JSON, nullable=False),
        sa.Column("summary", sa.String(300), nullable=False),
        sa.Column("run_id", sa.String(128), nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("sentence", sa.Text, nullable=False),
        sa.Column("result", sa.JSON, nullable=True),
        sa.Column("asked_s", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("class_id", "number", name="pk_class_tries"),
        _of_class("class_tries"),
    )
    op.create_table(
        "class_try_makers",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("member", ID, nullable=False),
        sa.Column("asked_s", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("class_id", "number", "member", name="pk_class_try_makers"),
        sa.ForeignKeyConstraint(
            ["class_id", "number"],
            ["class_tries.class_id", "class_tries.number"],
            name="fk_class_try_makers_try",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["class_id", "member"],
            ["members.class_id", "members.member"],
            name="fk_class_try_makers_member",
            ondelete="CASCADE",
        ),
    )


def _boards() -> None:
    op.create_table(
        "boards",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("shown", sa.Boolean, nullable=False),
        sa.Column("timer_s", sa.Float),
        sa.Column("timer_ends_s", sa.Float),
        sa.PrimaryKeyConstraint("class_id", name="pk_boards"),
        _of_class("boards"),
    )
    op.create_table(
        "raised",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("step", WORD, nullable=False),
        sa.Column("text", sa.String(300), nullable=False),
        sa.Column("asker_sha256", HASH, nullable=False),
        sa.Column("answered", sa.Boolean, nullable=False),
        sa.Column("hidden", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("class_id", "number", name="pk_raised"),
        _of_class("raised"),
    )
    op.create_table(
        "raised_votes",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("voter_sha256", HASH, nullable=False),
        sa.PrimaryKeyConstraint("class_id", "number", "voter_sha256", name="pk_raised_votes"),
        sa.ForeignKeyConstraint(
            ["class_id", "number"],
            ["raised.class_id", "raised.number"],
            name="fk_raised_votes_number",
            ondelete="CASCADE",
        ),
    )


def _of_class(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["class_id"], ["classes.class_id"], name=f"fk_{table}_class_id", ondelete="CASCADE"
    )
