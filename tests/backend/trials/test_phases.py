# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of a trial goes, and what is done while its kernels are built."""

from __future__ import annotations

import asyncio
import threading

import pytest

from duet.base.errors import InfraError
from duet.trials import phases
from duet.trials.phases import Phases, guests_prepared


def test_each_phase_has_its_seconds() -> None:
    times = iter([100.0, 100.5, 108.0, 109.0, 109.01, 112.0])
    made = Phases(lambda: next(times))
    made.begin("to build kernels")
    made.begin("to record")
    made.begin("to write")
    made.begin("to record")
    sentence = made.sentence()
    assert made.seconds == pytest.approx(
        {"to build kernels": 7.5, "to record": 1.0 + 2.99, "to write": 0.01}
    )
    assert sentence == "took 12.0 s: 7.5 s to build kernels, 4.0 s to record"


def test_guests_are_prepared_beside_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    began, ended = threading.Event(), threading.Event()

    async def ensure_root() -> None:
        began.set()
        await asyncio.sleep(0.05)
        ended.set()

    monkeypatch.setattr(phases, "ensure_root", ensure_root)
    with guests_prepared():
        assert began.wait(60)
        assert not ended.is_set()
    assert ended.is_set()


def test_trouble_of_guests_does_not_end_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ensure_root() -> None:
        raise InfraError("no compiler.", remedy="Install one.")

    monkeypatch.setattr(phases, "ensure_root", ensure_root)
    with guests_prepared():
        pass
    with pytest.raises(ValueError, match="the build's own"), guests_prepared():
        raise ValueError("the build's own")
