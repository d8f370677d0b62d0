# SPDX-License-Identifier: GPL-2.0-or-later
"""A live guest that is held: its count stays, it goes on, and nothing is lost or counted twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from duet.errors import InputError
from duet.session import HoldState, RunSession
from duet.session.accesses import COUNTS
from tests.support.watched_driver import Watched, watch
from tests.support.xray_driver import Look

pytestmark = [pytest.mark.guest, pytest.mark.alone]

TASKS, STATS = 2, 150_000
"""More than a second of work on a fast host: the hold is asked for by then."""
HELD_S = 3.0
"""Much longer than any time that a guest's clock may be wrong by."""
AFTER = 2000
LATE_S = 200


class Viewer:
    """Holds the guest while it runs, looks at it, and lets it go."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.told: list[HoldState] = []
        self.standing: list[float] = []
        self.refused = ""

    @property
    def phase(self) -> str:
        return self.told[-1].phase if self.told else ""

    async def until(self, what: str, true: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(LATE_S):
                while not true():  # noqa: ASYNC110
                    await asyncio.sleep(0.005)
        except TimeoutError:
            raise AssertionError(f"no {what}: {self.told}") from None

    async def __call__(self, session: RunSession, run: Look) -> None:
        def counted() -> list[float]:
            return [s.facts["logged"] + s.facts["lost"] + s.facts["over"]
                    for s, _ in run.samples if s.probe == COUNTS]  # fmt: skip

        try:
            session.hold(self.after, self.told.append)
        except InputError as error:
            self.refused = error.sentence
        await self.until("counts", lambda: bool(counted()) and counted()[-1] > 1000)
        session.hold(self.after, self.told.append)
        await self.until("hold", lambda: self.phase == "held")
        before = len(counted())
        await asyncio.sleep(HELD_S)
        self.standing = counted()[before + 1 :]
        session.let_go()
        await self.until("end", lambda: self.phase == "going")


@pytest.mark.parametrize("after", [0, AFTER])
def test_a_held_guest_stands_and_then_ends_with_exact_counts(after: int) -> None:
    for _ in range(3):  # on a busy host the request may come when the workload is just over
        viewer = Viewer(after)
        (run,) = watch("stock", [{"tasks": TASKS, "stats": STATS, "name_length": 24}], viewer)
        assert "cannot be held now" in viewer.refused, "before it runs"
        held = next(state for state in viewer.told if state.phase == "held")
        assert held.asked is not None and held.stood is not None
        total = run.cells.logged + run.cells.lost + run.cells.over
        if total > held.stood:
            break
    assert held.stood >= held.asked + after
    assert len(viewer.standing) > HELD_S and set(viewer.standing) == {held.stood}, "it stood"
    assert viewer.told[-1].message == ""
    assert run.cells.ops_touching == TASKS * STATS
    assert run.per_stat("reads", 1, "__d_lookup_rcu") == 2
    assert total > held.stood
    guest_time_stood(run, held.stood)


def guest_time_stood(run: Watched, stood: int) -> None:
    """In guest time the hold took none: what came after it is not HELD_S later."""
    samples = [(s, t_ns) for s, t_ns in run.look.samples if s.probe == COUNTS]
    seen = np.array([s.facts["logged"] + s.facts["lost"] + s.facts["over"] for s, _ in samples])
    times = np.array([t_ns for _, t_ns in samples])
    assert (np.diff(times) >= -1e6).all()
    standing = times[seen == stood]
    assert standing.max() - standing.min() < 50e6, "the guest's clock stood"
    after = times[seen > stood]
    assert len(after) and after.min() - standing.max() < HELD_S / 2 * 1e9
    states = run.states[-1]
    assert states.state == "on", states.message
