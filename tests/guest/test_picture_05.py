# SPDX-License-Identifier: GPL-2.0-or-later
"""Lesson 05 on live guests: what a stat reads and writes of its dentry, to the access.

`dentry_string_cmp()` compares a name by words of 8 bytes; d_iname begins at 56, so its first word
lies on line 0 and the others on line 1, where stock keeps the lockref.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from duet.confine.sandbox import CHILD_ID, FIRST_ID, can_change_user, can_unshare_network
from duet.session import RunSession
from tests.support.confined_guests import Rights, of_lane
from tests.support.watched_driver import LINE, Watched, busy_host, watch
from tests.support.xray_driver import Look, columns

pytestmark = pytest.mark.guest

WORDS = {1: 0, 8: 0, 9: 1, 16: 1, 17: 2, 24: 2, 25: 3, 31: 3, 32: 0, 40: 0}
"""Letters of the name -> words of it on line 1, which are read once a stat."""
SMALL = {"tasks": 2, "stats": 2000}
COMPARE = "__d_lookup_rcu"
FOREIGN = 200
MOST_RETRIES = 1
"""Swaps that fail, per stat: two vCPUs meet more often when each access is looked at."""


def check_exact(run: Watched, stats: int) -> None:
    """Every stat was seen, whole, and none besides."""
    assert run.cells.ops_touching == stats
    # Other tasks' lookups call through tables of operations, which is no load of a dentry.
    assert run.cells.untold <= FOREIGN < stats
    assert run.states[-1].state == "on"


def check_confined(qemu: Rights, worker: Rights) -> None:
    """An own user for both, no rights, a filter, limits; without root all but the user."""
    for process in (qemu, worker):
        assert process.no_new_privs == "1" and process.seccomp == "2"
        assert process.memory.isdecimal()
    if not can_change_user():
        return
    assert qemu.ids == worker.ids and len(worker.ids) == 1
    assert all(FIRST_ID <= number < CHILD_ID for number in qemu.ids)
    assert qemu.caps == worker.caps == {0}
    if can_unshare_network():
        assert str(Path("/proc/self/ns/net").readlink()) not in (qemu.network, worker.network)


def lock_line(run: Watched) -> int:
    return run.offset_of("d_lockref") // LINE


@dataclass(frozen=True)
class Runs:
    """Runs of one arm on one guest."""

    words: list[Watched]
    """One for each of WORDS."""
    logged: Watched
    """A short one, whose log is whole."""
    rights: list[Rights]
    """Of QEMU and of the x-ray's process, during the first."""


@cache
def runs_of(arm: str) -> Runs:
    rights: list[Rights] = []

    async def look_at_proc(session: RunSession, run: Look) -> None:
        if not rights:
            rights.extend(await of_lane(lambda: run.pid))

    wanted = [{**SMALL, "name_length": length} for length in WORDS]
    short = {"tasks": 2, "stats": 300, "name_length": 24}
    *words, logged = watch(arm, [*wanted, short], look_at_proc)
    return Runs(words, logged, rights)


@pytest.mark.parametrize("arm", ["stock", "moved"])
def test_reads_of_the_locks_line_follow_the_names_words(arm: str) -> None:
    for (length, words), run in zip(WORDS.items(), runs_of(arm).words, strict=True):
        check_exact(run, 4000)
        name_line = run.per_stat("reads", 1, COMPARE)
        line = lock_line(run)
        compared = run.per_stat("reads", line, COMPARE)
        assert compared == (words if arm == "stock" else 0), f"{length} letters: {compared}"
        assert name_line == words, f"{length} letters: {name_line} on the name's line"
        # A get and a put: each loads the word and swaps it once. A swap that failed is tried again.
        assert run.per_stat("writes", line) == 0
        assert 2 <= run.per_stat("rmws", line) <= 2 + MOST_RETRIES
        assert run.per_stat("rmws", line, "lockref_get_not_dead") >= 1
        assert run.per_stat("rmws", line, "lockref_put_or_lock") >= 1


@pytest.mark.alone
@pytest.mark.parametrize("vcpus", [2, 4])
def test_on_a_busy_host_the_same_to_the_access(vcpus: int) -> None:
    with busy_host():
        first, second = watch("stock", [{**SMALL, "vcpus": vcpus, "name_length": 24}] * 2)
    for run in (first, second):
        check_exact(run, 4000)
        assert run.per_stat("reads", 1, COMPARE) == 2
        assert run.per_stat("rmws", 1) >= 2


def test_one_vcpu_counts_each_atomic_once() -> None:
    (run,) = watch("stock", [{**SMALL, "vcpus": 1, "tasks": 1, "name_length": 24}])
    check_exact(run, 2000)
    assert run.per_stat("rmws", 1) == 2
    assert run.per_stat("writes", 1) == 0


def test_the_log_is_the_counts_access_by_access() -> None:
    """Points of the page against the plugin's own sums: byte, function and class."""
    run = runs_of("stock").logged
    check_exact(run, 600)
    points, cells = run.points(), run.cells
    assert run.states[-1].dropped == 0
    own = points["e"] > 0
    keys = [points[name][own].astype(int) for name in ("a", "d")]
    for code, kind in enumerate(("reads", "writes", "rmws")):
        reported: dict[tuple[int, int], int] = {}
        of_kind = points["c"][own] == code
        for at, function in zip(*(key[of_kind].tolist() for key in keys), strict=True):
            reported[at, function] = reported.get((at, function), 0) + 1
        counted = {
            (int(cell["address"]) - run.address, int(cell["function"])): int(cell[kind])
            for cell in cells.cells
            if cell["inside"] and cell[kind] and 0 <= int(cell["address"]) - run.address < 192
        }
        assert reported == counted
    assert (np.diff(points["t_ns"]) >= 0).all()
    assert set(np.unique(points["cpu"]).tolist()) <= {0, 1}


def test_counts_reach_the_page_as_they_are() -> None:
    """The sample that the page draws from says what the plugin said, and QEMU may do nothing."""
    runs = runs_of("moved")
    run = runs.words[list(WORDS).index(24)]
    assert "memory" in {state.route for state in run.look.states}
    check_confined(*runs.rights)
    sample = run.sample("microscope")
    assert sample.facts["ops_touching"] == 4000
    found = columns(sample)
    line = (found["at"] >= 0) & (found["at"] // LINE == lock_line(run)) & (found["inside"] == 1)
    assert found["rmws"][line].sum() / 4000 == run.per_stat("rmws", 2)
    assert lock_line(run) == 2
    assert found["reads"][line & (found["at"] < 136)].sum() == 0
