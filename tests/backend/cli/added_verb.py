# SPDX-License-Identifier: GPL-2.0-or-later
"""A verb as a plug-in adds it to the table."""

from __future__ import annotations

from dataclasses import dataclass

from duet.cli.keys import keys_text
from duet.cli.options import Json
from duet.cli.output import emit


@dataclass(frozen=True, slots=True)
class Added:
    """What it prints."""

    word: str


KEYS = keys_text(Added)


def views_too(as_json: Json = False) -> int:
    """Say a word."""
    if as_json:
        emit(Added("hello"))
    return 7
