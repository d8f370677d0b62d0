# SPDX-License-Identifier: GPL-2.0-or-later
"""Revisions of the database of classes, for Alembic; a server runs them when it starts."""
