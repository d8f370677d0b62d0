# SPDX-License-Identifier: GPL-2.0-or-later
"""What a build will take, said before it compiles: from which arm, how many objects, how long."""

from __future__ import annotations

from pathlib import Path

from duet import durable
from duet.kernels.standing import Standing

LINK_S = 15.0
"""Final link, compression and storing, which every kernel needs."""
PACE_S = 0.35
"""Seconds an object on two CPUs, until this machine has shown its own. ccache makes it less."""
LEARNT_FROM = 100
"""Objects of a build from which the pace is learnt."""


def forecast(former: Standing | None, objects: int, pace_s: float) -> str:
    """One sentence for a person.

    Args:
        former: the arm at which the tree stood; None: nobody knows, or it was unpacked just now.
        objects: that will be compiled, counted or guessed.
        pace_s: see read_pace().
    """
    came = f"the tree stood at {former.lesson} {former.arm}; " if former is not None else ""
    some = "1 object" if objects == 1 else f"{objects:,} objects"
    return f"{came}about {some} to compile, {_time(LINK_S + objects * pace_s)} or less."


def read_pace(path: Path) -> float:
    """Seconds an object, as the last large build of this machine had it."""
    try:
        pace_s = float(path.read_text())
    except (OSError, ValueError):
        return PACE_S
    return pace_s if 0 < pace_s < 60 else PACE_S


def write_pace(path: Path, objects: int, seconds: float) -> None:
    """Learn from a build, if it was large enough."""
    if objects >= LEARNT_FROM:
        pace_s = max(seconds - LINK_S, 1.0) / objects
        durable.write(path, f"{pace_s:.4f}\n".encode())


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
