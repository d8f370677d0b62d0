# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons on leases: how many at once, full pools, hosts that die, an end in the middle."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from duet.base.clock import Clock
from duet.lessons.load import LessonFolder
from duet.measure import MeasurePlan
from duet.plugins.cluster.measuring.merge import merged
from duet.plugins.cluster.measuring.request import parts_of, want_of
from duet.plugins.cluster.measuring.schedule import Job, Schedule, Terms
from tests.plugins.cluster.test_conformance import until
from tests.plugins.cluster.toy_pool import Toy, ToyPool

Run = Callable[..., Any]
ARMS = ("rwsem", "srcu")


def swept(folder: LessonFolder, clock: Clock = "count", **more: Any) -> MeasurePlan:
    params = folder.check_params({"hogs": 1, "seconds": 1}, clock)
    metrics = frozenset({"ops_per_s"})
    given: dict[str, Any] = {"sweep": ("hogs", (1, 2, 3)), "metrics": metrics} | more
    return MeasurePlan(folder, ARMS, "storm", clock, params, 5, **given)


class Played:
    """A schedule on toy hosts."""

    def __init__(self, folder: Path, plan: MeasurePlan, pool: ToyPool, **how: Any) -> None:
        self.parts = parts_of(plan)
        self.toy, self.pool = Toy(folder, self.parts, **how), pool
        self.jobs = [Job(part) for part in self.parts]
        self.said: list[str] = []

    async def run(self, **terms: Any) -> None:
        given = Terms(look_s=0.05, wait_s=0, program=self.toy.program)
        async with self.pool:
            await Schedule(self.pool, replace(given, **terms), self.said.append).run(self.jobs)

    @property
    def hosts(self) -> list[str]:
        return [job.host for job in self.jobs]


def test_a_sweep_is_cut_into_comparisons_with_all_arms(lesson02: LessonFolder) -> None:
    plan = swept(lesson02, shifts=(0, 3), layouts=5, perturbed=1)
    parts = parts_of(plan)
    assert len(parts) == 3 * 2 * 6
    assert [part.name for part in parts[:3]] == [
        "hogs=1, 1 ns per instruction", "hogs=1, 8 ns per instruction",
        "hogs=2, 1 ns per instruction",
    ]  # fmt: skip
    assert (parts[-1].name, parts[-1].table, parts[-1].layout) == (
        "hogs=3, 8 ns per instruction, link 5", 5, 5,
    )  # fmt: skip
    assert all(part.plan.arms == ARMS for part in parts)
    assert parts_of(swept(lesson02, sweep=None, shifts=(3,)))[0].name == "storm"


def test_a_comparison_wants_a_host_alone_where_times_count(lesson02: LessonFolder) -> None:
    def want(clock: Clock) -> Any:
        return want_of(parts_of(swept(lesson02, clock))[0])

    wall, count = want("wall"), want("count")
    assert wall.exclusive and wall.vcpus == 2 and wall.lanes == 1
    assert not count.exclusive and count.vcpus == 1
    assert want_of(parts_of(swept(lesson02))[0], 90.0).ttl_s == 90.0


@pytest.mark.parametrize(("at_once", "most"), [(None, 2), (1, 1)])
def test_as_many_run_at_once_as_the_pool_gives_or_as_are_allowed(
    lesson02: LessonFolder, tmp_path: Path, run_async: Run, at_once: int | None, most: int
) -> None:
    played = Played(tmp_path, swept(lesson02), ToyPool(["n1", "n2"]))
    run_async(played.run(at_once=at_once), 60)
    assert played.pool.most == most and all(job.result for job in played.jobs)
    assert set(played.hosts) == ({"n1", "n2"} if most == 2 else {"n1"})
    full = [said for said in played.said if said.startswith("pool: ")]
    assert full[:1] == (["pool: all hosts are busy. 1 more wait for those that run."] if most == 2
                        else [])  # fmt: skip
    assert "n1: hogs=1: run 1 of 2: rwsem, untraced" in played.said
    assert not played.pool.leases


def test_a_pool_that_is_full_is_waited_for_or_not(
    lesson02: LessonFolder, tmp_path: Path, run_async: Run
) -> None:
    async def body(wait_s: float, free_after_s: float) -> Played:
        played = Played(tmp_path, swept(lesson02, sweep=None), ToyPool(["n1"]))
        async with played.pool:
            other = await played.pool.reserve(want_of(played.parts[0]))
            asyncio.get_running_loop().call_later(
                free_after_s,
                lambda: asyncio.ensure_future(other.release()),  # type: ignore[union-attr]
            )
            terms = Terms(wait_s=wait_s, program=played.toy.program)
            await Schedule(played.pool, terms, played.said.append).run(played.jobs)
        return played

    waited = run_async(body(30, 1.3), 60)
    assert (
        waited.jobs[0].result and waited.said[0] == "pool: all hosts are busy. Waiting up to 30 s."
    )
    gave_up = run_async(body(0, 30), 60)
    assert gave_up.jobs[0].error.sentence == "all hosts are busy."
    assert gave_up.jobs[0].error.remedy.startswith("Try again in some 30 s")


def test_a_comparison_whose_host_dies_runs_again_elsewhere_once(
    lesson02: LessonFolder, tmp_path: Path, run_async: Run
) -> None:
    plan = swept(lesson02)
    played = Played(tmp_path, plan, ToyPool(["n1", "n2"]), n1="dies")
    run_async(played.run(), 60)
    assert played.hosts == ["n2", "n2", "n2"]
    first = played.jobs[0]
    assert first.lost_on == "n1" and first.lost.startswith("n1 was lost: ")
    report = merged(plan, played.jobs, "")
    assert report.partial is None and len(report.hosts) == 3
    assert f"It ran a second time, since {first.lost}" in [one.again for one in report.hosts]
    assert any("It runs again elsewhere." in said for said in played.said)


def test_what_finished_stays_when_no_other_host_is_left(
    lesson02: LessonFolder, tmp_path: Path, run_async: Run
) -> None:
    plan = swept(lesson02)
    played = Played(tmp_path, plan, ToyPool(["n1"]), **{"2-0-0": "silent"})
    run_async(played.run(), 60)
    assert [job.error is None for job in played.jobs] == [True, False, True]
    report = merged(plan, played.jobs, "")
    assert report.partial == "hogs=2 failed"
    sentence = report.tables[1].errors["srcu"].sentence
    assert sentence.startswith("the program on n1 ended with code 7, and no result arrived")
    assert "It could not run again: no such host is there." in sentence
    assert [table.of("ops_per_s", "srcu").n for table in report.tables] == [5, 0, 5]  # type: ignore[union-attr]
    assert report.tables[2].comparisons[0].verdict == "deterministic"


def test_a_comparison_that_dies_twice_has_failed(
    lesson02: LessonFolder, tmp_path: Path, run_async: Run
) -> None:
    played = Played(tmp_path, swept(lesson02), ToyPool(["n1", "n2", "n3"]), **{"1-0-0": "dies"})
    run_async(played.run(), 60)
    error = played.jobs[0].error
    assert error is not None
    hosts = re.findall(r"(n\d) was lost", error.sentence)
    assert hosts == ["n1", played.jobs[0].host] and hosts[1] != "n1"
    assert all(job.result for job in played.jobs[1:])


def test_a_lease_that_is_too_short_is_no_fault_of_the_host(
    lesson02: LessonFolder, tmp_path: Path, run_async: Run
) -> None:
    pool = ToyPool(["n1", "n2"])
    played = Played(tmp_path, swept(lesson02, sweep=None), pool, **{"*": "hangs"})
    run_async(played.run(lease_s=0.8), 60)
    error = played.jobs[0].error
    assert error is not None and "reached its limit" in error.sentence
    assert error.remedy == "Give leases more time with --lease." and played.toy.ran() == [
        ("n1", "1-0-0")
    ]


def test_times_come_from_hosts_of_one_kind_and_counts_from_any(
    lesson02: LessonFolder, tmp_path: Path, run_async: Run
) -> None:
    for clock, used in (("wall", {"n1"}), ("count", {"n1", "n2"})):
        pool = ToyPool(["n1", "n2"], {"old": ["n1"], "new": ["n2"]})
        played = Played(tmp_path, swept(lesson02, clock), pool)
        run_async(played.run(), 60)
        assert set(played.hosts) == used, clock


def test_an_end_in_the_middle_gives_all_leases_back_and_keeps_what_is_done(
    lesson02: LessonFolder, tmp_path: Path, run_async: Run
) -> None:
    plan = swept(lesson02)
    pool = ToyPool(["n1", "n2", "n3"])
    played = Played(tmp_path, plan, pool, n2="hangs", n3="hangs")

    async def body() -> None:
        task = asyncio.create_task(played.run())
        await until(lambda: any("done in" in said for said in played.said))
        await until(lambda: len(played.toy.ran()) == 3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_async(body(), 60)
    assert not pool.leases
    mine = str(played.toy.folder)
    assert not [
        one for one in psutil.process_iter(["cmdline"]) if mine in (one.info["cmdline"] or ())
    ]
    report = merged(plan, played.jobs, "")
    assert report.partial == "interrupted after 1 of 3 comparisons"
    assert [table.of("ops_per_s", "srcu").n for table in report.tables] == [5, 0, 0]  # type: ignore[union-attr]
