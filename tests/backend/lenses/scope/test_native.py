# SPDX-License-Identifier: GPL-2.0-or-later
"""The native replica: its steps are the counted accesses, and a host too small is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.base.errors import InfraError, InputError
from duet.lenses.scope import native
from duet.lenses.scope import native as native_perf
from duet.lenses.scope.coherence import stated
from duet.lessons.load import load

SLUG = "05-cacheline-pingpong"
OFFSETS = {
    "d_flags": 0, "d_seq": 4, "d_hash.pprev": 16, "d_parent": 24, "d_name.hash_len": 32,
    "d_name.name": 40, "d_inode": 48, "d_iname": 56,
}  # fmt: skip


def layout(lock: int) -> native.Layout:
    return native.Layout("an arm", 192, {**OFFSETS, "d_lockref": lock})


def test_the_operation_has_every_access_that_was_counted() -> None:
    """stated.json has each function's accesses in instructions; a get and a put are two."""
    operation = native.read_operation(load(SLUG))
    found: dict[str, int] = {}
    for access in operation.accesses:
        found[access.function] = found.get(access.function, 0) + 1 + (access.doing != "read")
    assert found == {name: len(at) for name, at in stated()["counted"]["at"].items()}


def test_steps_hold_offsets_of_the_layout_and_all_private_work() -> None:
    operation = native.read_operation(load(SLUG))
    steps = native.steps_of(operation, layout(88))
    moved = native.steps_of(operation, layout(136))
    assert [a for a in steps if a not in moved] == ["g88", "p88"]
    assert [a for a in moved if a not in steps] == ["g136", "p136"]
    assert [a for a in steps if a[0] == "r"][5:8] == ["r56", "r64", "r72"]
    work = sum(int(step[1:]) for step in steps if step[0] == "w")
    assert abs(work - stated()["stated"]["own_ns"]["value"]) < len(steps)


def topology(folder: Path, rows: list[tuple[int, int, int]]) -> Path:
    for cpu, socket, core in rows:
        place = folder / f"cpu{cpu}" / "topology"
        place.mkdir(parents=True)
        (place / "physical_package_id").write_text(f"{socket}\n")
        (place / "core_id").write_text(f"{core}\n")
    return folder


def test_one_thread_a_core_of_the_largest_socket(tmp_path: Path) -> None:
    rows = [(0, 0, 0), (1, 0, 0), (2, 0, 1), (3, 1, 0), (4, 1, 1), (5, 1, 2), (6, 1, 2)]
    place = topology(tmp_path, rows)
    assert native.one_cpu_a_core([n for n, _, _ in rows], place) == [3, 4, 5]
    assert native.one_cpu_a_core([0, 1, 2, 3], place) == [0, 2]
    assert native.one_cpu_a_core([0, 1], tmp_path / "none") == [0, 1]


def test_a_host_too_small_is_reported_in_one_sentence_unless_forced() -> None:
    with pytest.raises(InfraError, match=r"needs 4 cores on one socket, but this host has 2\."):
        native.choose_cpus([0, 2], 0, 20)
    assert native.choose_cpus([0, 2], 3, 20) == [0, 2, 0]
    assert native.choose_cpus(list(range(64)), 0, 20) == list(range(20))
    with pytest.raises(InputError, match="has no native replica"):
        native.read_operation(load("02-grace-periods"))


def test_the_replica_runs_and_gives_back_what_it_takes() -> None:
    """On two CPUs of this host, or twice on the only one: it counts, whatever its rate says."""
    operation = native.read_operation(load(SLUG))
    cpus = native.choose_cpus(native.allowed_cpus(), 2, 20)
    run, _ = native.run_once(operation, layout(136), cpus, 100)
    assert run.threads == 2 and run.ops > 100 and run.ns > 50_000_000
    assert 0 < run.per_s < 1e8


@pytest.mark.parametrize("lock", [184, 100, 188, 4090])
def test_an_offset_that_cannot_be_is_refused_by_the_replica(lock: int) -> None:
    operation = native.read_operation(load(SLUG))
    if lock == 184:
        assert native.run_once(operation, layout(lock), [native.allowed_cpus()[0]], 1)[0].ops
        return
    with pytest.raises(InfraError, match=r"replica: (wanted 0 to 184|an offset is no multiple)"):
        native.run_once(operation, layout(lock), [native.allowed_cpus()[0]], 1)


def test_what_perf_says_is_read_and_its_silence_too() -> None:
    said = "1234,,cycles:u,99,100.00,,\n<not supported>,,instructions:u,0,100.00,,\n7,,other,1,1,,"
    assert native_perf.parse_stat(said) == {"cycles:u": 1234}
    assert native_perf.parse_stat("<not supported>,,cycles:u,0,100.00,,") == {}
    report = (
        "  Total records                     :     329219\n"
        "  Load Operations                   :      69679\n"
        "  Load Local HITM                   :        847\n"
        "  Load Remote HITM                  :          0\n"
    )
    assert native_perf.parse_c2c(report) == {"loads": 69679, "hitm_local": 847, "hitm_remote": 0}
    assert native_perf.parse_c2c("") == {}
