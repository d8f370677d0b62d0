# SPDX-License-Identifier: GPL-2.0-or-later
"""A server whose guests are on leases of a pool."""

from __future__ import annotations

from pathlib import Path

from duet.api.app import create_app
from duet.kernels import KernelSettings
from duet.plugins.cluster.live import Leases, PooledHosts
from duet.plugins.cluster.types import Pool, Want
from duet.server.hosts.door import DOOR_PATH, HostDoor
from duet.server.hosts.stage import HostStage, begin_of
from duet.server.wiring import default_director


class PooledApp:
    """One live run at once; `at` says where it is served, before a lease is wanted.

    Args:
        want: of a lease.
        spread: each lane has a host process of its own.
        host: the address where it is served.
    """

    def __init__(
        self,
        root: Path,
        pool: Pool,
        want: Want,
        spread: bool = False,
        host: str = "127.0.0.1",
    ) -> None:
        settings = KernelSettings.default()
        door = HostDoor(settings.store)
        self.leases = Leases(pool, door, "")
        begin = begin_of(settings, 1)
        stage = HostStage(lambda calls: PooledHosts(self.leases, calls, begin, 1, want, spread))
        self.app = create_app(
            lambda hub: default_director(hub, settings, False, stage=stage, hosts=door),
            page=root / "none",
            host=host,
        )

    def at(self, address: str) -> str:
        self.leases.url = f"ws://{address}{DOOR_PATH}"
        return address
