# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a server's live runs on leases of a pool."""

from __future__ import annotations

import os

from duet.base.budgets import LANE_BYTES, LEASE_TTL_S, LEASE_WITHIN_S, RUN_BYTES, RUN_CPUS
from duet.host.guests import pooled_runs
from duet.kernels import KernelSettings
from duet.plugins.cluster.choose import open_pool
from duet.plugins.cluster.live import Leases, PooledHosts
from duet.plugins.cluster.types import PoolSettings, Want
from duet.server.hosts import HostStage, begin_of
from duet.server.hosts.door import HostDoor


def stage(settings: KernelSettings, usual_url: str) -> tuple[HostStage, int, HostDoor] | None:
    """Return the stage of live runs, the maximum number of simultaneous runs, and the endpoint for
    their hosts.

    Args:
        usual_url: the address to which host processes connect, unless $DUET_POOL_SERVER is set.

    Returns:
        None if runs take place on this machine.

    Raises:
        DuetError: $DUET_POOL or another variable is invalid.
    """
    pool = PoolSettings.from_environment()
    if pool.pool == "local":
        return None
    door, slots = HostDoor(settings.store), pooled_runs()
    return stage_on(pool, door, server_url(usual_url), settings, slots), slots, door


def stage_on(
    pool: PoolSettings, door: HostDoor, url: str, settings: KernelSettings, slots: int
) -> HostStage:
    """Return a stage that runs live runs on leases of a pool."""
    leases = Leases(open_pool(pool), door, url)
    memory_bytes = LANE_BYTES if pool.spread else RUN_BYTES
    want = Want(
        vcpus=RUN_CPUS, memory_bytes=memory_bytes, within_s=LEASE_WITHIN_S, ttl_s=LEASE_TTL_S
    )
    begin = begin_of(settings, slots)
    return HostStage(lambda calls: PooledHosts(leases, calls, begin, slots, want, pool.spread))


def server_url(usual_url: str) -> str:
    """Return the address to which host processes connect: $DUET_POOL_SERVER, or else
    `usual_url`."""
    return os.environ.get("DUET_POOL_SERVER") or usual_url


def dialled(usual_url: str) -> str:
    """Return the address by which host processes reach this server.

    The address is "" if no host processes run on other machines.
    """
    local = PoolSettings.from_environment().pool == "local"
    return "" if local else server_url(usual_url)
