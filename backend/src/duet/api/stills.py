# SPDX-License-Identifier: GPL-2.0-or-later
"""Stills for readers without scripts: one is taken at a time, and the newest are kept."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from pathlib import Path

from duet.api.still_request import StillRequest
from duet.errors import InfraError
from duet.export.pictures import Shot, taken_of
from duet.lessons import files
from duet.lessons.load import LessonFolder
from duet.settings import repo_root

MAX_CACHED = 64
MAX_CACHED_BYTES = 16 << 20
QUEUE = 8
"""Requests that may wait for the one that is being taken."""
WAIT_S = 60.0
"""For one's turn."""
TAKE_S = 150.0
"""For a picture, once its turn has come."""
LARGE = 64 << 20
"""Of larger recordings no still is taken; decoding them takes minutes."""

Take = Callable[[LessonFolder, Path, Shot], Awaitable[bytes]]
Key = tuple[str, tuple[object, ...], Shot]


class Stills:
    """Takes pictures and keeps them, by what they are of.

    Args:
        busy: what must not be disturbed now, in words; None: nothing.
        take: how one is taken.
    """

    def __init__(self, busy: Callable[[], str | None], take: Take = taken_of) -> None:
        self._busy = busy
        self._take = take
        self._cache: OrderedDict[Key, bytes] = OrderedDict()
        self._sums: OrderedDict[tuple[Path, int, int], str] = OrderedDict()
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def png(self, asked: StillRequest) -> bytes:
        """The picture.

        Raises:
            InfraError: no Chromium, no time, too many at once, or a measurement goes on.
        """
        key = await asyncio.to_thread(self._key, asked)
        if (found := self._found(key)) is not None:
            return found
        await self._my_turn()
        try:
            if (found := self._found(key)) is not None:  # taken while this one waited
                return found
            if (what := self._busy()) is not None:
                raise InfraError(
                    f"no picture is taken while {what}, which it would disturb.",
                    remedy="Ask again when it is over.",
                )
            async with asyncio.timeout(TAKE_S):
                png = await self._take(asked.folder, asked.path, asked.shot)
        except TimeoutError as error:
            raise InfraError(
                f"the picture was not taken within {TAKE_S:.0f} s.",
                remedy="Ask again when the machine is less busy.",
            ) from error
        finally:
            self._turn.release()
        self._store(key, png)
        return png

    async def _my_turn(self) -> None:
        if self._waiting >= QUEUE:
            raise InfraError(
                f"{QUEUE} pictures are waited for already.", remedy="Ask again in a minute."
            )
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT_S):
                await self._turn.acquire()
        except TimeoutError as error:
            raise InfraError(
                f"other pictures were being taken for {WAIT_S:.0f} s.",
                remedy="Ask again in a minute.",
            ) from error
        finally:
            self._waiting -= 1

    def _key(self, asked: StillRequest) -> Key:
        """The recording's checksum, and what else may change: the lesson, the built page."""
        status = asked.path.stat()
        if status.st_size > LARGE:
            raise InfraError(
                f"{asked.path.name} has {status.st_size >> 20} MB, and a still is taken of "
                f"{LARGE >> 20} at most.",
                remedy="Play it with scripts switched on.",
            )
        stamp = (asked.path, status.st_size, status.st_mtime_ns)
        known = self._sums.get(stamp)
        if known is None:
            known = hashlib.sha256(asked.path.read_bytes()).hexdigest()
            self._sums[stamp] = known
            while len(self._sums) > MAX_CACHED:
                self._sums.popitem(last=False)
        page = repo_root() / "frontend/dist/site/page.js"
        return known, (files.stamp(asked.folder.folder), _stamp(page)), asked.shot

    def _found(self, key: Key) -> bytes | None:
        if key in self._cache:
            self._cache.move_to_end(key)
        return self._cache.get(key)

    def _store(self, key: Key, png: bytes) -> None:
        self._cache[key] = png
        while (
            len(self._cache) > MAX_CACHED or sum(map(len, self._cache.values())) > MAX_CACHED_BYTES
        ):
            self._cache.popitem(last=False)


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
