# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet pool doctor`: a real probe in a lease of this machine; of Slurm in test_doctor.py."""

from __future__ import annotations

import json

import pytest

from duet.cli.entry import main
from duet.plugins.cluster.probe import Facts
from duet.plugins.cluster.types import Kind
from duet.plugins.cluster.verb import PoolHost, PoolResult, host_of, table
from tests.backend.cli.test_results import same_as_help

GOOD = Facts("n1", 8, 1, 8 << 30, "a model", "7.2.22", "", 0.01, 0.0)


@pytest.fixture(autouse=True)
def cold(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Without kernels no guest boots, which takes time."""
    monkeypatch.setenv("DUET_CACHE", str(tmp_path_factory.mktemp("cache")))


def test_this_machine_is_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    main(["pool", "doctor", "--pool", "local", "--json"])
    printed = json.loads(capsys.readouterr().out)
    same_as_help(printed, PoolResult, "pool")
    (host,) = printed["hosts"]
    assert host["cpus"] >= host["own_cpus"] >= 1 and host["memory_bytes"] > 1 << 28
    assert 0 <= host["waited_share"] <= 1 and host["measures"] == (host["why"] == "")


def test_who_may_measure() -> None:
    kind = Kind("big", ("n1",))
    assert host_of(kind, "n1", GOOD, "").measures
    for more, why in (
        ({"waited_share": 0.2}, "waited for a CPU for 20%"),
        ({"stolen_share": 0.5}, "a hypervisor below took 50%"),
        ({"qemu": ""}, "no QEMU"),
    ):
        found = host_of(kind, "n1", Facts(**{**vars_of(GOOD), **more}), "")
        assert not found.measures and why in found.why
    assert host_of(kind, "n1", GOOD, "no CPUs are free.").why == "no CPUs are free."


def vars_of(facts: Facts) -> dict[str, object]:
    """Its fields."""
    return {name: getattr(facts, name) for name in Facts.__slots__}


def test_a_kind_without_a_host_is_a_row_with_a_reason() -> None:
    none = PoolHost("small", why="Busy.", down=("n7",))
    lines = table([host_of(Kind("big", ("n1",)), "n1", GOOD, ""), none])
    assert " ".join(lines[1].split()) == "big n1 8 8.0 GiB 7.2.22 KVM 1.0% 0.0% yes"
    assert lines[2].split() == ["small", *["-"] * 7, "no"]
    assert lines[3:] == ["small: Busy.", "small: down: n7."]


def test_what_is_no_pool_or_action_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pool", "patient"]) == 2
    assert main(["pool", "doctor", "--pool", "nomad"]) == 2
    assert "is no pool" in capsys.readouterr().err
