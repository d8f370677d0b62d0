# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet pool doctor` on four nodes of a real Slurm."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from duet.cli.entry import main
from duet.plugins.cluster.slurm.pool import SlurmPool
from tests.plugins.cluster.slurm_cluster import Cluster


def test_each_kind_of_a_cluster_is_looked_at(
    slurm: Cluster,
    slurm_pool: Callable[..., SlurmPool],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    del slurm_pool  # it waits for all nodes
    # Without kernels no guest boots, which takes time.
    monkeypatch.setenv("DUET_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("DUET_POOL", "slurm")
    monkeypatch.setenv("DUET_POOL_KINDS", "cpuA,cpuB")
    main(["pool", "doctor"])
    lines = capsys.readouterr().out.splitlines()
    a, b, c, d = slurm.nodes
    assert lines[0].split()[:3] == ["kind", "host", "CPUs"]
    assert lines[1].split()[0] == "cpuA" and lines[1].split()[1] in (a, b)
    assert lines[2].split()[0] == "cpuB" and lines[2].split()[1] in (c, d)
