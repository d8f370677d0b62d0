# SPDX-License-Identifier: GPL-2.0-or-later
"""What is compiled when an editor opens: one at a time, below everything else, or not at all."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from duet.base.errors import InfraError
from duet.server import own_arms as own_ready
from duet.server.own_arms import CompileAhead

SLUG = "02-grace-periods"


class Work:
    """Stands in for kernels.make_ready: it goes on until it is stopped."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.nice: list[int] = []
        self.at_once = 0

    def __call__(self, arm: Any, settings: object, stop: threading.Event) -> bool:
        assert len(self.begun) == len(self.ended), "one at a time"
        self.begun.append(arm.name)
        self.nice.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        try:
            if not stop.wait(10):
                raise AssertionError("nobody stopped it")
            raise InfraError("stopped.", remedy="None.")
        finally:
            self.ended.append(arm.name)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    made = Work()
    monkeypatch.setattr(own_ready, "make_ready", made)
    monkeypatch.setattr(own_ready, "LOOK_S", 0.02)
    return made


def ready(busy: Callable[[], str | None] = lambda: None, off: str = "") -> CompileAhead:
    lessons: Any = SimpleNamespace(
        off=lambda: off, changing=SimpleNamespace(kernels=Path("/nowhere"))
    )
    return CompileAhead(lessons, busy)


async def until(true: Callable[[], bool]) -> None:
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come")


def test_one_at_a_time_below_everything_else_and_it_gives_way(
    work: Work, run_async: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def visit() -> None:
        mine = ready()
        mine.ask(SLUG, "srcu")
        await until(lambda: work.begun == ["srcu"])
        mine.ask(SLUG, "rwsem")
        await mine.give_way()
        assert work.ended == ["srcu"], "it has ended when the build begins"
        await asyncio.sleep(0.05)
        assert work.begun == ["srcu"], "what was to come is forgotten"
        mine.ask(SLUG, "rwsem")
        await until(lambda: work.begun == ["srcu", "rwsem"])
        await mine.give_way()

    run_async(visit())
    assert work.nice == [19, 19] and os.nice(0) < 19, "its thread, and not the server"
    assert not caplog.records


def test_a_measurement_ends_it(work: Work, run_async: Any) -> None:
    measures = False

    async def visit() -> None:
        nonlocal measures
        mine = ready(lambda: "arms are being measured" if measures else None)
        mine.ask(SLUG, "srcu")
        await until(lambda: work.begun == ["srcu"])
        measures = True
        await until(lambda: work.ended == ["srcu"])
        mine.ask(SLUG, "rwsem")
        await asyncio.sleep(0.1)
        assert work.begun == ["srcu"]

    run_async(visit())


def test_where_changes_are_off_nothing_is_compiled(work: Work, run_async: Any) -> None:
    async def visit() -> None:
        mine = ready(off="switched off")
        mine.ask(SLUG, "srcu")
        await asyncio.sleep(0.1)

    run_async(visit())
    assert work.begun == []
