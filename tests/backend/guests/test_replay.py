# SPDX-License-Identifier: GPL-2.0-or-later
"""A replay gives the recorded bytes at the recorded times, faster or slower."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from duet.guests import replay
from duet.guests.replay import ReplayGuest
from duet.guests.types import Chunk

Run = Callable[..., object]
RECORDS = [(0, -1, b"a"), (50_000_000, 0, b"bb"), (100_000_000, 1, b""), (100_000_000, -1, b"c")]


class Sleeps:
    """Real sleeps, written down: what was asked for, whatever the host made of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[float] = []
        self._sleep = asyncio.sleep
        monkeypatch.setattr(replay.asyncio, "sleep", self)

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await self._sleep(seconds)


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> Sleeps:
    return Sleeps(monkeypatch)


async def play(speed: float | None) -> tuple[list[Chunk], float]:
    began = time.monotonic()
    async with ReplayGuest(RECORDS, speed) as guest:
        await guest.send(b"ignored")
        assert guest.facts.kind == "replay"
        chunks = [chunk async for chunk in guest.chunks()]
    return chunks, time.monotonic() - began


def test_as_fast_as_possible_keeps_recorded_times(run_async: Run, sleeps: Sleeps) -> None:
    chunks, _ = run_async(play(None))  # type: ignore[misc]
    assert [(c.stream, c.payload) for c in chunks] == [(-1, b"a"), (0, b"bb"), (-1, b"c")]
    assert [c.host_ns - chunks[0].host_ns for c in chunks] == [0, 50_000_000, 100_000_000]
    assert sum(sleeps.asked) == 0


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_speed_scales_the_waits(run_async: Run, sleeps: Sleeps, speed: float) -> None:
    """Never shorter than it should be, and no more sleep is asked for than that."""
    _, seconds = run_async(play(speed))  # type: ignore[misc]
    assert seconds >= 0.1 / speed
    assert 0 < sum(sleeps.asked) <= 0.1 / speed + 0.001


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
