# SPDX-License-Identifier: GPL-2.0-or-later
"""Create the table that several servers share."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "federation_0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _servers()


def _servers() -> None:
    op.create_table(
        "server_secrets",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_server_secrets"),
    )
