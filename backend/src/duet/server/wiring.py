# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the director with real guests, real kernels and the lessons' recordings."""

from __future__ import annotations

import os

from duet.base import plugins
from duet.base.errors import InputError
from duet.host.guests import live_runs, template_bytes
from duet.kernels import Changes, KernelSettings
from duet.server.archive import ArchivedRuns, ArchiveFolder
from duet.server.backup import claim
from duet.server.builds import CheckoutKernels
from duet.server.director import Director
from duet.server.hosts import HostStage, LocalHosts, begin_of
from duet.server.hosts.door import HostDoor
from duet.server.interfaces import BuildListener, Stage
from duet.server.own_arms import ChangedKernels
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
    """Make the director that `duet serve` runs.

    Args:
        listener: receives the progress of kernel builds.
        early: start the host process now instead of when the first lesson is opened.
        stage: where live runs happen; None for a host process on this machine, or for $DUET_POOL.
        hosts: endpoint for host processes on other machines. None means no endpoint, unless
            $DUET_POOL needs one.
        hosts_url: address to which those hosts connect, unless $DUET_POOL_SERVER is set.

    Raises:
        DuetError: $DUET_POOL or another variable is unusable.
    """
    kernels = CheckoutKernels(settings, listener)
    folder = ArchiveFolder.default()
    claim(folder.folder)
    saved = ArchivedRuns(folder)
    slots = live_runs()
    template_bytes()  # report a wrong environment variable here, not in a host process
    if stage is None and live:
        made = stage_elsewhere(settings, hosts_url)
        if made is not None:
            stage, slots, hosts = made
        else:
            begin = begin_of(settings, slots)
            stage = HostStage(lambda calls: LocalHosts(calls, begin, early))
    elif stage is None:
        stage = HostStage(None)
    changing = ChangedKernels(settings, Changes(settings.cache / "changes", settings.store))
    store = Store(classes_url(), servers_url())
    return Director(
        *(hub, stage, LessonRecordings(), kernels, builds, live),
        *(saved, slots, changing, store, hosts),
    )


POOL = "DUET_POOL"


def stage_elsewhere(
    settings: KernelSettings, hosts_url: str
) -> tuple[HostStage, int, HostDoor] | None:
    """Make a pool's stage, if a pool is configured. Return stage, number of slots, and endpoint.

    Raises:
        DuetError: a pool is configured, but no plug-in supports it.
    """
    modules = plugins.offered("stage")
    if not modules and os.environ.get(POOL, "local") not in ("", "local"):
        raise InputError(
            f"{POOL} is set, but this Kernel Duet has no plug-in for pools.",
            remedy=f"Unset {POOL}.",
        )
    found = (module.stage(settings, hosts_url) for module in modules)
    return next((one for one in found if one is not None), None)
