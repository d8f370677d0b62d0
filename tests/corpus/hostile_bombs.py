# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of some hundred KB that want gigabytes or minutes; each within the file's own limits.

A bound has to refuse them or hold against them: a real run has some thousand frames, a few MB of
pages, and a beat every 20 ms.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from duet.bundle.archive import HEAD
from duet.bundle.manifest import CTL, LENS
from duet.wire.frames import FrameType as T
from tests.corpus.hostile_case import Case, Expect, Good, case, frame_of, long_frame, streamed

EITHER = Expect.EITHER
MIB = 1 << 20
PAGE = 4096


def cases(good: Good) -> Iterator[Case]:
    """All of them."""

    def one(name: str, pieces: Callable[[], Iterator[bytes]], finding: str = "M2") -> Case:
        return case(f"bomb-{name}", EITHER, lambda: streamed(good.tree, pieces()), finding=finding)

    head = before(good)
    page = first_page(good)
    hello = long_frame(T.HELLO, b"agent 1\n")
    ready, beat = long_frame(T.READY, b""), long_frame(T.BEAT, struct.pack("<QIQQ", 1, 1, 1, 1))
    yield one("no-beats", lambda: behind(head, record(0, page * 2000), 24))
    yield one("no-beats-dense", lambda: behind(head, record(0, dense_page(good) * 2000), 16))
    yield one("all-losses", lambda: behind(head, record(0, lossy(page) * 2000), 8))
    yield one("ready-frames", lambda: behind(head, record(CTL, ready * (8 * MIB // 12)), 2))
    yield one("beat-frames", lambda: behind(head, record(CTL, beat * (8 * MIB // len(beat))), 3))
    yield one("small-records", lambda: behind(head, record(CTL, b"") * 500_000, 1))
    yield one(
        "files",
        lambda: many(head, 300, lambda n: long_frame(T.FILE, b"f%d\0" % n + bytes(MIB - 40))),
        "M3",
    )
    yield one(
        "small-files",
        lambda: many(
            head,
            300,
            lambda n: b"".join(long_frame(T.FILE, b"f%d\0" % (n * 1000 + m)) for m in range(1000)),
        ),
        "M3",
    )
    yield one("format-files", lambda: many(head, 600, lambda n: formats(good, n)), "M3")
    yield one(
        "lines",
        lambda: many(
            head, 300, lambda n: long_frame(T.LINE, struct.pack("<QB", n, 1) + b"x" * (MIB - 40))
        ),
        "M3",
    )
    yield one(
        "small-lines",
        lambda: many(
            head, 30, lambda n: long_frame(T.LINE, struct.pack("<QB", n, 1) + b"x") * 5000
        ),
        "M3",
    )
    yield one(
        "errors",
        lambda: behind(head, record(CTL, long_frame(T.ERROR, b"a\nb\n" + b"x" * 900_000)), 200),
    )
    yield one("hellos", lambda: behind(head, record(CTL, hello * 90_000), 6))
    yield one("samples", lambda: behind(head, record(LENS, bytes(8 * MIB)), 30), "M3")
    yield one("half-page", lambda: behind(head, record(0, b"\0"), 200, 1000))


def record(stream: int, payload: bytes) -> bytes:
    """One record, as stream.bin has it."""
    return HEAD.pack(0, stream, 0, len(payload)) + payload


def behind(head: bytes, piece: bytes, count: int, times: int = 1) -> Iterator[bytes]:
    """The greeting and the formats, then the same again and again."""
    yield head
    for _ in range(count):
        yield piece * times


def many(head: bytes, count: int, make: Callable[[int], bytes]) -> Iterator[bytes]:
    """The same with frames that differ."""
    yield head
    for number in range(count):
        yield record(CTL, make(number))


def before(good: Good) -> bytes:
    """The transcript up to READY."""
    parts: list[bytes] = []
    for one in good.records:
        if one.stream == CTL:
            parts.append(record(CTL, one.payload))
            frame = frame_of(one)
            if frame is not None and frame.type == T.STARTED:
                break
    return b"".join(parts)


def first_page(good: Good) -> bytes:
    """A page full of real events."""
    return next(r.payload for r in good.records if r.stream == 0)[:PAGE]


def dense_page(good: Good) -> bytes:
    """As many events as a page can hold: each has a type and no more than its format wants."""
    used = struct.unpack_from("<I", first_page(good), 8)[0] & 0x3FFFFFFF
    body = first_page(good)[16 : 16 + used]
    shortest = min(events(body), key=len)
    room = (PAGE - 16) // len(shortest)
    text = shortest * room
    return struct.pack("<QQ", 1, len(text)) + text + bytes(PAGE - 16 - len(text))


def events(body: bytes) -> Iterator[bytes]:
    """The data events of a page; others are left out."""
    at = 0
    while at + 4 <= len(body):
        kind = struct.unpack_from("<I", body, at)[0] & 31
        size = 4 + 4 * kind if 0 < kind < 29 else 8
        if 0 < kind < 29:
            yield body[at : at + size]
        at += size


def lossy(page: bytes) -> bytes:
    """A page that says that events were lost before it."""
    (commit,) = struct.unpack_from("<Q", page, 8)
    return page[:8] + struct.pack("<Q", commit | 1 << 31) + page[16:]


def formats(good: Good, number: int) -> bytes:
    """A format file of a further event."""
    for one in good.records:
        frame = frame_of(one)
        if frame is None or frame.type != T.FILE or not frame.payload.startswith(b"events/duet/"):
            continue
        name, _, text = frame.payload.partition(b"\0")
        event = name.split(b"/")[2]
        new = b"x%d" % number
        text = text.replace(b"name: " + event, b"name: " + new)
        text = (
            text[: text.index(b"ID: ")]
            + b"ID: %d\n" % (2000 + number)
            + text[text.index(b"format:") :]
        )
        return long_frame(T.FILE, b"events/duet/" + new + b"/format\0" + text)
    raise AssertionError("the good recording has no format of ours")
