# SPDX-License-Identifier: GPL-2.0-or-later
"""What somebody typed, as plain text. Pure."""

from __future__ import annotations


def cleaned(text: str) -> str:
    """Without what cannot be seen, and with single spaces."""
    words = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(words.split())
