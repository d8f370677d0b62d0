# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between host and agent: dataclasses, parsing and packing. No I/O.

The agent's tests read the same reference frames (tests/fixtures/frames) as the tests of this
module.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import astuple, dataclass
from enum import IntEnum
from typing import Literal

from duet.wire.reader import (
    HEADER,
    ProtocolError,
    RawFrame,
    Resume,
    Resumed,
    pack_frame,
    parse_resume,
    parse_resumed,
)

MAX_CPUS = 64
MAX_NAME = 255
MOST_EVENTS = 1 << 44
"""Largest counter in STATS, so that sums stay exact in JavaScript. Usual: a million."""
WHOLE = re.compile("[0-9]{1,19}")
"""Pattern for a number in HELLO. Longer numbers are refused, because Python parses numbers in
quadratic time.
"""


class FrameType(IntEnum):
    """Types of frames: types below 64 go from agent to host, the others from host to agent."""

    HELLO = 1
    FILE = 2
    READY = 3
    LINE = 4
    STARTED = 5
    ENDED = 6
    BEAT = 7
    STATS = 8
    ERROR = 9
    DRAINED = 10
    RESUMED = 11
    PLAN = 64
    START = 65
    STOP = 66
    SHUTDOWN = 67
    PING = 68
    SAY = 69
    RESUME = 70


@dataclass(frozen=True, slots=True)
class Hello:
    """The agent's first frame. `facts` contains every line `key value`, including unknown keys."""

    facts: dict[str, str]

    @property
    def kernel(self) -> str:
        """Output of `uname -r` in the guest."""
        return self.facts.get("kernel", "")

    @property
    def clocksource(self) -> str:
        """The guest's clock source. With any source other than tsc, times are unreliable."""
        return self.facts.get("clocksource", "")

    @property
    def cpus(self) -> int:
        return int(self.facts.get("cpus", "1"))


@dataclass(frozen=True, slots=True)
class GuestFile:
    """A file of the guest's tracefs: header_page, printk_formats, events/<group>/<name>/format."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Ready:
    """The agent reports that it has set up the plan. Tracing is still off."""


@dataclass(frozen=True, slots=True)
class Line:
    """One output line of the workload."""

    mono_ns: int
    stream: Literal["out", "err"]
    text: str


@dataclass(frozen=True, slots=True)
class Started:
    """The agent reports that the workload has started."""

    mono_ns: int
    pid: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The agent reports that the workload has ended.

    `status` is the workload's exit code or its negative signal number.
    """

    mono_ns: int
    status: int


@dataclass(frozen=True, slots=True)
class CpuBeat:
    """Progress of one CPU's ring-buffer pages.

    Args:
        bytes_sent: bytes sent on the CPU's port since it was opened.
        empty_at_ns: guest time at which the agent last found the CPU's buffer empty.
    """

    bytes_sent: int
    empty_at_ns: int


@dataclass(frozen=True, slots=True)
class Beat:
    """Progress of all CPUs, sent every 20 ms during a plan on the wall clock, and after PING."""

    mono_ns: int
    cpus: tuple[CpuBeat, ...]


@dataclass(frozen=True, slots=True)
class CpuStats:
    """Counters of one CPU's ring buffer since the plan was set up."""

    entries: int
    overrun: int
    commit_overrun: int
    dropped: int
    read: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Counters of all CPUs. The `final` counters are sent once, before DRAINED."""

    final: bool
    cpus: tuple[CpuStats, ...]
    kprobe_missed: int


@dataclass(frozen=True, slots=True)
class GuestError:
    """An error that the agent reports: sentence, remedy and detail."""

    sentence: str
    remedy: str
    detail: str


@dataclass(frozen=True, slots=True)
class Drained:
    """The agent reports that it has read and sent all pages."""

    mono_ns: int


@dataclass(frozen=True, slots=True)
class HostFrame:
    """A frame from host to agent; only PLAN and SAY contain text."""

    type: FrameType
    text: str = ""


Frame = (
    Hello
    | GuestFile
    | Ready
    | Line
    | Started
    | Ended
    | Beat
    | Stats
    | GuestError
    | Drained
    | Resumed
    | HostFrame
    | Resume
)

_LINE = struct.Struct("<QB")
_STARTED = struct.Struct("<QI")
_ENDED = struct.Struct("<Qi")
_BEAT = struct.Struct("<QI")
_CPU_BEAT = struct.Struct("<QQ")
_STATS = struct.Struct("<II")
_CPU_STATS = struct.Struct("<QQQQQ")
_U64 = struct.Struct("<Q")


def decode_frame(raw: RawFrame) -> Frame:
    """Parse a frame into its message.

    Raises:
        ProtocolError: an unknown type, or a payload that is too short, too long or malformed.
    """
    parser = _PARSERS.get(raw.type)
    if parser is None:
        raise ProtocolError(raw.offset + 4, "a known frame type", f"type {raw.type}")
    return parser(raw)


def encode(frame: Frame) -> bytes:
    """Pack a message into a frame, including the header."""
    match frame:
        case HostFrame(kind, text):
            return pack_frame(kind, text.encode())
        case Hello(facts):
            text = "".join(f"{key} {value}\n" for key, value in facts.items())
            return pack_frame(FrameType.HELLO, text.encode())
        case GuestFile(name, content):
            return pack_frame(FrameType.FILE, name.encode() + b"\0" + content)
        case Ready():
            return pack_frame(FrameType.READY)
        case Line(mono_ns, stream, text):
            head = _LINE.pack(mono_ns, 1 if stream == "out" else 2)
            return pack_frame(FrameType.LINE, head + text.encode())
        case Started(mono_ns, pid):
            return pack_frame(FrameType.STARTED, _STARTED.pack(mono_ns, pid))
        case Ended(mono_ns, status):
            return pack_frame(FrameType.ENDED, _ENDED.pack(mono_ns, status))
        case Beat(mono_ns, cpus):
            rows = b"".join(_CPU_BEAT.pack(c.bytes_sent, c.empty_at_ns) for c in cpus)
            return pack_frame(FrameType.BEAT, _BEAT.pack(mono_ns, len(cpus)) + rows)
        case Stats(final, stats, missed):
            rows = b"".join(
                _CPU_STATS.pack(c.entries, c.overrun, c.commit_overrun, c.dropped, c.read)
                for c in stats
            )
            head = _STATS.pack(int(final), len(stats))
            return pack_frame(FrameType.STATS, head + rows + _U64.pack(missed))
        case GuestError(sentence, remedy, detail):
            return pack_frame(FrameType.ERROR, f"{sentence}\n{remedy}\n{detail}".encode())
        case Drained(mono_ns):
            return pack_frame(FrameType.DRAINED, _U64.pack(mono_ns))
        case Resumed():
            return pack_frame(FrameType.RESUMED, frame.pack())
        case Resume():
            return pack_frame(FrameType.RESUME, frame.pack())


def _sized(raw: RawFrame, wanted: int) -> None:
    if len(raw.payload) != wanted:
        raise ProtocolError(
            raw.offset + HEADER.size,
            f"a {FrameType(raw.type).name} payload of {wanted} bytes",
            f"{len(raw.payload)} bytes",
        )


def _at_least(raw: RawFrame, wanted: int) -> None:
    if len(raw.payload) < wanted:
        raise ProtocolError(
            raw.offset + HEADER.size,
            f"a {FrameType(raw.type).name} payload of at least {wanted} bytes",
            f"{len(raw.payload)} bytes",
        )


def _cpus(raw: RawFrame, count: int) -> int:
    if not 1 <= count <= MAX_CPUS:
        raise ProtocolError(raw.offset + HEADER.size, f"1 to {MAX_CPUS} CPUs", str(count))
    return count


def _hello(raw: RawFrame) -> Hello:
    facts: dict[str, str] = {}
    for line in raw.payload.decode(errors="replace").splitlines():
        key, _, value = line.partition(" ")
        if key:
            facts[key] = value.strip()
    for number in ("agent", "cpus", "page_bytes", "mono_ns"):
        if number in facts and not WHOLE.fullmatch(facts[number]):
            raise ProtocolError(
                raw.offset + HEADER.size, f"a number for '{number}'", repr(facts[number][:40])
            )
    return Hello(facts)


def _file(raw: RawFrame) -> GuestFile:
    name, end, content = raw.payload.partition(b"\0")
    if not end or not name or len(name) > MAX_NAME:
        raise ProtocolError(
            raw.offset + HEADER.size,
            f"a file name of 1 to {MAX_NAME} bytes and a NUL",
            repr(raw.payload[:40]),
        )
    return GuestFile(name.decode(errors="replace"), content)


def _line(raw: RawFrame) -> Line:
    _at_least(raw, _LINE.size)
    mono_ns, stream = _LINE.unpack_from(raw.payload)
    if stream not in (1, 2):
        raise ProtocolError(raw.offset + HEADER.size + 8, "a stream number of 1 or 2", str(stream))
    text = raw.payload[_LINE.size :].decode(errors="replace")
    return Line(mono_ns, "out" if stream == 1 else "err", text)


def _started(raw: RawFrame) -> Started:
    _sized(raw, _STARTED.size)
    return Started(*_STARTED.unpack(raw.payload))


def _ended(raw: RawFrame) -> Ended:
    _sized(raw, _ENDED.size)
    return Ended(*_ENDED.unpack(raw.payload))


def _beat(raw: RawFrame) -> Beat:
    _at_least(raw, _BEAT.size)
    mono_ns, count = _BEAT.unpack_from(raw.payload)
    _sized(raw, _BEAT.size + _cpus(raw, count) * _CPU_BEAT.size)
    rows = _CPU_BEAT.iter_unpack(raw.payload[_BEAT.size :])
    return Beat(mono_ns, tuple(CpuBeat(*row) for row in rows))


def _stats(raw: RawFrame) -> Stats:
    _at_least(raw, _STATS.size)
    flags, count = _STATS.unpack_from(raw.payload)
    end = _STATS.size + _cpus(raw, count) * _CPU_STATS.size
    _sized(raw, end + _U64.size)
    rows = _CPU_STATS.iter_unpack(raw.payload[_STATS.size : end])
    (missed,) = _U64.unpack_from(raw.payload, end)
    stats = Stats(bool(flags & 1), tuple(CpuStats(*row) for row in rows), missed)
    most = max(missed, *(max(astuple(cpu)) for cpu in stats.cpus), 0)
    if most > MOST_EVENTS:
        wanted = f"counters of at most {MOST_EVENTS} events"
        raise ProtocolError(raw.offset + HEADER.size + _STATS.size, wanted, str(most))
    return stats


def _error(raw: RawFrame) -> GuestError:
    parts = [*raw.payload.decode(errors="replace").split("\n", 2), "", ""]
    return GuestError(parts[0], parts[1], parts[2])


def _ready(raw: RawFrame) -> Ready:
    _sized(raw, 0)
    return Ready()


def _drained(raw: RawFrame) -> Drained:
    _sized(raw, _U64.size)
    return Drained(*_U64.unpack(raw.payload))


def _host(raw: RawFrame) -> HostFrame:
    return HostFrame(FrameType(raw.type), raw.payload.decode(errors="replace"))


_PARSERS: dict[int, Callable[[RawFrame], Frame]] = {
    FrameType.HELLO: _hello,
    FrameType.FILE: _file,
    FrameType.READY: _ready,
    FrameType.LINE: _line,
    FrameType.STARTED: _started,
    FrameType.ENDED: _ended,
    FrameType.BEAT: _beat,
    FrameType.STATS: _stats,
    FrameType.ERROR: _error,
    FrameType.DRAINED: _drained,
    FrameType.RESUMED: parse_resumed,
    FrameType.RESUME: parse_resume,
    FrameType.PLAN: _host,
    FrameType.START: _host,
    FrameType.STOP: _host,
    FrameType.SHUTDOWN: _host,
    FrameType.PING: _host,
    FrameType.SAY: _host,
}


# Splitting of a CPU port's byte stream into ring-buffer pages. No I/O.

PAGE_BYTES = 4096


class PageSplitter:
    """Splits one CPU's byte stream into complete pages, and buffers an incomplete page."""

    def __init__(self, page_bytes: int = PAGE_BYTES) -> None:
        self.page_bytes = page_bytes
        self.received_bytes = 0
        """All bytes received, for comparison with the agent's bytes_sent."""
        self._rest = b""

    @property
    def held_bytes(self) -> int:
        """Bytes of an incomplete page."""
        return len(self._rest)

    def feed(self, chunk: bytes) -> bytes:
        """Add a chunk; return the pages that it completes, concatenated (b'' if none)."""
        self.received_bytes += len(chunk)
        if self._rest:
            chunk = self._rest + chunk
        whole = len(chunk) - len(chunk) % self.page_bytes
        self._rest = chunk[whole:]
        return chunk[:whole]
