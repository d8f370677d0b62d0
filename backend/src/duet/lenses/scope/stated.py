# SPDX-License-Identifier: GPL-2.0-or-later
"""The model's numbers with their sources: one file, which the page reads too (stated.json)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from duet.lenses.scope.coherence import Settings
from duet.settings import repo_root

STATED: Final = "frontend/src/views/cache-lines/model/stated.json"
SHARES: Final = ("handover", "jitter")
"""Numbers that are at most 1."""
NUMBERS: Final = ("hit_ns", "transfer_ns", "upgrade_ns", "own_ns", *SHARES)


@cache
def stated() -> dict[str, Any]:
    """The numbers with their sources, the rates of the mail, and what the model leaves out."""
    tree: dict[str, Any] = json.loads((repo_root() / STATED).read_text(encoding="utf-8"))
    return tree


def stated_settings() -> Settings:
    """Every number as its source has it."""
    return Settings(**{name: stated()["stated"][name]["value"] for name in NUMBERS})


def part_numbers() -> dict[str, int]:
    """Function -> number of its part of the profile, from 1."""
    parts = enumerate(stated()["profile"]["parts"], start=1)
    return {name: number for number, part in parts for name in part["functions"]}
