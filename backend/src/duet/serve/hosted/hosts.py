# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a stage has its host processes: one on this machine for all, or leases of a pool."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Protocol

from duet.guests.clones import TemplateCounts
from duet.hosts.peer import Peer

NewPeer = Callable[[], Peer]
"""Makes the peer of a host process that is about to be started."""


class Hosts(Protocol):
    """Use as `async with`: leaving ends all host processes, with their guests."""

    async def __aenter__(self) -> Hosts: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    async def ready(self, slot: int, begins: bool = False) -> tuple[Peer, int]:
        """The host process of a slot, once it takes requests, and what the slot is there.

        Args:
            begins: a run begins there, and nothing else goes on in that slot.

        Raises:
            InfraError: none can be had.
        """
        ...

    def alone(self) -> AbstractAsyncContextManager[Peer]:
        """A host process for something that wants all of its machine, such as a measurement.

        Raises:
            InfraError: none can be had.
        """
        ...

    def parked(self) -> TemplateCounts:
        """How parked guests stand."""
        ...

    async def rest(self) -> None:
        """Nothing has run for a while: end guests, and give back what costs others something."""
        ...
