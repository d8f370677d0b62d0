# SPDX-License-Identifier: GPL-2.0-or-later
"""Entries and returns as brackets, matched by numpy alone. Pure.

A return without an entry is left out; an entry without a return stays open and hides nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def depths(step: Ints, group: Ints | None = None) -> Ints:
    """How deep each place is, after its step of +1, -1 or 0; never below zero.

    Args:
        group: number per place, rising; every group begins at depth 0.
    """
    if not len(step):
        return np.empty(0, np.int64)
    if group is None:
        group = np.zeros(len(step), np.int64)
    total = np.cumsum(step)
    first = np.searchsorted(group, group, side="left")
    total = total - (total[first] - step[first])
    # The lowest point so far is where returns had no entry. Groups are lifted apart, each far
    # below the one before, so that one running minimum serves them all.
    apart = (group - group[0]) * (2 * len(step) + 1)
    lowest = np.minimum.accumulate(np.minimum(total, 0) - apart) + apart
    return np.asarray(total - lowest, np.int64)


def pairs(tid: Ints, step: Ints) -> tuple[Ints, Ints]:
    """Places of entries (+1) and of their returns (-1), each with the innermost open entry.

    Args:
        tid: thread per place; places are in order of time.

    Returns:
        Two arrays of one length, sorted by thread, then entry.
    """
    nothing = np.empty(0, np.int64)
    if not len(tid):
        return nothing, nothing
    order = np.argsort(tid, kind="stable")
    thread, moved = np.asarray(tid)[order], np.asarray(step)[order]
    depth = depths(moved, np.unique(thread, return_inverse=True)[1])
    before = np.concatenate((np.zeros(1, np.int64), depth[:-1]))
    before[1:][thread[1:] != thread[:-1]] = 0
    level = np.where(moved > 0, depth, before)  # a return without an entry is on level 0
    at = np.lexsort((np.arange(len(order)), level, thread))
    at = at[level[at] > 0]
    here, there = at[:-1], at[1:]
    # On one level of one thread entries and returns take turns; the last entry may lack its own.
    match = (
        (moved[here] > 0)
        & (moved[there] < 0)
        & (thread[here] == thread[there])
        & (level[here] == level[there])
    )
    opens, closes = here[match], there[match]
    by_entry = np.argsort(opens, kind="stable")
    return order[opens[by_entry]], order[closes[by_entry]]


def outermost(tid: Ints, opens: Ints, closes: Ints) -> NDArray[np.bool_]:
    """Which of the pairs lie in no other pair of their thread.

    Args:
        tid: thread per place.
        opens: as `pairs` gives them, sorted by thread, then entry.
    """
    if not len(opens):
        return np.empty(0, np.bool_)
    thread = np.unique(tid[opens], return_inverse=True)[1]
    end = closes + thread * (int(closes.max()) + 1)  # threads lifted apart, as in `depths`
    latest = np.maximum.accumulate(end)
    return np.concatenate((np.ones(1, np.bool_), end[1:] > latest[:-1]))
