# SPDX-License-Identifier: GPL-2.0-or-later
"""A replay gives the recorded bytes with the recorded times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duet.guests.replay import ReplayGuest
from duet.guests.types import Chunk

Run = Callable[..., object]
RECORDS = [(0, -1, b"a"), (50_000_000, 0, b"bb"), (100_000_000, 1, b""), (100_000_000, -1, b"c")]


async def play() -> list[Chunk]:
    async with ReplayGuest(RECORDS) as guest:
        await guest.send(b"ignored")
        assert guest.facts.kind == "replay"
        return [chunk async for chunk in guest.chunks()]


def test_the_recorded_times_are_kept(run_async: Run) -> None:
    chunks: Any = run_async(play())
    assert [(c.stream, c.payload) for c in chunks] == [(-1, b"a"), (0, b"bb"), (-1, b"c")]
    assert [c.host_ns - chunks[0].host_ns for c in chunks] == [0, 50_000_000, 100_000_000]


def test_leaving_ends_the_play(run_async: Run) -> None:
    async def scenario() -> None:
        guest = ReplayGuest(RECORDS)
        async with guest:
            chunks = aiter(guest.chunks())
            await anext(chunks)
        assert [chunk async for chunk in chunks] == []

    run_async(scenario())
