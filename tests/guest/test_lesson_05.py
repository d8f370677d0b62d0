# SPDX-License-Identifier: GPL-2.0-or-later
"""Lesson 05 live: every stat(2) is a get and a put, and a lock that stays taken.

Offsets and ratios are claims of evidence.yaml (test_claims_live.py). Here stands what takes the
kernel's own counts by kind, and the stuck storm. No rate is judged: shares and counts are, which a
busy host does not change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from duet.lessons.load import load
from duet.measure import MeasurePlan, Table
from duet.measure.claims import broken, plan_of_claim
from tests.support.live_measure import measured

pytestmark = [pytest.mark.guest, pytest.mark.alone]

SLUG = "05-cacheline-pingpong"
LIMIT_S = 150
QUEUED, TEST_AND_SET = 159, 9999
ARMS = ("stock", "moved")
LENGTHS = (8, 24, 40)
"""Letters of the name: one word, on the line of the count, outside the dentry."""
TASKS, STATS = 3, 4000
SECONDS = 1
CPUS = 6
TRIES = 20
"""Whether waiters ever meet, and so a queue forms, is up to the host's scheduler: with six vCPUs
on two cores it nearly always does, with four in one try of eight."""


def run(plan: MeasurePlan) -> list[Table]:
    """Its tables; an arm that failed fails the test."""

    tables = measured(plan, LIMIT_S)
    for table in tables:
        assert not table.errors, table.errors
    return tables


def reported(table: Table, arm: str, head: str) -> Mapping[str, float]:
    """The last line of the workload that begins so, as numbers."""
    lines = [text for text in table.lines[arm] if text.startswith(f"statstorm: {head} ")]
    words = (word.split("=") for word in lines[-1].removeprefix("statstorm: ").split())
    return {key: float(value) for key, value in (word for word in words if len(word) == 2)
            if key != "phase"}  # fmt: skip


@cache
def exact(arm: str) -> tuple[Table, ...]:
    """Three tasks, each with a fixed number of calls, for three kinds of names, on one guest."""
    folder = load(SLUG)
    settings = {"tasks": TASKS, "stats": STATS}
    plan = MeasurePlan(
        folder=folder,
        arms=(arm,),
        workload="exact",
        clock="wall",
        params=folder.check_params(settings),
        repeats=1,
        sweep=("name_length", LENGTHS),
    )
    return tuple(run(plan))


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("length", LENGTHS)
def test_a_stat_is_one_get_and_one_put(arm: str, length: int) -> None:
    """Over all CPUs of the machine: nothing else on it touches a lockref meanwhile."""
    table = next(t for t in exact(arm) if t.condition.params["name_length"] == length)
    counts = reported(table, arm, "run")
    assert counts["stats"] == TASKS * STATS
    assert counts["get_fast"] + counts["get_slow"] == TASKS * STATS, counts
    assert counts["put_fast"] + counts["put_slow"] == TASKS * STATS, counts
    assert counts["put_last"] == 0, "somebody let a dentry go"


@pytest.mark.parametrize("arm", ARMS)
def test_an_undisturbed_storm_stays_on_the_atomic_path(arm: str) -> None:
    slow = [reported(table, arm, "run")["slow_per_op"] for table in exact(arm)]
    assert max(slow) < 0.001, slow


def test_what_the_microscope_counts_is_claimed_and_holds() -> None:
    """Metrics with the key `microscope`, through the same plan as `duet measure`."""
    folder = load(SLUG)
    counted = [c for c in folder.lesson.claims if folder.lesson.metrics[c.metric].microscope]
    claims = [c for c in counted if c.arm in ARMS]
    metrics = frozenset(claim.metric for claim in claims)
    plan = replace(plan_of_claim(folder, claims[0]), arms=ARMS, metrics=metrics)
    (table,) = run(plan)
    assert [broken(claim, table) for claim in claims] == [None] * len(claims)


def listing(locks: int) -> Mapping[str, Mapping[str, float]]:
    """A storm on six vCPUs: its three phases, the second with somebody who lists."""
    folder = load(SLUG)
    settings = {"tasks": CPUS, "vcpus": CPUS, "seconds": SECONDS, "locks": locks}
    plan = MeasurePlan(
        folder, ("stock",), "listing", "wall", folder.check_params(settings), repeats=1
    )
    (table,) = run(plan)
    return {
        name: reported(table, "stock", f"phase={name}") for name in ("start", "disturbed", "after")
    }


def test_a_listing_leaves_a_queue_behind_that_does_not_end() -> None:
    """On stock, as in the mail: nobody lists any more, and everybody takes the lock."""
    found = []
    for _ in range(TRIES):
        phases = listing(QUEUED)
        assert phases["start"]["slow_percent"] < 1, phases
        found.append(phases["after"]["slow_percent"])
        if found[-1] > 50:
            return
    pytest.fail(f"under the lock after the listing: {found} %")


def test_with_test_and_set_locks_it_ends_with_the_listing() -> None:
    """The same storm, disturbed in the same way: only what waiters do has changed."""
    phases = listing(TEST_AND_SET)
    disturbed = phases["disturbed"]
    assert disturbed["get_slow"] + disturbed["put_slow"] > 0, "the listing was not in the way"
    assert phases["after"]["slow_percent"] < 5, phases


def test_the_count_clock_is_refused_with_a_reason() -> None:
    """It has one vCPU: its numbers would be exact, and beside the point."""
    done = subprocess.run(
        [sys.executable, "-m", "duet", "measure", SLUG, "--clock", "count", "--json"],
        capture_output=True, text=True, timeout=60, env={**os.environ, "DUET_SETUP": "skip"},
        check=False,
    )  # fmt: skip
    assert done.returncode != 0
    error = json.loads(done.stdout)["error"]
    assert "one vCPU" in json.dumps(error) and "wall" in json.dumps(error)
