# SPDX-License-Identifier: GPL-2.0-or-later
"""Classes, members, questions, answers, confusion."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID, WORD = sa.String(32), sa.String(64)
OPEN = sa.text("ended_s IS NULL")


def upgrade() -> None:
    """Make the tables."""
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
    _members_and_questions()
    _answers()
    op.create_table(
        "confusion",
        sa.Column("class_id", ID, nullable=False),
        sa.Column("at_s", sa.Integer, nullable=False),
        sa.Column("step", WORD, nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("class_id", "at_s", "step", name="pk_confusion"),
        _of_class("confusion"),
    )


def _of_class(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["class_id"], ["classes.class_id"], name=f"fk_{table}_class_id", ondelete="CASCADE"
    )


def _members_and_questions() -> None:
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


def _answers() -> None:
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


def downgrade() -> None:
    """Drop them; what is stored goes."""
    for table in ("confusion", "answers", "questions", "members", "classes"):
        op.drop_table(table)
