# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's golden frames mean to Python what golden.h says, and Python writes the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from duet.wire import (
    Beat,
    CpuBeat,
    CpuStats,
    Drained,
    Ended,
    Frame,
    FrameReader,
    FrameType,
    GuestError,
    GuestFile,
    Hello,
    HostFrame,
    Line,
    Ready,
    Resume,
    Resumed,
    Started,
    Stats,
    decode_frame,
    encode,
)

MONO = 0x0102030405060708
GOLDEN: dict[str, Frame] = {
    "hello": Hello(
        {
            "agent": "1",
            "kernel": "6.1.192",
            "clocksource": "tsc",
            "cpus": "2",
            "page_bytes": "4096",
            "trace_clock": "[mono]",
            "mono_ns": "1043876986",
        }
    ),
    "file": GuestFile("events/ftrace/print/format", b"name: print\nID: 5\n"),
    "ready": Ready(),
    "line_out": Line(MONO, "out", "storm: hogs=9 seconds=2.000 umounts=1234 per_s=617.0 errors=0"),
    "line_err": Line(MONO, "err", "café \N{REPLACEMENT CHARACTER}"),
    "line_empty": Line(MONO, "out", ""),
    "started": Started(MONO, 42),
    "ended_ok": Ended(MONO, 0),
    "ended_killed": Ended(MONO, -9),
    "beat": Beat(MONO, (CpuBeat(4096, 1000), CpuBeat(8192, 2000))),
    "stats": Stats(True, (CpuStats(1, 2, 3, 4, 5), CpuStats(6, 7, 8, 9, 10)), 11),
    "error": GuestError(
        "The probe duet/x (`p:duet/x no_such`) does not resolve on kernel 6.1.192: "
        "No such file or directory.",
        "Check System.map.",
        "first\nsecond",
    ),
    "drained": Drained(MONO),
    "plan": HostFrame(FrameType.PLAN, "plan 1\nrun true\n"),
    "start": HostFrame(FrameType.START),
    "stop": HostFrame(FrameType.STOP),
    "shutdown": HostFrame(FrameType.SHUTDOWN),
    "ping": HostFrame(FrameType.PING),
    "say": HostFrame(FrameType.SAY, "touch 17"),
    "resumed": Resumed(MONO, 1_700_000_000_000_000_000, bytes([1, 2, 3, 4]).ljust(16, b"\0")),
    "resume": Resume(
        1_700_000_000_000_000_000,
        bytes([5, 6, 7, 8]).ljust(32, b"\0"),
        "deadline_ms 5000\nrun true\n",
    ),
}


@pytest.fixture
def folder(root: Path) -> Path:
    return root / "tests" / "fixtures" / "frames"


def test_every_golden_frame_is_known_here_and_there(folder: Path) -> None:
    assert {path.stem for path in folder.glob("*.bin")} == set(GOLDEN)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_frame_is_read_as_meant(name: str, folder: Path) -> None:
    reader = FrameReader()
    (raw,) = reader.feed((folder / f"{name}.bin").read_bytes())
    assert decode_frame(raw) == GOLDEN[name]
    assert reader.held_bytes == 0


@pytest.mark.parametrize("name", sorted(set(GOLDEN) - {"line_err"}))
def test_python_writes_the_same_bytes(name: str, folder: Path) -> None:
    assert encode(GOLDEN[name]) == (folder / f"{name}.bin").read_bytes()
