# SPDX-License-Identifier: GPL-2.0-or-later
"""Control groups that a killed maker has left are removed by the next one that makes a group."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from duet.base.settings import repo_root
from duet.confine import control_groups
from duet.confine.control_groups import Budget, Group, groups_of, sweep_groups

KILLED = (
    "import os; from duet.confine.control_groups import Budget, Group;"
    "Group(Budget(64 << 20, 8), 'lane').__enter__(); os._exit(0)"
)


@pytest.fixture
def tops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of the kernel's: what is removed is known by names and ages alone."""
    monkeypatch.setattr(control_groups, "_parents", lambda kind: [(tmp_path, 2)])
    return tmp_path


def aged(folder: Path, seconds: float) -> Path:
    folder.mkdir()
    os.utime(folder, (time.time() - seconds,) * 2)
    return folder


def test_only_old_empty_groups_of_makers_that_are_gone_are_removed(tops: Path) -> None:
    own = Path("/proc/self/ns/pid").stat().st_ino
    gone = next(pid for pid in range(4_000_000, 4_100_000) if not Path(f"/proc/{pid}").exists())
    left = aged(tops / f"duet-lane-{gone}-{own:x}-1", control_groups.SWEEP_S + 1)
    foreign = aged(tops / "duet-lane-1-abc-1", control_groups.FOREIGN_SWEEP_S + 1)
    stay = [
        aged(tops / f"duet-lane-{os.getpid()}-{own:x}-1", 900),
        aged(tops / f"duet-lane-{gone}-{own:x}-2", 0),
        aged(tops / "duet-lane-1-abc-2", control_groups.SWEEP_S + 1),
        aged(tops / "of-others", 900),
    ]
    used = tops / f"duet-lane-{gone}-{own:x}-3"
    used.mkdir()
    (used / "process").touch()  # a group with processes cannot be removed either
    os.utime(used, (time.time() - 900,) * 2)
    assert groups_of(os.getpid()) == [stay[0]]
    assert set(sweep_groups()) == {left, foreign}
    assert all(folder.exists() for folder in [*stay, used])


def test_what_a_killed_process_leaves_is_found_and_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    with Group(Budget(64 << 20, 8)) as group:
        if not group.folders:
            pytest.skip("no control group can be made here")
        assert groups_of(os.getpid()) == sorted(set(group.folders))
    assert groups_of(os.getpid()) == []
    process = subprocess.Popen([sys.executable, "-c", KILLED], cwd=repo_root() / "backend/src")
    assert process.wait(60) == 0
    assert groups_of(process.pid)
    monkeypatch.setattr(control_groups, "SWEEP_S", -1.0)
    with Group(Budget(64 << 20, 8)):
        assert groups_of(process.pid) == []


def test_a_process_that_ends_removes_groups_that_it_never_left() -> None:
    group = Group(Budget(1 << 26, 16), "left")
    group.__enter__()
    if group.missing:
        pytest.skip("no control group can be made here")
    assert set(group.folders) <= set(groups_of(os.getpid()))
    control_groups.remove_own_groups()
    assert not [folder for folder in group.folders if folder.exists()]
