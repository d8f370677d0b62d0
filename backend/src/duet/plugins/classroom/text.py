# SPDX-License-Identifier: GPL-2.0-or-later
"""Cleans up typed text. Pure."""

from __future__ import annotations


def cleaned(text: str) -> str:
    """Replace invisible characters by spaces, and replace several spaces by one."""
    words = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(words.split())
