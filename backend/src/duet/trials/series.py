# SPDX-License-Identifier: GPL-2.0-or-later
"""Which patches of a thread are the series: the latest version, in the order of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Protocol, TypeVar

SHOWN = 5
"""Numbers that a sentence names."""


class Numbered(Protocol):
    """A patch as its subject numbers it: [PATCH v2 1/3]; 0 where it says none."""

    @property
    def number(self) -> int:
        """Its place."""

    @property
    def total(self) -> int:
        """Patches of the series."""

    @property
    def version(self) -> int:
        """Of the series, from 1."""


One = TypeVar("One", bound=Numbered)


def latest(found: Sequence[One], name: str, say: Callable[[str], None]) -> list[One]:
    """The patches of the latest version; what a re-roll of some leaves out is the one before.

    Args:
        found: all of a file, in the order of arrival.
        name: of the file.
        say: gets a sentence where the result is more or less than that version.
    """
    newest = max((patch.version for patch in found), default=1)
    chosen = [patch for patch in found if patch.version == newest]
    numbers = {patch.number for patch in chosen}
    totals = {patch.total for patch in chosen}
    if len(numbers) != len(chosen):
        return chosen  # some number twice: nobody knows which is meant
    if len(totals) == 1 and 0 not in numbers:
        (total,) = totals
        chosen += _older(found, newest, total, numbers)
        _tell(chosen, newest, total, name, say)
    return sorted(chosen, key=lambda patch: patch.number)


def _older(found: Sequence[One], newest: int, total: int, numbers: set[int]) -> list[One]:
    """Of each number that the newest version lacks, the newest there is of a series as long."""
    known: dict[int, One] = {}
    for patch in sorted(found, key=lambda patch: patch.version):
        fits = patch.version < newest and patch.total == total and patch.number > 0
        if fits and patch.number not in numbers:
            known[patch.number] = patch
    return list(known.values())


def _tell(
    chosen: Sequence[One], newest: int, total: int, name: str, say: Callable[[str], None]
) -> None:
    own = [one.number for one in chosen if one.version == newest]
    older = [(one.number, one.version) for one in chosen if one.version != newest]
    if older:
        words = _list(f"{number}/{total} of v{version}" for number, version in sorted(older))
        mine = _list(f"{number}/{total}" for number in own)
        say(f"v{newest} in {name} is {mine} alone, so the series goes on with {words}")
    known = {one.number for one in chosen}
    absent = (f"{number}/{total}" for number in range(1, total + 1) if number not in known)
    if total > len(known) and (words := _list(absent)):
        say(f"{name} has no {words} of v{newest}, and the series is tried without")


def _list(words: Iterable[str]) -> str:
    """The first few of them, for a sentence."""
    shown = list(islice(words, SHOWN + 1))
    return ", ".join(shown[:SHOWN]) + (" and others" if len(shown) > SHOWN else "")
