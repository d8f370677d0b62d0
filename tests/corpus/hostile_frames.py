# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of the agent as no agent sends them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

from duet.bundle import Record
from duet.wire import pack_frame
from duet.wire.frames import FrameType as T
from tests.corpus.hostile_case import Case, Expect, Good, Payload, case, frame_of, long_frame

PLAYS, REFUSED, EITHER = Expect.PLAYS, Expect.REFUSED, Expect.EITHER
MOST = (1 << 64) - 1
ESCAPES = b"\x1b[2J\x1b]0;owned\x07\x1b]52;c;AAAA\x07\xc2\x9b1m<img src=x onerror=alert(1)>"
"""What a terminal would obey, and what a page would."""
CALL = b"storm: hogs=1 seconds=1 umounts="


def cases(good: Good) -> Iterator[Case]:
    """All of them."""

    def one(name: str, expect: Expect, kind: int, change: Payload, finding: str = "") -> Case:
        return case(
            f"frame-{name}", expect, lambda: good.file(good.swap(kind, change)), finding=finding
        )

    def put(name: str, expect: Expect, raw: bytes, **more: Any) -> Case:
        return case(f"frame-{name}", expect, lambda: good.file(good.insert(5, raw)), **more)

    def error(name: str, raw: bytes, finding: str = "") -> Case:
        """An inspection counts frames, a replay believes them."""
        whole = pack_frame(T.ERROR, raw)
        return put(f"error-{name}", PLAYS, whole, replay=REFUSED, finding=finding)

    def kept(name: str, expect: Expect, keep: Callable[[int], bool]) -> Case:
        return case(f"frame-{name}", expect, lambda: good.file(only(good, keep)))

    yield from hellos(one)
    yield from lines(one)
    yield from counters(one)
    yield error("escapes", b"bad \x1b[31m\nremedy \x1b]0;x\x07\ndetail " + ESCAPES, "L1")
    yield error("detail", b"plain.\nplain.\n" + ESCAPES, "L1")
    yield error("long", b"x" * 1_000_000 + b"\nr\nd")
    yield put("from-host", EITHER, pack_frame(T.PLAN, b"PLAN rm -rf"))
    yield put("unknown", REFUSED, pack_frame(63, b""))
    yield put("magic", REFUSED, b"DUEX" + bytes(8))
    yield put("flags", REFUSED, b"DUET\x02\0\1\0" + bytes(4))
    yield put("too-long", REFUSED, b"DUET\x02\0\0\0" + b"\xff" * 4)
    yield put("one-byte-more", REFUSED, long_frame(T.FILE, b"f\0" + bytes((1 << 20) - 1)))
    yield put("name-none", REFUSED, pack_frame(T.FILE, b"\0x"))
    yield put("name-long", REFUSED, pack_frame(T.FILE, b"n" * 256 + b"\0x"))
    yield put("name-odd", PLAYS, pack_frame(T.FILE, b"events/../../../etc/passwd\0x"))
    yield kept("no-end", EITHER, lambda kind: kind not in (T.ENDED, T.DRAINED))
    yield kept("no-hello", EITHER, lambda kind: kind != T.HELLO)
    yield kept("no-files", REFUSED, lambda kind: kind != T.FILE)
    yield kept("no-start", EITHER, lambda kind: kind not in (T.READY, T.STARTED))
    yield case(
        "frame-drained-first",
        EITHER,
        lambda: good.file(sorted(good.records, key=lambda r: 0 if kind_of(r) == T.DRAINED else 1)),
    )
    yield case("frame-cut", EITHER, lambda: good.file(cut_last(good)))


def hellos(one: Callable[..., Case]) -> Iterator[Case]:
    """The greeting."""

    def facts(old: bytes, new: bytes) -> Payload:
        return lambda p: p.replace(old, new)

    nines = b"9" * 5000
    yield one("hello-cpus-5000-digits", EITHER, T.HELLO, facts(b"cpus 2", b"cpus " + nines), "L2")
    yield one(
        "hello-mono-5000-digits",
        EITHER,
        T.HELLO,
        facts(b"mono_ns 1090589702", b"mono_ns " + nines),
        "L2",
    )
    yield one(
        "hello-odd-digits", EITHER, T.HELLO, facts(b"mono_ns 1090589702", "mono_ns ٣٤".encode())
    )
    yield one("hello-power", REFUSED, T.HELLO, facts(b"cpus 2", "cpus ²".encode()))
    yield one("hello-cpus-0", EITHER, T.HELLO, facts(b"cpus 2", b"cpus 0"))
    yield one("hello-cpus-many", EITHER, T.HELLO, facts(b"cpus 2", b"cpus 999999999"))
    yield one("hello-page-0", EITHER, T.HELLO, facts(b"page_bytes 4096", b"page_bytes 0"))
    yield one("hello-escapes", EITHER, T.HELLO, facts(b"6.1.192", ESCAPES), "L1")
    yield one(
        "hello-facts",
        EITHER,
        T.HELLO,
        lambda p: p + b"".join(b"k%d v\n" % n for n in range(90_000)),
    )


def lines(one: Callable[..., Case]) -> Iterator[Case]:
    """What the workload wrote."""

    def text(what: bytes) -> Payload:
        return lambda p: p[:9] + what

    yield one(
        "line-5000-digits", EITHER, T.LINE, text(CALL + b"9" * 5000 + b" per_s=1 errors=0"), "L2"
    )
    yield one("line-dots", EITHER, T.LINE, text(CALL + b"1 per_s=1.2.3 errors=0"), "L2")
    yield one(
        "line-infinite", EITHER, T.LINE, text(CALL + b"1 per_s=" + b"9" * 400 + b" errors=0"), "L2"
    )
    yield one("line-again", EITHER, T.LINE, text(b"storm: " + b"umounts=1 per_s " * 60_000))
    yield one("line-escapes", EITHER, T.LINE, text(ESCAPES), "L1")
    yield one("line-not-utf8", EITHER, T.LINE, text(b"\xff" * 1000))
    yield one("line-stream-3", REFUSED, T.LINE, lambda p: p[:8] + b"\x03" + p[9:])
    yield one("line-short", REFUSED, T.LINE, lambda p: p[:8])
    yield one("ended-lowest", EITHER, T.ENDED, lambda p: p[:8] + struct.pack("<i", -(1 << 31)))
    yield one("started-most", EITHER, T.STARTED, lambda p: struct.pack("<QI", MOST, (1 << 32) - 1))


def counters(one: Callable[..., Case]) -> Iterator[Case]:
    """Numbers at their edges."""
    cpu = struct.pack("<QQQQQ", MOST, MOST, MOST, MOST, MOST)
    yield one(
        "stats-most",
        EITHER,
        T.STATS,
        lambda p: struct.pack("<II", 1, 64) + cpu * 64 + struct.pack("<Q", MOST),
    )
    yield one("stats-count", REFUSED, T.STATS, lambda p: struct.pack("<II", 1, (1 << 32) - 1))
    yield one(
        "beat-most",
        EITHER,
        T.BEAT,
        lambda p: struct.pack("<QI", MOST, 2) + struct.pack("<QQ", MOST, MOST) * 2,
    )
    yield one(
        "beat-zero",
        EITHER,
        T.BEAT,
        lambda p: struct.pack("<QI", 0, 64) + struct.pack("<QQ", 0, 0) * 64,
    )
    yield one("beat-none", REFUSED, T.BEAT, lambda p: struct.pack("<QI", 0, 0))
    yield one("beat-65", REFUSED, T.BEAT, lambda p: struct.pack("<QI", 0, 65) + bytes(16 * 65))
    yield one("drained-most", EITHER, T.DRAINED, lambda p: struct.pack("<Q", MOST))


def kind_of(record: Record) -> int | None:
    """Of the frame in a record; None: a page."""
    frame = frame_of(record)
    return frame.type if frame else None


def only(good: Good, keep: Callable[[int], bool]) -> list[Record]:
    """The transcript without frames of some types."""
    return [r for r in good.records if (kind := kind_of(r)) is None or keep(kind)]


def cut_last(good: Good) -> list[Record]:
    """The last frame of the control port lacks a byte."""
    records = list(good.records)
    last = max(at for at, r in enumerate(records) if kind_of(r) is not None)
    records[last] = records[last]._replace(payload=records[last].payload[:-1])
    return records
