# SPDX-License-Identifier: GPL-2.0-or-later
"""Holding a guest: asked, stopped, counted, let go, by a monitor that speaks QMP on a socket."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duet import messages as m
from duet.base.errors import InfraError, InputError
from duet.guests import qmp
from duet.guests.qmp import Monitor
from duet.lenses import Calibration
from duet.lenses.scope.wire import CELL, Cells
from duet.session import Limits
from duet.session.lane.lenses import LaneHold

Run = Callable[..., Any]
EVENT = {"event": "STOP", "timestamp": {"seconds": 1, "microseconds": 2}}


class Machine:
    """A guest that makes an access a millisecond while it runs, and its monitor."""

    def __init__(self, refuses: str = "", mute: bool = False) -> None:
        self.refuses, self.mute = refuses, mute
        self.orders: list[str] = []
        self._began = time.monotonic()
        self._made = 1000
        self.runs = True

    @property
    def accesses(self) -> int:
        return self._made + (int((time.monotonic() - self._began) * 1000) if self.runs else 0)

    def obey(self, order: str) -> dict[str, Any]:
        self.orders.append(order)
        if order == self.refuses:
            return {"error": {"class": "GenericError", "desc": "no"}}
        if order == "stop":
            self._made, self.runs = self.accesses, False
        if order == "cont":
            self._began, self.runs = time.monotonic(), True
        return {"return": {}}

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def tell(tree: dict[str, Any]) -> None:
            writer.write(json.dumps(tree).encode() + b"\n")

        tell({"QMP": {"version": {}, "capabilities": []}})
        while line := await reader.readline():
            if not self.mute:
                tell(EVENT)  # comes between an order and its answer
                tell(self.obey(json.loads(line)["execute"]))
        writer.close()

    async def snapshot(self) -> Cells:
        """As the microscope's client does: part of the accesses found no room."""
        await asyncio.sleep(0.001)
        none = np.zeros(0, CELL)
        return Cells(0, self.accesses - 30, 10, 20, 0, 0, 0, 0, 0, 0, 0, 0, True, True, none, none)

    @asynccontextmanager
    async def serve(self, path: Path) -> AsyncIterator[Path]:
        async with await asyncio.start_unix_server(self.speak, path):
            yield path


class Case:
    def __init__(self, **limits: float) -> None:
        self.reported: list[m.Held] = []
        self.calibration = Calibration()
        self.hold = LaneHold("r", "stock", self.calibration, Limits(**limits))

    def start(self, path: Path, machine: Machine, after: int = 0) -> None:
        self.hold.hold(path, machine, after, self.reported.append)  # type: ignore[arg-type]

    async def until(self, phase: str) -> m.Held:
        async with asyncio.timeout(120):
            while not self.reported or self.reported[-1].phase != phase:  # noqa: ASYNC110
                await asyncio.sleep(0.002)
        return self.reported[-1]


def test_a_guest_stands_and_the_overshoot_is_counted(tmp_path: Path, run_async: Run) -> None:
    async def scenario() -> None:
        machine, case = Machine(), Case()
        async with machine.serve(tmp_path / "qmp") as path:
            case.start(path, machine)
            state = await case.until("held")
            assert state.asked is not None and state.stood is not None
            assert 1000 <= state.asked <= state.stood == machine.accesses
            standing = case.hold.now
            await asyncio.sleep(0.1)
            assert machine.accesses == state.stood
            assert case.hold.now == standing, "deadlines wait"
            released = time.monotonic()
            case.hold.release()
            await case.until("going")
            assert case.reported[-1].message == ""
            now = case.hold.now
            assert standing <= now <= standing + time.monotonic() - released
            assert machine.orders == ["qmp_capabilities", "stop", "cont"]
            assert machine.runs

    run_async(scenario())


def test_after_some_more_accesses(tmp_path: Path, run_async: Run) -> None:
    async def scenario() -> None:
        machine, case = Machine(), Case()
        async with machine.serve(tmp_path / "qmp") as path:
            case.start(path, machine, after=150)
            waits = await case.until("waiting")
            assert machine.runs and waits.asked is not None and waits.stood is None
            state = await case.until("held")
            assert state.stood is not None and state.asked == waits.asked
            assert state.stood >= waits.asked + 150
            await case.hold.end()
            assert machine.runs

    run_async(scenario())


def test_one_that_is_let_go_before_it_stood_never_stands(tmp_path: Path, run_async: Run) -> None:
    async def scenario() -> None:
        machine, case = Machine(), Case()
        async with machine.serve(tmp_path / "qmp") as path:
            case.start(path, machine, after=1 << 30)
            await case.until("waiting")
            await case.hold.end()
            assert (case.reported[-1].phase, case.reported[-1].message) == ("going", "")
            assert machine.orders == ["qmp_capabilities"]

    run_async(scenario())


def test_a_hold_ends_by_itself_and_says_so(tmp_path: Path, run_async: Run) -> None:
    async def scenario() -> None:
        machine, case = Machine(), Case(hold_s=0.05)
        async with machine.serve(tmp_path / "qmp") as path:
            case.start(path, machine)
            state = await case.until("going")
            assert machine.runs and "resumed after 0.05 s, the longest hold" in state.message

    run_async(scenario())


def test_accesses_that_do_not_come_are_not_waited_for(tmp_path: Path, run_async: Run) -> None:
    async def scenario() -> None:
        machine, case = Machine(), Case(hold_after_s=0.05)
        async with machine.serve(tmp_path / "qmp") as path:
            case.start(path, machine, after=1 << 30)
            state = await case.until("going")
            assert "Fewer than 1073741824 accesses came in 0.05 s" in state.message
            assert "stop" not in machine.orders

    run_async(scenario())


def test_twice_at_once_is_refused_and_again_is_not(tmp_path: Path, run_async: Run) -> None:
    async def scenario() -> None:
        machine, case = Machine(), Case()
        async with machine.serve(tmp_path / "qmp") as path:
            case.start(path, machine)
            with pytest.raises(InputError, match="held already"):
                case.start(path, machine)
            await case.until("held")
            await case.hold.end()
            case.reported.clear()
            case.start(path, machine)
            await case.until("held")
            await case.hold.end()
            assert machine.orders[-2:] == ["stop", "cont"]

    run_async(scenario())


def test_a_monitor_that_refuses_is_said_and_the_guest_goes_on(
    tmp_path: Path, run_async: Run
) -> None:
    async def scenario() -> None:
        machine, case = Machine(refuses="stop"), Case()
        async with machine.serve(tmp_path / "qmp") as path:
            began = time.monotonic()
            case.start(path, machine)
            state = await case.until("going")
            assert machine.runs and "did not carry out `stop`" in state.message
            assert began <= case.hold.now <= time.monotonic(), "no more than the try is taken off"

    run_async(scenario())


def test_a_monitor_that_is_gone_or_mute_is_a_sentence(
    tmp_path: Path, run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qmp, "QMP_S", 0.1)

    async def scenario() -> None:
        case = Case()
        case.start(tmp_path / "none", Machine())
        assert "cannot be reached" in (await case.until("going")).message
        async with Machine(mute=True).serve(tmp_path / "qmp") as path:
            with pytest.raises(InfraError, match=r"did not carry out `qmp_capabilities` in 0\.1 s"):
                async with Monitor(path):
                    pass

    run_async(scenario())
