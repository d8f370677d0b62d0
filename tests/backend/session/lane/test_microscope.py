# SPDX-License-Identifier: GPL-2.0-or-later
"""The microscope on a lane: aiming, guest times, what is kept, and a replay that gives it back."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from duet.base.errors import InfraError
from duet.lenses import LensState, Sample, Window, unpack_record
from duet.lenses.scope.wire import CELL, RECORD, Cells, Log
from duet.lessons.load import load
from duet.lessons.schema import MicroscopeConfig
from duet.session import RunSpec
from duet.session.accesses import long_address, short_address
from duet.session.lane import microscope as target
from duet.session.lane.clock import LaneClock
from duet.session.lane.lenses import LaneLenses
from duet.session.lane.microscope import LaneMicroscope, WaitingWorkload
from duet.session.limits import Limits
from duet.session.tables import Batch
from duet.session.transcript import TranscriptWriter
from duet.wire import FrameType

Run = Callable[..., Any]
OFFSET = 5_000_000
"""Host time less guest time."""
DENTRY = 0xFFFF_8880_0123_4580
CONFIG = MicroscopeConfig(
    functions=("vfs_statx", "dput"),
    operation="vfs_statx",
    probe="dentry",
    object="struct dentry",
    ready="^ready",
    go="go",
    workloads=("watched",),
)


class Ears:
    def __init__(self) -> None:
        self.samples: list[tuple[Sample, float]] = []
        self.lenses: list[LensState] = []
        self.batches: list[Batch] = []

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        self.samples.append((sample, t_ns))

    def on_lens(self, arm: str, state: LensState) -> None:
        self.lenses.append(state)

    def on_batch(self, arm: str, new: Batch) -> None:
        self.batches.append(new)


class Plugin:
    """What the client offers; orders are kept."""

    def __init__(self, refuses: bool = False) -> None:
        self.orders: list[Any] = []
        self.refuses = refuses

    def set_listener(self, listener: object) -> None:
        self.listener = listener

    async def watch(self, address: int, size: int, log: int) -> None:
        if self.refuses:
            raise InfraError("The microscope refuses: no.", remedy="Again.")
        self.orders.append(("watch", address, size, log))

    async def reset(self) -> None:
        self.orders.append("reset")

    async def snapshot(self) -> Cells:
        return cells(OFFSET + 900, answer=True)


class KnownClock(LaneClock):
    """Host and guest differ by OFFSET, if that is known."""

    def __init__(self, case: Case) -> None:
        super().__init__(case, "wall")
        self._case = case

    def guest_window(self, began_ns: int, ended_ns: int) -> Window | None:
        return Window(began_ns - OFFSET, ended_ns - OFFSET + 10) if self._case.known else None


class Case:
    def __init__(
        self,
        config: MicroscopeConfig | None = CONFIG,
        kind: int | None = 3,
    ) -> None:
        self.ears, self.kept, self.said = Ears(), list[bytes](), list[str]()
        self.origin_ns: int | None = 100
        self.watermark_ns = 0.0
        self.known = True
        self.scope = LaneMicroscope(
            "stock", self.ears, config, kind, CONFIG.functions, KnownClock(self), self.keep
        )

    def keep(self, record: bytes, host_ns: int) -> None:
        self.kept.append(record)

    async def say(self, line: str) -> None:
        self.said.append(line)

    def see(self, found: int = 1, size: float = 192.0) -> None:
        facts = {"found": found, "address48": short_address(DENTRY), "size": size}
        columns = {"offset": struct.pack("<3i", 56, 88, 92), "nested": bytes((0, 0, 1))}
        names = ["d_iname", "d_lockref", "d_lockref.count"]
        self.scope.on_xray_sample(
            {"probe": "dentry", "facts": facts, "n": 3, "columns": columns, "texts": names}
        )


def cells(host_ns: int, answer: bool = False) -> Cells:
    own = np.zeros(2, CELL)
    own["address"] = DENTRY + 88, DENTRY + 4096
    own["function"], own["inside"], own["rmws"] = 1, 1, 2
    line = np.zeros(1, CELL)
    line["address"], line["function"], line["reads"] = DENTRY + 8192, 0xFFFF, 7
    return Cells(host_ns, 3, 1, 2, 12, 0, 2, 2, 2, 0, 0, 0, True, answer, own, line)


def log(host: list[int], first: int = 0) -> Log:
    records = np.zeros(len(host), RECORD)
    records["seq"] = np.arange(first, first + len(host))
    records["host_ns"] = np.array(host) + OFFSET
    records["at"], records["class"], records["function"] = 88, 2, 1
    records["cpu"], records["size"], records["operation"] = [n % 2 for n in host], 8, 1
    return Log(records)


async def aimed(case: Case, plugin: Plugin, size: float = 192.0) -> None:
    case.scope.start(plugin)  # type: ignore[arg-type]
    aiming = asyncio.create_task(case.scope.aim(case.say))
    await asyncio.sleep(0)
    case.see()  # before the workload is ready: that is another file
    case.scope.on_line("ready name=abc")
    case.see(found=0)
    case.see(size=size)
    await aiming


def test_the_object_is_watched_before_the_workload_goes(run_async: Run) -> None:
    case, plugin = Case(), Plugin()
    run_async(aimed(case, plugin))
    assert plugin.orders == [("watch", DENTRY, 192, CONFIG.log)]
    assert case.said == ["go"]
    assert [state.state for state in case.ears.lenses] == ["attaching", "on"]


def test_an_address_survives_its_way_through_a_double() -> None:
    for address in (DENTRY, 0xFFFF_FFFF_8100_0000, 0x7FFF_0000_1234):
        assert long_address(short_address(address)) == address


def test_a_plugin_that_refuses_is_a_fault_and_the_workload_goes(run_async: Run) -> None:
    case = Case()
    run_async(aimed(case, Plugin(refuses=True)))
    assert (case.ears.lenses[-1].state, case.said) == ("failed", ["go"])
    assert "refuses" in case.ears.lenses[-1].message


def test_an_object_that_is_too_large_is_a_fault_and_the_workload_goes(run_async: Run) -> None:
    case, plugin = Case(), Plugin()
    run_async(aimed(case, plugin, size=4096.0))
    assert (case.ears.lenses[-1].state, case.said, plugin.orders) == ("failed", ["go"], [])
    assert "1 to 1024 bytes; the object has 4096" in case.ears.lenses[-1].message


def test_an_object_that_is_not_found_is_a_fault_and_the_workload_goes(
    run_async: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "AIM_FOUND_S", 0.01)
    case = Case()
    case.scope.start(Plugin())  # type: ignore[arg-type]
    case.scope.on_line("ready name=abc")
    run_async(case.scope.aim(case.say))
    assert (case.ears.lenses[-1].state, case.said) == ("failed", ["go"])
    assert "x-ray has not found" in case.ears.lenses[-1].message


def test_without_an_object_counts_begin_at_the_start(run_async: Run) -> None:
    case, plugin = Case(config=None), Plugin()
    case.scope.start(plugin)  # type: ignore[arg-type]
    run_async(case.scope.aim(case.say))
    assert (plugin.orders, case.said) == (["reset"], [])


def test_a_workload_that_waits_for_nobody_is_let_go(run_async: Run) -> None:
    """An untraced run of a watched workload has no microscope, and would wait for ever."""
    case, waiting = Case(config=None), WaitingWorkload(CONFIG)

    async def scenario() -> None:
        release = asyncio.create_task(waiting.release(case.say))
        await asyncio.sleep(0)
        waiting.on_line("something else")
        await asyncio.sleep(0)
        assert case.said == []
        waiting.on_line("ready name=abc")
        await release

    run_async(scenario())
    assert case.said == ["go"]


def test_the_lenses_of_an_untraced_run_let_its_workload_go(run_async: Run) -> None:
    folder, sent = load("05-cacheline-pingpong"), list[tuple[FrameType, str]]()
    params = folder.check_params({}, "wall")
    spec = RunSpec(
        folder, ("stock",), "watched", params, "wall", purpose="measure", traced=False, run_id="r"
    )
    assert spec.waits is not None

    class Guest:
        async def send(self, kind: FrameType, line: str) -> None:
            sent.append((kind, line))

    async def scenario() -> None:
        known: Any = KnownClock(Case())
        writer = TranscriptWriter(1 << 20)
        lenses = LaneLenses("stock", spec, Ears(), known, writer, Limits())  # type: ignore[arg-type]
        lenses._guest = Guest()  # type: ignore[assignment]
        lenses.aim()
        lenses.on_line("statstorm: ready name=abc")
        assert lenses._aiming is not None
        async with asyncio.timeout(5):
            await lenses._aiming

    run_async(scenario())
    assert sent == [(FrameType.SAY, spec.waits.go)]


def test_who_waits_for_a_microscope_that_is_not_there() -> None:
    folder = load("05-cacheline-pingpong")
    params = folder.check_params({}, "wall")

    def waits(workload: str, **more: Any) -> bool:
        spec = RunSpec(folder, ("stock",), workload, params, "wall", **more, run_id="r")
        return spec.waits is not None

    assert waits("watched", purpose="measure", traced=False)
    assert not waits("watched")  # the microscope is there, and lets it go
    assert not waits("exact", purpose="measure", traced=False)
    assert not waits("watched", purpose="measure", source="recorded")


def test_accesses_are_points_at_guest_times_up_to_the_watermark(run_async: Run) -> None:
    case = Case()
    run_async(aimed(case, Plugin()))
    case.watermark_ns = 150.0
    case.scope.on_log(log([200, 203, 202]))
    case.scope.on_log(log([400], first=3))
    assert [batch.n for batch in case.ears.batches] == [3]
    points = case.ears.batches[0].columns
    # The middle of the window is 5 later; the third has come late and is not put before the second.
    assert points["t_ns"].tolist() == [105.0, 108.0, 108.0]
    assert points["id"].tolist() == [1, 2, 3]
    assert points["cpu"].tolist() == [0, 1, 0]
    assert {int(points["kind"][0]), int(points["a"][0]), int(points["c"][0])} == {
        3,
        88,
        2,
    }
    case.scope.finish()
    assert [batch.n for batch in case.ears.batches] == [3, 1]
    assert case.ears.batches[1].watermark_ns >= case.ears.batches[1].columns["t_ns"][-1]
    assert case.scope.state.samples == 4


def test_counts_tell_of_the_object_by_bytes_and_of_others_by_lines(
    run_async: Run,
) -> None:
    case = Case()
    run_async(aimed(case, Plugin()))
    run_async(case.scope.end())
    sample, t_ns = case.ears.samples[-1]
    assert (sample.probe, t_ns, sample.n) == ("microscope", 805.0, 2)
    assert np.frombuffer(sample.columns["at"], "<i4").tolist() == [88, -1]
    assert np.frombuffer(sample.columns["function"], "<i2").tolist() == [1, -1]
    assert np.frombuffer(sample.columns["rmws"], "<f8").tolist() == [2, 0]
    assert sample.facts["ops"] == 2
    assert long_address(sample.facts["address"]) == DENTRY
    assert case.scope.state.dropped == 3
    found = case.scope.result()
    assert found is not None
    assert [found.name_of(DENTRY + at) for at in (60, 92, 4096)] == ["d_iname", "d_lockref", ""]


def test_the_last_counts_wait_for_a_start_marker_that_is_decoded_late(run_async: Run) -> None:
    case = Case()
    run_async(aimed(case, Plugin()))
    case.origin_ns = None
    run_async(case.scope.end())
    assert not case.ears.samples
    case.origin_ns = 100
    case.scope.advance()
    case.scope.finish()
    assert [(sample.probe, t_ns) for sample, t_ns in case.ears.samples] == [("microscope", 805.0)]


def test_last_counts_without_a_guest_time_are_a_fault(run_async: Run) -> None:
    case = Case()
    run_async(aimed(case, Plugin()))
    case.known = False
    run_async(case.scope.end())
    case.scope.finish()
    assert not case.ears.samples
    assert "not calibrated" in case.ears.lenses[-1].message


def test_a_recording_gives_accesses_and_counts_back(run_async: Run) -> None:
    case = Case()
    run_async(aimed(case, Plugin()))
    case.scope.on_log(log([200, 203]))
    run_async(case.scope.end())
    case.scope.finish()
    again = Case()
    again.origin_ns = None
    for record in case.kept:
        again.scope.replay(unpack_record(record))
    assert not again.ears.batches
    again.origin_ns = 100
    again.scope.finish()
    first, second = case.ears.batches[0], again.ears.batches[0]
    assert {n: c.tolist() for n, c in first.columns.items()} == {
        n: c.tolist() for n, c in second.columns.items()
    }
    assert again.ears.samples == case.ears.samples
    assert again.ears.lenses[-1] == case.ears.lenses[-1]


def test_accesses_of_another_shape_are_a_fault() -> None:
    case = Case()
    case.scope.replay(Sample("accesses", 0, 200, 0, "host", 0, 0, 0, 1, {}, {}, {}))
    case.scope.finish()
    assert case.ears.lenses[-1].state == "failed"
    assert not case.ears.batches


def test_without_a_calibrated_clock_nothing_is_guessed(run_async: Run) -> None:
    case = Case()
    run_async(aimed(case, Plugin()))
    case.known = False
    case.scope.on_log(log([200]))
    case.scope.finish()
    assert not case.ears.batches
    assert "not calibrated" in case.ears.lenses[-1].message
