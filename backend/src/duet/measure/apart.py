# SPDX-License-Identifier: GPL-2.0-or-later
"""Arms that stand on different bases: what every table that holds both says. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from duet.measure.model import ArmFacts


def base_words(arm: ArmFacts) -> str:
    """'6.12', or '6.1 with hz-1000' for a variant."""
    return f"{arm.base} with {arm.config}" if arm.config else arm.base


def warnings(arms: Sequence[ArmFacts]) -> list[str]:
    """All that tells arms apart besides their patches."""
    return [*other_bases(arms), *other_compilers(arms)]


def other_compilers(arms: Sequence[ArmFacts]) -> list[str]:
    """A sentence where arms were not compiled alike; unknown compilers are left out."""
    found: dict[str, list[ArmFacts]] = {}
    for arm in arms:
        if arm.compiler:
            found.setdefault(arm.compiler, []).append(arm)
    if len(found) < 2:
        return []
    words = "; ".join(f"{_names(some)} by {compiler}" for compiler, some in found.items())
    return [f"the compilers differ: {words}: a difference may be theirs"]


def other_bases(arms: Sequence[ArmFacts]) -> list[str]:
    """One sentence for each base or variant that is not that of the first arm.

    Their kernels differ by more than a patch: a difference between them has many causes, and no
    verdict makes it the effect of one. Arms of which no base is known are left out.
    """
    known = [arm for arm in arms if arm.base]
    if not known:
        return []
    first = known[0]
    groups: dict[str, list[ArmFacts]] = {}
    for arm in known[1:]:
        if (arm.base, arm.config) != (first.base, first.config):
            groups.setdefault(base_words(arm), []).append(arm)
    return [
        f"{_names(some)} {'stand' if len(some) > 1 else 'stands'} on {words}, {first.name} on"
        f" {base_words(first)}: {_apart(some[0], first)}, so a difference is not the effect of"
        " one patch"
        for words, some in groups.items()
    ]


def _names(arms: Sequence[ArmFacts]) -> str:
    *others, last = [arm.name for arm in arms]
    return f"{', '.join(others)} and {last}" if others else last


def _apart(one: ArmFacts, first: ArmFacts) -> str:
    if one.base != first.base:
        return "these are different kernels"
    return "their configurations differ"
