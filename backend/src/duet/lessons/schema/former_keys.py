# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys of a lesson that had other names: files that use those still load.

A former name may be a word of one lesson. The lint of words lets it stand in this file alone.
"""

from __future__ import annotations

from pydantic import AliasChoices

TOP, WORKLOADS = "", "workloads"
FORMER_KEYS: dict[str, dict[str, str]] = {
    TOP: {"seeds": "published"},
    WORKLOADS: {"reader": "other"},
}
"""Block of a lesson -> former name of a key -> its name."""


def key_and_former(block: str, key: str) -> AliasChoices:
    """What a file may call a key: by its name, or by one that it had."""
    former = [old for old, now in FORMER_KEYS[block].items() if now == key]
    return AliasChoices(key, *former)
