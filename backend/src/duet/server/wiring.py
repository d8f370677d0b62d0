# SPDX-License-Identifier: GPL-2.0-or-later
"""The director of real guests, real kernels and the lessons' own recordings."""

from __future__ import annotations

import os

from duet.base.budgets import LANE_BYTES, LEASE_TTL_S, LEASE_WITHIN_S, RUN_BYTES, RUN_CPUS
from duet.host.guests import live_runs, pooled_runs, template_bytes
from duet.kernels import Changes, KernelSettings
from duet.pools.choose import open_pool
from duet.pools.types import PoolSettings, Want
from duet.server.archive import ArchivedRuns, ArchiveFolder
from duet.server.backup import claim
from duet.server.builds import CheckoutKernels
from duet.server.director import Director
from duet.server.hosts import HostStage, LocalHosts, begin_of
from duet.server.hosts.door import HostDoor
from duet.server.hosts.pooled import Leases, PooledHosts
from duet.server.interfaces import BuildListener, Stage
from duet.server.own_arms import Changing
from duet.server.recordings import LessonRecordings
from duet.store.database import classes_url, servers_url
from duet.store.store import Store
from duet.stream.hub import Hub


def default_director(
    hub: Hub,
    settings: KernelSettings,
    builds: bool,
    live: bool = True,
    listener: BuildListener | None = None,
    early: bool = False,
    stage: Stage | None = None,
    hosts: HostDoor | None = None,
    hosts_url: str = "",
) -> Director:
    """What `duet serve` runs.

    Args:
        listener: receives the progress of kernel builds.
        early: start the process beside the guests now, not with the first lesson that is opened.
        stage: where live runs happen; None: on a host process of this machine.
        hosts: where host processes of other machines come in; None: nowhere,
            or where $DUET_POOL says that there are some.
        hosts_url: what these dial, where $DUET_POOL_SERVER does not say it.

    Raises:
        DuetError: $DUET_POOL or another variable is not usable.
    """
    kernels = CheckoutKernels(settings, listener)
    folder = ArchiveFolder.default()
    claim(folder.folder)
    saved = ArchivedRuns(folder)
    slots = live_runs()
    template_bytes()  # a mistake in its variable is better seen now than by a host process
    if stage is None and live:
        pool = PoolSettings.from_environment()
        if pool.pool == "local":
            begin = begin_of(settings, slots)
            stage = HostStage(lambda calls: LocalHosts(calls, begin, early))
        else:
            slots, hosts = pooled_runs(), HostDoor(settings.store)
            stage = pooled_stage(pool, hosts, hosts_url, settings, slots)
    elif stage is None:
        stage = HostStage(None)
    changing = Changing(settings, Changes(settings.cache / "changes", settings.store))
    store = Store(classes_url(), servers_url())
    return Director(
        *(hub, stage, LessonRecordings(), kernels, builds, live),
        *(saved, slots, changing, store, hosts),
    )


def pooled_stage(
    pool: PoolSettings, door: HostDoor, url: str, settings: KernelSettings, slots: int
) -> HostStage:
    """Live runs on leases of a pool."""
    leases = Leases(open_pool(pool), door, os.environ.get("DUET_POOL_SERVER") or url)
    memory_bytes = LANE_BYTES if pool.spread else RUN_BYTES
    want = Want(
        vcpus=RUN_CPUS, memory_bytes=memory_bytes, within_s=LEASE_WITHIN_S, ttl_s=LEASE_TTL_S
    )
    begin = begin_of(settings, slots)
    return HostStage(lambda calls: PooledHosts(leases, calls, begin, slots, want, pool.spread))
