# SPDX-License-Identifier: GPL-2.0-or-later
"""Metadata and column types of all tables. Plug-ins define the tables and their `migrations`."""

from __future__ import annotations

from typing import Final

from sqlalchemy import MetaData, String

METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
ID, WORD = String(32), String(64)
