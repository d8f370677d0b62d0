# SPDX-License-Identifier: GPL-2.0-or-later
"""Boards of classes: members' questions, their votes, the timer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ID, WORD, HASH = sa.String(32), sa.String(64), sa.String(64)


def upgrade() -> None:
    """Make the tables."""
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


def downgrade() -> None:
    """Drop them; what is stored goes."""
    for table in ("raised_votes", "raised", "boards"):
        op.drop_table(table)
