# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on a real Kubernetes cluster: two kubelets with containerd and runc on this machine.

The pool's kubectl has the login and rights that docs/CLUSTER.md gives a server. Skipped where the
programs are not in the cache (`make kubernetes`).
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import replace
from typing import Any

import pytest

from duet.plugins.cluster.frames import Start
from duet.plugins.cluster.kubernetes.kubectl import job, secret
from duet.plugins.cluster.limits import OUTPUT_BYTES
from duet.plugins.cluster.types import Pool, Refusal, Want
from tests.plugins.cluster.kubernetes.cluster import Cluster
from tests.plugins.cluster.kubernetes.tries import (
    SETTINGS,
    SMALL,
    WITHIN,
    Run,
    check,
    cleared,
    leased,
)


@pytest.mark.parametrize(
    "want",
    [
        Want(),
        Want(lanes=3, vcpus=2, alike=True, avoid=("n1",)),
        Want(exclusive=True, accel="kvm", kind="cpuA", ttl_s=30.5),
    ],
)
def test_the_api_server_takes_the_objects_as_they_are(kube: Cluster, want: Want) -> None:
    settings = replace(SETTINGS, kvm="devices.kubevirt.io/kvm", claim="kernels")
    start = Start(["true"], {}, b"", 20)
    made = [job("duet-1", 0, want, settings), secret("duet-1", 0, start, "uid")]
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": made})
    words = ("create", "--dry-run=server", "--validate=strict", WITHIN, "-f", "-")
    done = kube.control.call(*words, stdin=whole)
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
    assert done.stdout.count("created (server dry run)") == 2


def test_the_server_may_do_what_it_needs_and_no_more(kube: Cluster) -> None:
    def may(*words: str) -> bool:
        return kube.control.said(f"--kubeconfig={kube.login}", "auth", "can-i", *words) == "yes"

    assert may("create", "jobs") and may("delete", "jobs") and may("create", "secrets")
    assert may("get", "pods/log") and may("list", "nodes")
    for words in (
        "get secrets",
        "list secrets",
        "delete secrets",
        "create pods",
        "create pods/exec",
    ):
        assert not may(*words.split()), words
    assert not may("create", "jobs", "--namespace=kube-system") and not may("patch", "nodes")


def test_a_lease_runs_a_program_and_leaves_nothing(kube: Cluster, run_async: Run) -> None:
    async def body(pool: Pool) -> None:
        kinds = await pool.kinds()
        assert not isinstance(kinds, Refusal), kinds
        assert [(one.name, list(one.hosts)) for one in kinds] == [
            ("cpuA", ["duet-a"]),
            ("cpuB", ["duet-b"]),
        ]
        began_s = time.monotonic()
        lease = await leased(pool, lanes=2, alike=True)
        had_s = time.monotonic() - began_s
        assert len(set(lease.hosts)) == 1
        script = 'echo "$1 $A $DUET_CACHE $(id -u)"; cat; echo trouble >&2; exit 3'
        given = {"A": "b", "DUET_CACHE": "/of/the/server"}
        first = await lease.start(["sh", "-c", script, "sh", "one"], given, b"t0k3n\n")
        second = await lease.start(["/no/such/program"], lane=1)
        ended = await first.wait()
        done_s = time.monotonic() - began_s
        assert (ended.code, ended.lost, ended.cut_bytes) == (3, "", 0)
        assert sorted(ended.output.splitlines()) == [
            *(b"one b /cache 10001", b"t0k3n", b"trouble"),
        ]
        absent = await second.wait()
        assert absent.code == 127 and b"cannot be started" in absent.output
        assert lease.loss is None
        print(f"a lease in {had_s:.1f} s, a program's end {done_s:.1f} s after asking")
        await lease.release()
        await cleared(kube)

    check(run_async, body)


def test_kinds_and_hosts_to_avoid_hold(kube: Cluster, run_async: Run) -> None:
    async def body(pool: Pool) -> None:
        wanted: list[dict[str, Any]] = [{"kind": "cpuB"}, {"avoid": ("duet-a",)}]
        for more in wanted:
            lease = await leased(pool, **more)
            assert lease.hosts == ("duet-b",)
            await lease.release()
        refusal = await pool.reserve(Want(avoid=("duet-a", "duet-b"), within_s=2))
        assert isinstance(refusal, Refusal) and "node affinity" in refusal.sentence, refusal

    check(run_async, body)


def test_without_kinds_lanes_that_are_alike_share_a_host(kube: Cluster, run_async: Run) -> None:
    async def body(pool: Pool) -> None:
        lease = await leased(pool, lanes=2, alike=True)
        assert len(set(lease.hosts)) == 1

    check(run_async, body, replace(SETTINGS, kinds=(), kind_label="no-node-has/this"))


def test_a_full_cluster_refuses_and_who_waits_comes_next(kube: Cluster, run_async: Run) -> None:
    cpus = os.cpu_count() or 1

    async def body(pool: Pool) -> None:
        lease = await leased(pool, lanes=2, vcpus=cpus)
        assert sorted(lease.hosts) == ["duet-a", "duet-b"]
        refusal = await pool.reserve(Want(memory_bytes=SMALL, within_s=2))
        assert isinstance(refusal, Refusal) and "Insufficient cpu" in refusal.sentence, refusal
        waiting = asyncio.create_task(leased(pool))
        await asyncio.sleep(2)
        assert not waiting.done()
        await lease.release()
        await (await waiting).release()

    check(run_async, body)


def test_the_last_part_of_much_output_is_held(kube: Cluster, run_async: Run) -> None:
    async def body(pool: Pool) -> None:
        lease = await leased(pool)
        much = b"0123456789abcde\n" * (3 << 16)
        script = "print('0123456789abcde\\n' * (3 << 16) + 'end')"
        ended = await (await lease.start(["python3", "-c", script])).wait()
        assert ended.code == 0 and ended.output.endswith(b"abcde\nend\n"), ended.output[-50:]
        assert len(ended.output) == OUTPUT_BYTES
        assert ended.cut_bytes == len(much) + 4 - OUTPUT_BYTES

    check(run_async, body)
