# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on Kubernetes, as far as they can be tried without a cluster: schemas, and the calls."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from duet.base.errors import InfraError, InputError
from duet.base.settings import repo_root
from duet.plugins.cluster.choose import open_pool
from duet.plugins.cluster.frames import Start
from duet.plugins.cluster.kubernetes import pool as place_module
from duet.plugins.cluster.kubernetes.kubectl import items, job, secret
from duet.plugins.cluster.kubernetes.pool import KubernetesPool
from duet.plugins.cluster.lease import Lease
from duet.plugins.cluster.limits import OUTPUT_BYTES
from duet.plugins.cluster.types import PoolSettings, Program, Refusal, Want
from tests.plugins.cluster.kubectl_double import NODE, Tree

SETTINGS = PoolSettings(
    "kubernetes",
    kinds=("big", "small"),
    kvm="devices.kubevirt.io/kvm",
    image="registry.example/kernel-duet:1",
    namespace="duet",
)
VERSION = "1.34"
START = Start(["duet", "host"], {"A": "b"}, b"t0k3n", 20)
Run = Callable[..., Any]


def validate(tree: Tree) -> None:
    """Raise where an API server would refuse the object."""
    kubernetes_validate.validate(tree, VERSION, strict=True)


@pytest.mark.parametrize(
    "want",
    [
        Want(),
        Want(lanes=3, vcpus=2, alike=True),
        Want(exclusive=True, accel="kvm", kind="big", ttl_s=30.5),
        Want(lanes=2, alike=True, avoid=("n1",)),
    ],
)
def test_the_objects_are_valid_by_the_schemas_of_kubernetes(want: Want) -> None:
    for lane in range(want.lanes_at_once):
        validate(job("duet-1", lane, want, SETTINGS))
        validate(secret("duet-1", lane, START, "uid"))


def test_hosts_to_avoid_are_kept_out_beside_what_else_is_wanted() -> None:
    tree = job("duet-1", 0, Want(lanes=2, alike=True, avoid=("n1",)), SETTINGS)
    affinity = tree["spec"]["template"]["spec"]["affinity"]
    assert set(affinity) == {"nodeAffinity", "podAffinity"}
    terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (rule,) = terms["nodeSelectorTerms"][0]["matchExpressions"]
    assert (rule["operator"], rule["values"]) == ("NotIn", ["n1"])
    assert "affinity" not in job("duet-1", 0, Want(), SETTINGS)["spec"]["template"]["spec"]


def test_an_object_with_a_mistake_is_refused() -> None:
    wrong = job("duet-1", 0, Want(), SETTINGS)
    wrong["spec"]["template"]["spec"]["restartPolicies"] = "Never"
    with pytest.raises(kubernetes_validate.ValidationError):
        validate(wrong)


def test_a_pod_has_no_right_and_what_was_wanted() -> None:
    want = Want(vcpus=2, memory_bytes=3 << 30, exclusive=True, accel="kvm", kind="big", ttl_s=30.5)
    tree = job("duet-1", 0, want, SETTINGS)
    assert tree["spec"]["activeDeadlineSeconds"] == 101 and tree["spec"]["backoffLimit"] == 0
    pod = tree["spec"]["template"]["spec"]
    assert pod["nodeSelector"]["kernel-duet/kind"] == "big"
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    (container,) = pod["containers"]
    wanted = {"cpu": "2", "memory": "3072Mi", "devices.kubevirt.io/kvm": "1"}
    assert container["resources"] == {"requests": wanted, "limits": wanted}
    may = container["securityContext"]
    assert may["capabilities"] == {"drop": ["ALL"]} and may["readOnlyRootFilesystem"] is True
    assert may["privileged"] is False and may["allowPrivilegeEscalation"] is False
    assert "t0k3n" not in json.dumps(tree)


def test_the_image_is_what_the_manifest_says() -> None:
    text = (repo_root() / "Dockerfile").read_text()
    assert "useradd --uid 10001" in text and "WORKDIR /duet" in text and "/cache" in text


def test_without_kubectl_or_image_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InfraError, match="kubectl is not installed"):
        open_pool(SETTINGS)
    (tmp_path / "kubectl").symlink_to("/bin/true")
    with pytest.raises(InputError, match="no image"):
        open_pool(PoolSettings("kubernetes"))


def test_objects_are_read_from_a_list_and_from_documents_in_a_row() -> None:
    assert items('{"items": [{"a": 1}, {"a": 2}]}') == [{"a": 1}, {"a": 2}]
    assert items('{"a": 1}\n{"a": 2}\n') == [{"a": 1}, {"a": 2}]
    assert items("no JSON") == []


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in's folder; its kubectl is found first."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/kubectl"
    words = (
        f'cd {repo_root()} && exec {sys.executable} -m tests.plugins.cluster.kubectl_double "$@"'
    )
    script.write_text(f"#!/bin/sh\n{words}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("KUBECTL_STATE", str(tmp_path))
    monkeypatch.setattr(place_module, "KUBE_POLL_S", 0.2)
    return tmp_path


def names_of_jobs(state: Path) -> list[str]:
    """As the stand-in stores them."""
    return [path.stem.removeprefix("Job-") for path in state.glob("Job-*.json")]


def test_a_lease_runs_a_program_and_leaves_nothing(state: Path, run_async: Run) -> None:
    async def body() -> None:
        async with KubernetesPool(SETTINGS) as pool:
            kinds = await pool.kinds()
            assert not isinstance(kinds, Refusal)
            assert [(k.name, list(k.hosts)) for k in kinds] == [("big", [NODE]), ("small", [])]
            lease = await pool.reserve(Want(lanes=2, vcpus=2, within_s=10))
            assert isinstance(lease, Lease) and lease.hosts == (NODE, NODE), lease
            program = await lease.start(["sh", "-c", "cat; echo $A; exit 3"], {"A": "b"}, b"t0k3n")
            ended = await program.wait()
            assert (ended.code, ended.lost, ended.output) == (3, "", b"t0k3nb\n")
            with pytest.raises(InputError, match="runs only one program"):
                await lease.start(["true"])
            refusal = await pool.reserve(Want(within_s=0.5))
            assert isinstance(refusal, Refusal) and "Insufficient cpu" in refusal.sentence
            (state / "down").touch()
            await asyncio.sleep(1)  # a moment without an answer ends nothing
            (state / "down").unlink()
            assert lease.loss is None
            await lease.release()

    run_async(body(), 60)
    assert list(state.glob("*.json")) == []
    created = [json.loads(line) for line in (state / "created").read_text().splitlines()]
    for tree in created:
        tree["metadata"].pop("uid", None)
        validate(tree)
    assert [tree["kind"] for tree in created] == ["Job", "Job", "Secret", "Job"]


def test_the_end_of_a_long_log_is_held(state: Path, run_async: Run) -> None:
    async def body() -> None:
        async with KubernetesPool(SETTINGS) as pool:
            lease = await pool.reserve(Want(within_s=10))
            assert isinstance(lease, Lease)
            with pytest.raises(InputError, match="the limit of a Secret"):
                await lease.start(["cat"], stdin=b"x" * (1 << 20))
            much = f"print('x' * {OUTPUT_BYTES + 7}); print('end')"
            ended = await (await lease.start([sys.executable, "-c", much])).wait()
            assert ended.output.endswith(b"x\nend\n") and len(ended.output) == OUTPUT_BYTES
            assert ended.cut_bytes == 7 + 5

    run_async(body(), 60)


async def sleeping(pool: KubernetesPool, state: Path) -> tuple[Lease, Program, str]:
    """A lease with a program that goes on, and the name of its Job."""
    lease = await pool.reserve(Want(within_s=10))
    assert isinstance(lease, Lease)
    program = await lease.start(["sleep", "5"])
    (name,) = await asyncio.to_thread(names_of_jobs, state)
    return lease, program, name


def test_a_pod_that_a_host_loses_is_the_hosts_trouble(state: Path, run_async: Run) -> None:
    async def body() -> None:
        async with KubernetesPool(SETTINGS) as pool:
            lease, program, name = await sleeping(pool, state)
            (state / f"{name}.failed").write_text("The node was low on resource: memory.")
            loss = await asyncio.wait_for(lease.lost(), 30)
            assert loss.whose == "host" and f"host {NODE} failed (Evicted" in loss.sentence
            assert (await program.wait()).lost == loss.sentence

    run_async(body(), 60)


def test_a_pod_that_somebody_deletes_is_no_program_that_ended(state: Path, run_async: Run) -> None:
    async def body() -> None:
        async with KubernetesPool(SETTINGS) as pool:
            lease, program, name = await sleeping(pool, state)
            (state / f"{name}.leaving").touch()
            loss = await asyncio.wait_for(lease.lost(), 30)
            assert loss.whose == "cancelled" and "somebody deleted it" in loss.sentence
            ended = await program.wait()
            assert (ended.code, ended.lost) == (None, loss.sentence)

    run_async(body(), 60)
