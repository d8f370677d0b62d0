# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of the pool on a real cluster have in common."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from duet.plugins.cluster.choose import open_pool
from duet.plugins.cluster.kubernetes.kubectl import LEASE
from duet.plugins.cluster.lease import Lease
from duet.plugins.cluster.types import Pool, PoolSettings, Want
from tests.plugins.cluster.kubernetes import image
from tests.plugins.cluster.kubernetes.cluster import NAMESPACE, Cluster

Run = Callable[..., Any]
CLEARED_S: Final = 60.0
"""Until a lease's objects are deleted. Usual: 1-8 s, most of it the program's time to end."""
SMALL: Final = 64 << 20
KINDS: Final = ("cpuA", "cpuB")
SETTINGS: Final = PoolSettings("kubernetes", kinds=KINDS, image=image.NAME, namespace=NAMESPACE)
WITHIN: Final = f"--namespace={NAMESPACE}"


def check(run_async: Run, body: Callable[[Pool], Any], settings: PoolSettings = SETTINGS) -> None:
    """Run a test on a pool, which is closed afterwards."""

    async def whole() -> None:
        async with open_pool(settings) as pool:
            await body(pool)

    run_async(whole(), 180)


async def leased(pool: Pool, **more: Any) -> Lease:
    """A lease."""
    want = Want(**{"memory_bytes": SMALL, "within_s": 30.0, "ttl_s": 120.0} | more)
    lease = await pool.reserve(want)
    assert isinstance(lease, Lease), lease
    return lease


def left(kube: Cluster) -> str:
    """What of leases is in the namespace."""
    words = ("get", "jobs,pods,secrets", WITHIN, f"--selector={LEASE}", "-o", "name")
    return kube.control.said(*words)


async def cleared(kube: Cluster) -> None:
    """Wait until nothing of any lease is left."""
    until_s = time.monotonic() + CLEARED_S
    while found := await asyncio.to_thread(left, kube):
        assert time.monotonic() < until_s, found
        await asyncio.sleep(0.2)


def name_of_job(kube: Cluster) -> str:
    """The only Job there is."""
    (name,) = kube.control.said("get", "jobs", WITHIN, "-o", "name").split()
    return name.partition("/")[2]
