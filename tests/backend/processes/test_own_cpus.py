# SPDX-License-Identifier: GPL-2.0-or-later
"""Measured guests have CPUs of their own: nothing that this process has started runs there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from duet import messages as m
from duet.measure import run as watch
from duet.processes.cpus import OwnCpus, choose, cores

MANY = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the host has one CPU")


@MANY
def test_everything_else_moves_away_and_comes_back() -> None:
    every = os.sched_getaffinity(0)
    with subprocess.Popen(["sleep", "600"]) as guest, subprocess.Popen(["sleep", "600"]) as other:
        with OwnCpus(1, 1) as own:
            rest = every - own.cpus
            assert own.cpus and rest and not own.why_not
            assert os.sched_getaffinity(0) == rest
            assert os.sched_getaffinity(other.pid) == rest
            with subprocess.Popen(["sleep", "600"]) as later:
                assert os.sched_getaffinity(later.pid) == rest
                later.kill()
            own.place(guest.pid)
            assert os.sched_getaffinity(guest.pid) == own.cpus
            with OwnCpus(1, 1) as second:
                assert not second.cpus and second.why_not == "another measurement has them"
            assert os.sched_getaffinity(0) == rest
        assert os.sched_getaffinity(0) == every
        assert os.sched_getaffinity(guest.pid) == os.sched_getaffinity(other.pid) == every
        guest.kill()
        other.kill()


def test_a_host_with_too_few_cpus_is_left_as_it_is() -> None:
    every = os.sched_getaffinity(0)
    count = len(every)
    with OwnCpus(count + 1, count) as own:
        own.place(os.getpid())
        assert os.sched_getaffinity(0) == every
    words = f"{count} CPU{'s' if count > 1 else ''} for the guest and one for the rest"
    assert own.why_not == f"{words} are more than {count}"


def test_whole_cores_are_taken_from_the_end(tmp_path: Path) -> None:
    for cpu, siblings in enumerate(["0,4", "1,5", "2,6", "3,7"] * 2):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(siblings + "\n")
    found = cores(range(8), tmp_path)
    assert found == [{0, 4}, {1, 5}, {2, 6}, {3, 7}]
    assert choose(found, 3) == {2, 3, 6, 7}
    assert choose(found, 6) == {1, 2, 3, 5, 6, 7}
    assert choose(found, 7) == frozenset()
    assert cores([2, 0], tmp_path / "none") == [{0}, {2}]


def test_a_guest_is_placed_once_before_its_workload_begins() -> None:
    placed: list[int] = []
    host = watch.HostWatch(placed.append)
    host.on_lane(m.Lane(run_id="r", arm="a", phase="booting"))
    assert placed == []
    host.on_lane(m.Lane(run_id="r", arm="a", phase="ready", pid=os.getpid()))
    assert placed == [os.getpid()]
    host.on_lane(m.Lane(run_id="r", arm="a", phase="running", pid=os.getpid()))
    assert placed == [os.getpid()]
