# SPDX-License-Identifier: GPL-2.0-or-later
"""Create the tables for labs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "labs_0001"
down_revision = None
branch_labels = None
depends_on = None

WORD, HASH = sa.String(64), sa.String(64)


def upgrade() -> None:
    _labs()


def _labs() -> None:
    op.create_table(
        "lab_people",
        sa.Column("person", WORD, nullable=False),
        sa.Column("name", WORD, nullable=False),
        sa.Column("since_s", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("person", name="pk_lab_people"),
    )
    op.create_table(
        "lab_attempts",
        sa.Column("lab", WORD, nullable=False),
        sa.Column("person", WORD, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("task", WORD, nullable=False),
        sa.Column("answer", sa.JSON, nullable=False),
        sa.Column("found", sa.JSON, nullable=False),
        sa.Column("at_s", sa.Float, nullable=False),
        sa.Column("previous", HASH, nullable=False),
        sa.Column("sha256", HASH, nullable=False),
        sa.PrimaryKeyConstraint("lab", "person", "number", name="pk_lab_attempts"),
        sa.ForeignKeyConstraint(
            ["person"],
            ["lab_people.person"],
            name="fk_lab_attempts_person",
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "lab_grades",
        sa.Column("lab", WORD, nullable=False),
        sa.Column("person", WORD, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("points", sa.Float, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("by", WORD, nullable=False),
        sa.Column("at_s", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("lab", "person", "attempt", name="pk_lab_grades"),
        sa.ForeignKeyConstraint(
            ["lab", "person", "attempt"],
            ["lab_attempts.lab", "lab_attempts.person", "lab_attempts.number"],
            name="fk_lab_grades_attempt",
            ondelete="CASCADE",
        ),
    )
