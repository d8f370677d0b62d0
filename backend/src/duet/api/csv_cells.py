# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of a table that somebody opens in a spreadsheet."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would calculate a text that begins so."""


def plain(text: str) -> str:
    """A cell that no spreadsheet calculates."""
    return f"'{text}" if text.startswith(FORMULA) else text
