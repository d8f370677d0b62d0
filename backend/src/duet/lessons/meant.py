# SPDX-License-Identifier: GPL-2.0-or-later
"""Which known name a misspelt one is likely to mean."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def meant(word: str, known: Iterable[str]) -> str:
    """' (did you mean 'storm'?)', or nothing where no known name is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
