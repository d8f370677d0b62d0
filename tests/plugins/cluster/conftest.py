# SPDX-License-Identifier: GPL-2.0-or-later
"""The pools that the conformance suite runs on. One Slurm cluster serves all tests of a session."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from duet.plugins.cluster.lease import Size
from duet.plugins.cluster.local import LocalPool
from duet.plugins.cluster.slurm.pool import SlurmPool
from duet.plugins.cluster.types import PoolSettings
from tests.guest.conftest import guest_root, images_of, kernel_images
from tests.plugins.cluster.kubernetes import binaries
from tests.plugins.cluster.kubernetes import cluster as kubernetes
from tests.plugins.cluster.slurm_cluster import Cluster, cluster, missing

__all__ = ["guest_root", "images_of", "kernel_images"]  # fixtures of guest tests
Make = Callable[..., LocalPool | SlurmPool]
SILENT_S = 6.0
"""A heartbeat comes each SILENT_S / 4; 20 s would make the tests long."""
POLL_S = 0.5


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Four real nodes; $SLURM_CONF points to them while they are there."""
    if why := missing():
        pytest.skip(why)
    with cluster(tmp_path_factory.mktemp("slurm")) as made:
        os.environ["SLURM_CONF"] = made.conf
        yield made
        del os.environ["SLURM_CONF"]


@pytest.fixture
def slurm_pool(slurm: Cluster) -> Callable[..., SlurmPool]:
    """Makes a pool of that cluster."""

    def make(**more: float) -> SlurmPool:
        settings = PoolSettings("slurm", kinds=("cpuA", "cpuB"), kvm="kvm")
        return SlurmPool(settings, **{"poll_s": POLL_S, "silent_s": SILENT_S} | more)

    slurm.settle()
    return make


@pytest.fixture(params=["local", "slurm"])
def make_pool(request: pytest.FixtureRequest) -> Make:
    """Makes a pool with the size of four small hosts."""
    if request.param == "slurm":
        made: Make = request.getfixturevalue("slurm_pool")
        return made
    return lambda: LocalPool(Size(8, 8000 << 20), SILENT_S)


@pytest.fixture(scope="session")
def kube_cluster() -> Iterator[kubernetes.Cluster]:
    """A Kubernetes cluster of two nodes."""
    if why := binaries.missing():
        pytest.skip(why)
    with kubernetes.cluster() as made:
        yield made


@pytest.fixture
def kube(kube_cluster: kubernetes.Cluster, monkeypatch: pytest.MonkeyPatch) -> kubernetes.Cluster:
    """That cluster; the pool's kubectl is of its version, and has the server's login."""
    monkeypatch.setenv("KUBECONFIG", str(kube_cluster.login))
    monkeypatch.setenv("PATH", f"{binaries.folder()}:{os.environ['PATH']}")
    return kube_cluster
