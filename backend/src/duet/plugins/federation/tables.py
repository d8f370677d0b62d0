# SPDX-License-Identifier: GPL-2.0-or-later
"""Table for servers that share a database."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, String, Table

from duet.store.tables import METADATA, WORD

SECRETS: Final = Table(
    "server_secrets",
    METADATA,
    Column("name", WORD, primary_key=True),
    Column("secret", String(64), nullable=False),
)
"""Secrets by which servers that share the database recognize each other."""
