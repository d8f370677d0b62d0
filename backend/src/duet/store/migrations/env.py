# SPDX-License-Identifier: GPL-2.0-or-later
"""The script that Alembic runs for each command, in the transaction of the caller's connection."""

from __future__ import annotations

from alembic import context

from duet.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
)
context.run_migrations()
