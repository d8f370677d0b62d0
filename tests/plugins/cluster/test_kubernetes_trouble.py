# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong on a real Kubernetes cluster, and what the lease says of it."""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import replace

from duet.plugins.cluster.types import Loss, Pool
from tests.plugins.cluster.kubernetes.cluster import Cluster
from tests.plugins.cluster.kubernetes.tries import (
    SETTINGS,
    WITHIN,
    Run,
    check,
    cleared,
    leased,
    name_of_job,
)

LOST_S = 100.0
"""Until a lease is lost. Usual: 2-20 s."""
HOG = 'print(len(b"x" * (1 << 30)))'


def test_a_program_that_needs_more_memory_than_its_lane_has(kube: Cluster, run_async: Run) -> None:
    async def body(pool: Pool) -> None:
        lease = await leased(pool)
        ended = await (await lease.start(["python3", "-c", HOG])).wait()
        assert ended.code is None and "used up the memory" in ended.lost, ended
        assert lease.loss is None  # it is the program's doing

    check(run_async, body)


def test_an_image_that_no_node_can_get(kube: Cluster, run_async: Run) -> None:
    async def body(pool: Pool) -> None:
        lease = await leased(pool)
        program = await lease.start(["true"])
        loss = await asyncio.wait_for(lease.lost(), LOST_S)
        assert loss.whose == "host" and "image" in loss.sentence.lower(), loss
        assert (await program.wait()).lost == loss.sentence

    check(run_async, body, replace(SETTINGS, image="localhost/nosuch:1"))


def test_somebody_deletes_the_job_or_the_pod(kube: Cluster, run_async: Run) -> None:
    async def body(pool: Pool) -> None:
        for words in (("job",), ("pod", "--selector=job-name")):
            lease = await leased(pool)
            await lease.start(["sleep", "100"])
            name = await asyncio.to_thread(name_of_job, kube)
            which = [name] if words[0] == "job" else []
            await asyncio.to_thread(
                kube.control.said, "delete", "--wait=false", *words, *which, WITHIN
            )
            loss = await asyncio.wait_for(lease.lost(), LOST_S)
            assert loss == Loss("a pod of the lease is gone: somebody deleted it.", "cancelled")
            await lease.release()

    check(run_async, body)


def test_the_jobs_own_deadline_ends_what_a_killed_server_has_left(
    kube: Cluster, run_async: Run
) -> None:
    async def body(pool: Pool) -> None:
        lease = await leased(pool)
        program = await lease.start(["sleep", "100"])
        name = await asyncio.to_thread(name_of_job, kube)
        patch = '{"spec": {"activeDeadlineSeconds": 1}}'
        await asyncio.to_thread(kube.control.said, "patch", "job", name, WITHIN, "-p", patch)
        loss = await asyncio.wait_for(lease.lost(), LOST_S)
        assert loss.whose == "deadline", loss
        assert (await program.wait()).lost == loss.sentence
        await cleared(kube)

    check(run_async, body)


def test_a_restart_of_the_api_server_ends_nothing(kube: Cluster, run_async: Run) -> None:
    async def body(pool: Pool) -> None:
        lease = await leased(pool)
        program = await lease.start(["sh", "-c", "sleep 8; echo end"])
        await asyncio.to_thread(kube.control.daemons.end, "kube-apiserver", signal.SIGKILL)
        await asyncio.sleep(3)
        kube.control.start_api()  # not in a thread: it would end with that
        ended = await program.wait()
        assert (ended.code, ended.output, lease.loss) == (0, b"end\n", None)

    check(run_async, body)


def test_a_node_dies(kube: Cluster, run_async: Run) -> None:
    async def body(pool: Pool) -> None:
        lease = await leased(pool, kind="cpuB")
        other = await leased(pool, kind="cpuA")
        program = await lease.start(["sleep", "100"])
        node = kube.nodes["duet-b"]
        await asyncio.sleep(3)
        began_s = time.monotonic()
        await asyncio.to_thread(node.lose)
        try:
            loss = await asyncio.wait_for(lease.lost(), LOST_S)
            print(f"the death of a node was reported after {time.monotonic() - began_s:.0f} s")
            assert loss.whose == "host" and "host duet-b failed" in loss.sentence, loss
            assert (await program.wait()).lost == loss.sentence and other.loss is None
            kinds = await pool.kinds()
            assert isinstance(kinds, list) and [list(kind.down) for kind in kinds] == [
                [],
                ["duet-b"],
            ]
        finally:
            node.start_kubelet()  # not in a thread: it would end with that
            await asyncio.to_thread(kube.wait_ready, "duet-b")
        await other.release()
        await cleared(kube)

    check(run_async, body)
