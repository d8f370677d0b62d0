# SPDX-License-Identifier: GPL-2.0-or-later
"""All shares of a run: what is asked of the run is asked of those whom it concerns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from duet.errors import InputError
from duet.hosts import requests as r
from duet.serve.hosted.hosts import Place, shared_out
from duet.serve.hosted.share import Share
from duet.stream import messages as m


class Shares:
    """The shares of a run; none before it has a host process.

    Args:
        first: the run's first message.
        arms: its lanes, which the places share.
    """

    def __init__(self, places: Sequence[Place], first: m.Run, arms: Sequence[str]) -> None:
        parts = shared_out(arms, len(places))
        self._all = tuple(
            Share(place, first, own) for place, own in zip(places, parts, strict=True)
        )

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Share]:
        return iter(self._all)

    def index(self, share: Share) -> int:
        """Its number."""
        return self._all.index(share)

    def go(self) -> None:
        """All lanes are ready: begin."""
        for share in self._all:
            share.go()

    def close(self) -> None:
        """Give up what host processes have of the run."""
        for share in self._all:
            share.close()

    async def everywhere(self, name: str, asked: r.OfRun) -> None:
        """Have something done with all lanes.

        Raises:
            DuetError: it is not done anywhere, as with lanes on one host process.
        """
        if not self._all:
            raise InputError("nothing runs yet.", remedy="Wait until the lanes run.")
        answers = [share.ask(name, asked) for share in self._all]
        found = await asyncio.gather(*answers, return_exceptions=True)
        failed = [error for error in found if isinstance(error, BaseException)]
        if len(failed) == len(found):
            raise failed[0]

    async def raw_events(self, where: r.OfRun) -> list[dict[str, JsonValue]]:
        """Raw records near a moment of a lane; there is a share at least."""
        having = [share for share in self._all if where.arm in share.arms] or self._all
        return await having[0].raw_events(where)

    async def bundles(self) -> list[bytes]:
        """The lanes of each as a bundle, of those that have any.

        Raises:
            DuetError: a host process is gone, or has sent no bundle.
        """
        found = [await share.bundle() for share in self._all]
        return [one for one in found if one is not None]
