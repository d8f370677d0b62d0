# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made of a copy's words while it runs its check and while its plan is set up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from duet.base.errors import InfraError
from duet.guests.clones.copy import find_problem, read_until
from duet.guests.types import CTL_STREAM, Chunk
from duet.wire import (
    Beat,
    CpuBeat,
    CpuStats,
    Drained,
    Ended,
    Frame,
    FrameType,
    GuestError,
    Line,
    Ready,
    Stats,
    encode,
)

PAGE = bytes(4096)


def ctl(*frames: Frame) -> Chunk:
    return Chunk(CTL_STREAM, b"".join(encode(frame) for frame in frames), 0)


def cpu(number: int) -> Chunk:
    return Chunk(number, PAGE, 0)


def beat(*sent: int) -> Beat:
    return Beat(1, tuple(CpuBeat(bytes_sent, 1) for bytes_sent in sent))


def stats(overrun: int) -> Stats:
    return Stats(True, (CpuStats(1, overrun, 0, 0, 1),), 0)


async def come(chunks: list[Chunk]) -> AsyncGenerator[Chunk, None]:
    while chunks:
        yield chunks.pop(0)


def judged(*chunks: Chunk, traced: bool = True) -> tuple[str, int]:
    """The find_problem, and how many chunks it has left."""
    left = list(chunks)
    return asyncio.run(find_problem(come(left), traced=traced)), len(left)


def test_a_sound_run_is_over_when_all_bytes_are_here() -> None:
    end = ctl(beat(4096, 4096), Ended(1, 0), stats(0), Drained(1))
    assert judged(cpu(0), end, cpu(1), cpu(1)) == ("", 1)
    assert judged(cpu(0), end) == ("it ended", 0)
    assert judged(ctl(Ended(1, 0), Drained(1)), traced=False) == ("", 0)


@pytest.mark.parametrize(
    ("frames", "why"),
    [
        ((Line(1, 2, "no disk"), Ended(1, 1), Drained(1)), "no disk"),
        ((Ended(1, -9), Drained(1)), "its check ended with -9"),
        ((beat(4096), Ended(1, 0), stats(3), Drained(1)), "3 events were lost"),
        ((GuestError("It cannot.", "", ""),), "It cannot"),
    ],
)
def test_what_is_wrong_is_said(frames: tuple[Frame, ...], why: str) -> None:
    assert judged(cpu(0), ctl(*frames)) == (why, 0)


def test_a_traced_run_without_events_is_not_sound() -> None:
    assert judged(ctl(beat(0), Ended(1, 0), Drained(1))) == ("no events came", 0)


def test_bytes_up_to_a_frame_are_kept_and_an_error_is_one_sentence() -> None:
    def until(last: FrameType, *chunks: Chunk) -> bytes:
        return asyncio.run(read_until(last, come(list(chunks))))

    line, ready = Line(1, 1, "x"), Ready()
    whole = ctl(line, ready).payload
    parts = [Chunk(CTL_STREAM, whole[:7], 0), cpu(0), Chunk(CTL_STREAM, whole[7:], 0)]
    assert until(FrameType.READY, *parts) == whole
    with pytest.raises(InfraError, match=r"its agent reports: It cannot\.$"):
        until(FrameType.READY, ctl(GuestError("It cannot.", "", "")))
    with pytest.raises(InfraError, match="it ended"):
        until(FrameType.READY, ctl(line))
