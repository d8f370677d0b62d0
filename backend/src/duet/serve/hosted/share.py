# SPDX-License-Identifier: GPL-2.0-or-later
"""The lanes of a run that are on one host process: all of them, or some."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence

from pydantic import JsonValue

from duet.errors import InfraError
from duet.hosts import limits, packets
from duet.hosts import requests as r
from duet.hosts.packets import RunMessage
from duet.hosts.work import Events
from duet.serve.hosted.hosts import Place
from duet.stream import messages as m
from duet.stream.codec import Packet

Take = Callable[["Share", RunMessage, Packet], None]


class Share:
    """Some lanes of a run, where they are.

    Args:
        first: the run's first message, which has all lanes.
        arms: the lanes.
    """

    def __init__(self, place: Place, first: m.Run, arms: Sequence[str]) -> None:
        self.arms = tuple(arms)
        self._place, self._first = place, first
        self._patience: asyncio.Timeout | None = None
        """While the lanes are waited for."""

    async def perform(self, run: r.Wanted, take: Take, together: bool) -> None:
        """Run them to their end.

        Args:
            take: gets each message of theirs, as it is sent to browsers, too.
            together: they begin when `go` is called, with lanes elsewhere.

        Raises:
            DuetError: none of them can begin, or the host process is gone.
        """
        asked = r.Perform(
            run_id=self._first.run_id,
            slot=self._place.slot,
            run=run,
            lanes=list(self.arms) if together else [],
        )

        def taken(travelled: bytes) -> None:
            message, packet = packets.read(travelled, self._first, self.arms)
            take(self, message, packet)

        try:
            async with asyncio.timeout(None) as self._patience:
                await self._place.peer.call("perform", asked.packed(), None, taken)
        except TimeoutError as error:
            raise InfraError(
                f"{', '.join(self.arms)} was not ready {limits.TOGETHER_S:g} s after the others.",
                remedy="Start the run again.",
            ) from error
        finally:
            self._patience = None

    def give_up(self) -> None:
        """The others have waited for long enough: `perform` fails."""
        if self._patience is not None:
            self._patience.reschedule(asyncio.get_running_loop().time())

    def go(self) -> None:
        """All lanes of the run are ready: begin."""
        self._place.peer.note("go", r.OfRun(run_id=self._first.run_id).packed())

    def close(self) -> None:
        """Give up what the host process has of it."""
        self._place.peer.note("close", r.OfRun(run_id=self._first.run_id).packed())

    async def ask(
        self,
        name: str,
        asked: r.OfRun,
        timeout_s: float = limits.CALL_S,
        event: Events | None = None,
    ) -> bytes:
        """Have something done with the run there. Raises as Peer.call()."""
        return await self._place.peer.call(name, asked.packed(), timeout_s, event)

    async def raw_events(self, where: r.OfRun) -> list[dict[str, JsonValue]]:
        """Raw records near a moment."""
        found = await self.ask("raw", where, limits.RAW_S)
        try:
            tree = json.loads(found)
        except ValueError as error:
            raise _unreadable("raw records") from error
        if not isinstance(tree, list) or not all(isinstance(one, dict) for one in tree):
            raise _unreadable("raw records")
        return tree

    async def bundle(self) -> bytes | None:
        """These lanes as a bundle; None: there is none of them."""
        content = bytearray()

        def piece(of: bytes) -> None:
            if len(content) <= limits.BUNDLE_BYTES:
                content.extend(of)

        whose = r.OfRun(run_id=self._first.run_id)
        length = await self.ask("bundle", whose, limits.BUNDLE_S, piece)
        if not length:
            return None
        if str(len(content)).encode() != length:
            raise _unreadable("a file")
        return bytes(content)


def _unreadable(what: str) -> InfraError:
    return InfraError(
        f"the host process has sent {what} that cannot be read.", remedy="Start the run again."
    )
