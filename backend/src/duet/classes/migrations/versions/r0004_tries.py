# SPDX-License-Identifier: GPL-2.0-or-later
"""What a class tries: steps that are open for it, its runs, and who made them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

ID, WORD = sa.String(32), sa.String(64)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "class_opened",
        of_class("class_opened"),
        sa.Column("lesson", WORD, nullable=False),
        sa.Column("step", WORD, nullable=False),
        sa.Column("patches", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("class_id", "lesson", "step", name="pk_class_opened"),
    )
    op.create_table(
        "class_galleries",
        of_class("class_galleries"),
        sa.Column("shown", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("class_id", name="pk_class_galleries"),
    )
    _tries()
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


def _tries() -> None:
    op.create_table(
        "class_tries",
        of_class("class_tries"),
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
    )


def of_class(table: str) -> sa.Column[str]:
    """A column that goes with its class."""
    key = sa.ForeignKey("classes.class_id", name=f"fk_{table}_class_id", ondelete="CASCADE")
    return sa.Column("class_id", ID, key, nullable=False)


def downgrade() -> None:
    """Drop them; what is stored goes."""
    for table in ("class_try_makers", "class_tries", "class_galleries", "class_opened"):
        op.drop_table(table)
