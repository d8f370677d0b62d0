# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes CSV cells safe to open in a spreadsheet."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet evaluates a cell that begins with one of these."""


def plain(text: str) -> str:
    """Return the text as a cell that a spreadsheet does not evaluate."""
    return f"'{text}" if text.startswith(FORMULA) else text
