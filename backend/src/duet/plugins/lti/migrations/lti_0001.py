# SPDX-License-Identifier: GPL-2.0-or-later
"""Create the LTI tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "lti_0001"
down_revision = None
branch_labels = None
depends_on = None

ID, WORD = sa.String(32), sa.String(64)


def upgrade() -> None:
    _lti()


def _lti() -> None:
    op.create_table(
        "lti_nonces",
        sa.Column("nonce", WORD, nullable=False),
        sa.Column("until_s", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("nonce", name="pk_lti_nonces"),
    )
    op.create_index("ix_lti_nonces_until_s", "lti_nonces", ["until_s"])
    op.create_table(
        "lti_links",
        sa.Column("person", ID, nullable=False),
        sa.Column("lab", WORD, nullable=False),
        sa.Column("link", WORD, nullable=False),
        sa.Column("platform", ID, nullable=False),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("lineitem", sa.Text, nullable=False),
        sa.Column("launched_s", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("person", "lab", "link", name="pk_lti_links"),
    )
    op.create_table(
        "lti_courses",
        sa.Column("person", ID, nullable=False),
        sa.Column("platform", ID, nullable=False),
        sa.Column("members_url", sa.Text, nullable=False),
        sa.Column("launched_s", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("person", name="pk_lti_courses"),
    )
    op.create_table(
        "lti_scores",
        sa.Column("person", ID, nullable=False),
        sa.Column("lab", WORD, nullable=False),
        sa.Column("link", WORD, nullable=False),
        sa.Column("given", sa.Float, nullable=False),
        sa.Column("most", sa.Float, nullable=False),
        sa.Column("scored", sa.Integer, nullable=False),
        sa.Column("all_tasks", sa.Integer, nullable=False),
        sa.Column("at_s", sa.Float, nullable=False),
        sa.Column("stamp_ms", sa.BigInteger, nullable=False),
        sa.Column("pending", sa.Boolean, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("next_s", sa.Float, nullable=False),
        sa.Column("trouble", sa.String(300), nullable=False),
        sa.PrimaryKeyConstraint("person", "lab", "link", name="pk_lti_scores"),
        sa.ForeignKeyConstraint(
            ["person", "lab", "link"],
            ["lti_links.person", "lti_links.lab", "lti_links.link"],
            name="fk_lti_scores_link",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_lti_scores_pending", "lti_scores", ["pending"])
