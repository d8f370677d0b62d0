# SPDX-License-Identifier: GPL-2.0-or-later
"""Stage 4. The agent's bytes become frames and pages. No I/O."""

from duet.wire.frames import (
    Beat,
    CpuBeat,
    CpuStats,
    Drained,
    Ended,
    Frame,
    FrameType,
    GuestError,
    GuestFile,
    Hello,
    HostFrame,
    Line,
    Ready,
    Started,
    Stats,
    decode_frame,
    encode,
)
from duet.wire.pages import PageSplitter
from duet.wire.reader import FrameReader, ProtocolError, RawFrame, pack_frame
from duet.wire.resume import ENTROPY_BYTES, Resume, Resumed

__all__ = [
    "ENTROPY_BYTES",
    "Beat",
    "CpuBeat",
    "CpuStats",
    "Drained",
    "Ended",
    "Frame",
    "FrameReader",
    "FrameType",
    "GuestError",
    "GuestFile",
    "Hello",
    "HostFrame",
    "Line",
    "PageSplitter",
    "ProtocolError",
    "RawFrame",
    "Ready",
    "Resume",
    "Resumed",
    "Started",
    "Stats",
    "decode_frame",
    "encode",
    "pack_frame",
]
