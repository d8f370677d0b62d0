# SPDX-License-Identifier: GPL-2.0-or-later
"""Clean up typed text. Pure."""

from __future__ import annotations


def cleaned(text: str) -> str:
    """Replace invisible characters, and reduce spaces to single ones."""
    words = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(words.split())
