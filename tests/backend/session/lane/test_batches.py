# SPDX-License-Identifier: GPL-2.0-or-later
"""The first batch waits for no tick: until it is there, a lane looks at all that comes."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from duet.session.lane.batches import Batches

TICK_S = 30.0


class Intake:
    """Something has come."""

    def __init__(self) -> None:
        self.rests: list[float] = []

    async def rest(self, limit_s: float) -> None:
        self.rests.append(limit_s)


def test_until_the_first_batch_what_comes_is_worked_on_at_once() -> None:
    intake, none = Intake(), Any
    lane = Batches("a", none, none, intake, none, none, 0.2)  # type: ignore[arg-type]
    began = time.monotonic()
    asyncio.run(lane.gather(TICK_S))
    assert intake.rests == [TICK_S] and time.monotonic() - began < TICK_S / 2
    late = Batches("a", none, none, intake, none, none, 0.2, eager_s=-1.0)  # type: ignore[arg-type]
    asyncio.run(late.gather(0))
    assert intake.rests == [TICK_S], "a lane without events goes by the tick"
