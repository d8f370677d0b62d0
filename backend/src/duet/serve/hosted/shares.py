# SPDX-License-Identifier: GPL-2.0-or-later
"""All shares of a run: what is asked of the run is asked of those whom it concerns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from duet.errors import DuetError, InputError
from duet.hosts import limits
from duet.hosts import requests as r
from duet.runs.join import Part
from duet.serve.hosted.hosts import Place, shared_out
from duet.serve.hosted.merging import not_ready
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
        self._waiting = set(arms)
        """Lanes whose share goes on, until all have begun."""
        self._late: set[str] = set()
        """Of them those that are not ready."""
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Share]:
        return iter(self._all)

    def index(self, share: Share) -> int:
        """Its number."""
        return self._all.index(share)

    def go_if_ready(self, lanes: Mapping[str, m.Lane]) -> None:
        """Lanes have moved: all begin when all are ready, or wait for the others for a while."""
        if len(self._all) < 2 or not self._waiting:
            return
        self._late = not_ready(self._waiting, lanes)
        if not self._late:
            self._begin()
        elif self._late < self._waiting and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(limits.TOGETHER_S, self._give_up)

    def ended(self, share: Share, lanes: Mapping[str, m.Lane]) -> None:
        """Nobody waits for these lanes any more."""
        self._waiting.difference_update(share.arms)
        self.go_if_ready(lanes)

    def _begin(self) -> None:
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
        for share in self._all:
            share.go()

    def _give_up(self) -> None:
        for share in self._all:
            if self._late & set(share.arms):
                share.give_up()

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

    async def bundles(self) -> list[Part]:
        """The lanes of each as a bundle, of those that have any.

        Raises:
            DuetError: all host processes are gone, or have sent no bundle.
        """
        found: list[Part] = []
        errors: list[DuetError] = []
        for share in self._all:
            try:
                content = await share.bundle()
            except DuetError as error:
                errors.append(error)
                continue
            if content is not None:
                found.append(Part(share.arms, content))
        if errors and not found:
            raise errors[0]
        return found
