# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a stage has its host processes: one on this machine for all, or leases of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import NamedTuple, Protocol

from duet.guests.clones import TemplateCounts
from duet.hosts.peer import Peer


class Place(NamedTuple):
    """Where lanes of a run are.

    Args:
        peer: the host process.
        slot: what the run's slot is there.
    """

    peer: Peer
    slot: int


class Hosts(Protocol):
    """Use as `async with`: leaving ends all host processes, with their guests."""

    async def __aenter__(self) -> Hosts: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def saves_first(self) -> bool:
        """Whether a run that begins in a slot may end the slot's host processes."""
        ...

    async def ready(self, slot: int, lanes: int, begins: bool = False) -> Sequence[Place]:
        """The host processes of a slot, once they take requests: one for all lanes, or one each.

        Args:
            lanes: of the run.
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


def shared_out(arms: Sequence[str], places: int) -> tuple[tuple[str, ...], ...]:
    """Which lanes each of so many host processes has."""
    return tuple(tuple(arms[at::places]) for at in range(places))
