# SPDX-License-Identifier: GPL-2.0-or-later
"""A replay gives the recorded bytes at the recorded times, faster or slower."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from duet.guests.replay import ReplayGuest
from duet.guests.types import Chunk

Run = Callable[..., object]
RECORDS = [(0, -1, b"a"), (50_000_000, 0, b"bb"), (100_000_000, 1, b""), (100_000_000, -1, b"c")]


async def play(speed: float | None) -> tuple[list[Chunk], float]:
    began = time.monotonic()
    async with ReplayGuest(RECORDS, speed) as guest:
        await guest.send(b"ignored")
        assert guest.facts.kind == "replay"
        chunks = [chunk async for chunk in guest.chunks()]
    return chunks, time.monotonic() - began


def test_as_fast_as_possible_keeps_recorded_times(run_async: Run) -> None:
    chunks, seconds = run_async(play(None))  # type: ignore[misc]
    assert [(c.stream, c.payload) for c in chunks] == [(-1, b"a"), (0, b"bb"), (-1, b"c")]
    assert [c.host_ns - chunks[0].host_ns for c in chunks] == [0, 50_000_000, 100_000_000]
    assert min(seconds, *(run_async(play(None))[1] for _ in range(4))) < 0.05  # type: ignore[index]


def test_speed_scales_the_waits(run_async: Run) -> None:
    """Never shorter than it should be; the best of five is not much longer, on a busy host, too."""
    once, fast = (
        [run_async(play(speed))[1] for _ in range(5)]  # type: ignore[index]
        for speed in (1.0, 4.0)
    )
    assert 0.1 <= min(once) < 0.3
    assert 0.025 <= min(fast) < 0.1


def test_leaving_ends_the_play(run_async: Run) -> None:
    async def scenario() -> None:
        guest = ReplayGuest(RECORDS, 1.0)
        async with guest:
            chunks = aiter(guest.chunks())
            await anext(chunks)
        assert [chunk async for chunk in chunks] == []

    run_async(scenario())


def test_speed_must_be_positive() -> None:
    with pytest.raises(ValueError, match="above 0"):
        ReplayGuest([], 0)
