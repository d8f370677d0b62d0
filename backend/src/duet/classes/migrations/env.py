# SPDX-License-Identifier: GPL-2.0-or-later
"""What Alembic runs for each command; the connection is the caller's, and so is its transaction."""

from __future__ import annotations

from alembic import context

from duet.classes import board_tables as board_tables  # its tables are in the same METADATA
from duet.classes import lab_tables as lab_tables
from duet.classes import lti_tables as lti_tables
from duet.classes import try_tables as try_tables
from duet.classes.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
)
context.run_migrations()
