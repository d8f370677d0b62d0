# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of a CSV file that somebody opens in a spreadsheet."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet evaluates a cell that begins with one of these."""


def plain(text: str) -> str:
    """Return the text as a cell that no spreadsheet evaluates."""
    return f"'{text}" if text.startswith(FORMULA) else text
