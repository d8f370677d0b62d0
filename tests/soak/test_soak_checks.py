# SPDX-License-Identifier: GPL-2.0-or-later
"""The soak's own checks: each of them can fail, and it ends nothing that it did not start."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from duet.base.settings import repo_root
from tests.soak.fault import refused
from tests.soak.leaks import (
    MOST_BUNDLES,
    SLOPE_MB,
    SPARE_FDS,
    WARM_ROUNDS,
    Held,
    Ledger,
    kind_of,
    slope_of,
    strays,
)
from tests.soak.parked import Memory
from tests.soak.soak import FAULTS, unexplained
from tests.soak.world import MARK, World, in_namespace


def test_a_variable_alone_makes_no_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{MARK}_NAMESPACE", "1")
    assert not in_namespace()


def test_a_world_ends_no_process_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{MARK}_NAMESPACE", "1")
    other = subprocess.Popen(["sleep", "60"])
    try:
        with World() as world:
            assert not world.alone and not world.own_disks
            assert world.processes() == []
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
    assert not world.base.exists()


def test_the_clock_of_a_server_can_be_stepped(tmp_path: Path) -> None:
    clock = tmp_path / "clock"
    clock.write_text("-86400")
    code = (
        "from tests.soak import stepped_server; import time, datetime; "
        "print(stepped_server._real_time() - time.time(), datetime.datetime.now().timestamp())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo_root(), env={f"{MARK}_CLOCK": clock},
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    behind, now = map(float, done.stdout.split())
    assert abs(behind - 86400) < 1 and abs(now + 86400 - clock.stat().st_mtime) < 120


def test_memory_that_grows_is_seen_and_a_peak_is_not() -> None:
    steady, growing = Ledger(), Ledger()
    steady.rss = [100.0 + (40 if n == 9 else n % 2) for n in range(60)]
    growing.rss = [100.0 + 2 * n for n in range(60)]
    assert slope_of(growing.rss) == 2.0
    assert steady._growth() == []
    assert "grows by 2.0 MB a round" in growing._growth()[0]


def test_memory_that_reaches_its_size_is_no_leak() -> None:
    """What a server of the soak had in 60 rounds."""
    seen = (
        "126 129 131 131 112 115 118 140 141 141 141 150 151 152 130 133 157 159 162 139 156 158 "
        "161 163 165 165 139 158 163 144 149 172 172 173 174 174 174 174 174 174 174 174 174 174 "
        "174 174 174 174 174 174 175 175 175 176 175 176 176 169 171 171"
    )
    server = Ledger()
    for mb in seen.split():
        server.rss.append(float(mb))
        assert server._growth() == []
    assert slope_of(server.rss[WARM_ROUNDS : 3 * WARM_ROUNDS]) > SLOPE_MB, "it had grown"


def test_descriptors_are_compared_while_no_guest_is_being_parked() -> None:
    def now(sockets: int) -> Held:
        return Held(1, 2, [], 0, Counter(socket=sockets), 100.0, 4, [], Memory(0, 0, 0))

    ledger = Ledger()
    ledger.fds[2], ledger.helpers[2] = Counter(socket=20), 0
    assert ledger._faults(now(20 + SPARE_FDS), quiet=True) == []
    assert "descriptors grew" in ledger._faults(now(21 + SPARE_FDS), quiet=True)[0]
    assert ledger._faults(now(40), quiet=False) == []


def test_open_recordings_are_bounded_and_not_compared() -> None:
    def now(bundles: int) -> Held:
        return Held(1, 2, [], 0, Counter(bundle=bundles), 100.0, 4, [], Memory(0, 0, 0))

    with tempfile.TemporaryFile(dir="/tmp") as file:
        assert kind_of(str(Path(f"/proc/self/fd/{file.fileno()}").readlink())) == "bundle"
    assert kind_of("/tmp/kernel") == "file" and kind_of("socket:[12]") == "socket"
    ledger = Ledger()
    ledger.fds[2], ledger.helpers[2] = Counter(bundle=1), 0
    assert ledger._faults(now(MOST_BUNDLES), quiet=True) == []
    assert "recordings are open" in ledger._faults(now(MOST_BUNDLES + 1), quiet=True)[0]


def test_what_is_left_in_folders_is_seen() -> None:
    with World() as world:
        (world.runs / "run-20260101-000000.duet").touch()
        (world.runs / "run-20260101-000000.owner").touch()
        (world.runs / "format.json").touch()  # says which format the folder has
        assert strays(world, 0) == []
        (world.runs / "tmpx.part").touch()
        (world.runs / "run-20250101-000000.owner").touch()
        (world.tmp / "x").touch()
        folder = world.sockets / "kernel-duet"
        (folder / "new-a").mkdir(parents=True)
        (folder / "g-a").mkdir()  # as the host process has one
        assert len(strays(world, 0)) == 4
        (folder / "g-b").mkdir()
        assert len(strays(world, 0)) == 5


def test_a_sentence_is_asked_for() -> None:
    good = {"message": "The guest of lane srcu has ended.", "remedy": "Run it again."}
    assert refused(good, "guest") == []
    assert refused(good, "disk")
    assert refused({**good, "remedy": ""}, "guest")
    assert refused({**good, "message": "KeyError: 'x' (unexpected)"}, ".")
    assert refused(None, "guest")


def test_lines_of_the_log_are_explained_or_findings() -> None:
    log = "INFO duet.api: x is saved as y\nWARNING duet.api: run-1 is not saved: no space\n"
    assert unexplained(log, r"is not saved") == []
    assert len(unexplained(log, r"$^")) == 1
    assert len(unexplained("Traceback (most recent call last):\n", r"$^")) == 1
    fell = "ERROR duet.api: it fell\nTraceback (most recent call last):\n  File x\nOSError: 5\n"
    assert unexplained(f"{fell}INFO duet.api: on\n", r"$^")[-1] == "log: OSError: 5"
    assert unexplained(fell, "it fell") == []


def test_each_fault_has_a_name_of_its_own_and_says_what_it_is() -> None:
    assert max(Counter(kind().name for kind in FAULTS).values()) == 1
    assert all(kind.__doc__ for kind in FAULTS)
