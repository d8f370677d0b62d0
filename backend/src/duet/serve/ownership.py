# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose a saved run is, and which ones go when there are too many.

The owner stands in a file beside the bundle, not in it: bundles are passed on. A run without one
is the operator's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from duet import durable

ENDING = ".owner"
IDENT = re.compile(r"^[0-9a-f]{16}$")
MODE = 0o600


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved run, as pruning sees it; owner is empty for the operator's."""

    name: str
    size_bytes: int
    owner: str


def owner_of(folder: Path, name: str) -> str:
    """The ident of the visitor who started a run; empty: nobody known, so the operator's."""
    try:
        with (folder / f"{name}{ENDING}").open("rb") as file:
            text = file.read(64).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return text if IDENT.match(text) else ""


def set_owner(folder: Path, name: str, owner: str) -> None:
    """Say whose a run is.

    Raises:
        OSError: it cannot be written.
    """
    if IDENT.match(owner):
        durable.write(folder / f"{name}{ENDING}", owner.encode(), mode=MODE)
    else:  # the operator's, or a test's; a former run of this name may have had an owner
        forget_owner(folder, name)


def forget_owner(folder: Path, name: str) -> None:
    """Before a run is deleted: a later one of the same name is not its former owner's."""
    (folder / f"{name}{ENDING}").unlink(missing_ok=True)


def victims(runs: Sequence[Saved], most: int, most_bytes: int, spare: Set[str]) -> list[str]:
    """Names of the runs that must go until the limits hold.

    Each time the oldest run goes of the owner who has the most: with one owner the oldest goes
    first; with several nobody's runs push out those of somebody who has fewer (max-min fairness).

    Args:
        runs: the newest first.
        spare: these stay.
    """
    left = list(runs)
    gone: list[str] = []
    counts = Counter(run.owner for run in runs)
    sizes: Counter[str] = Counter()
    for run in runs:
        sizes[run.owner] += run.size_bytes
    while len(left) > most or sizes.total() > most_bytes:
        weights = counts if len(left) > most else sizes
        others = [run for run in left if run.name not in spare]
        if not others:
            break
        heaviest = max(weights[run.owner] for run in others)
        victim = next(run for run in reversed(others) if weights[run.owner] == heaviest)
        left.remove(victim)
        counts[victim.owner] -= 1
        sizes[victim.owner] -= victim.size_bytes
        gone.append(victim.name)
    return gone
