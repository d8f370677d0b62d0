# SPDX-License-Identifier: GPL-2.0-or-later
"""A long recording that repeats the ring-buffer pages of a shipped recording, with shifted times.

Equal pages would compress better than real pages. So the times of events vary within each page, and
the recording has 2.4 bytes for each event. The recordings in lessons/ have 2.3 on average.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from duet.bundle import Bundle, Record, open_bundle, write_bundle
from duet.bundle.manifest import CTL, LENS
from duet.bundle.reader import read_lane
from duet.decode import Decoder
from duet.wire import Beat, Drained, Ended, Frame, FrameReader, Stats, decode_frame, encode
from duet.wire.frames import PAGE_BYTES, CpuBeat

HEAD_BYTES: Final = 16
"""Header of a ring-buffer page: the page's time, and the number of bytes that follow."""
MISSED_FLAGS: Final = 3 << 30
PADDING, STAMP = 29, 31
"""Kinds of entries that are no events (include/linux/ring_buffer.h, Linux 6.1)."""
TIME_BITS: Final = 27
NOISE_BITS: Final = 12
"""Size of the variation of times: up to 4 us."""
GAP_NS: Final = 1_000_000
"""Pause between two rounds."""


@dataclass(frozen=True, slots=True)
class Tiled:
    """What was written.

    Args:
        events: events of all lanes.
        bytes: size of the file.
    """

    events: int
    bytes: int
    lanes: tuple[str, ...]


def write_tiled(source: Path, to: Path, events: int) -> Tiled:
    """Write a recording of at least `events` events, with the same number of rounds for all lanes.

    Raises:
        InputError: the source is unusable, or the recording would be too large.
    """
    bundle = open_bundle(source)
    arms = tuple(entry.name for entry in bundle.manifest.arms)
    counts, begins, ends = 0, list[int](), list[int]()
    for arm in arms:
        lane = read_lane(bundle, arm)
        decoder = Decoder(lane.files, lane.page_bytes)
        for cpu, pages in lane.pages.items():
            part = decoder.decode(cpu, pages)
            counts += part.events
            begins += [int(table.ts_ns.min()) for table in part.tables.values()]
            ends += [int(table.ts_ns.max()) for table in part.tables.values()]
    rounds = -(-events // counts)
    span_ns = max(ends) - min(begins) + GAP_NS
    lanes = {arm: list(_rounds(bundle, arm, rounds, span_ns)) for arm in arms}
    manifest = bundle.manifest.model_copy(update={"window_ms": None})
    patches = {name: bundle.patch(name) for name in bundle.patches}
    size = write_bundle(to, manifest, lanes, patches)
    return Tiled(counts * rounds, size, arms)


def _rounds(bundle: Bundle, arm: str, rounds: int, span_ns: int) -> Iterator[Record]:
    """Yield the records of one lane. Frames that end a run come in the last round only."""
    dice = random.Random(arm)
    sent: dict[int, int] = {}
    for record in bundle.records(arm):
        if record.stream not in (CTL, LENS):
            sent[record.stream] = sent.get(record.stream, 0) + len(record.payload)
    for number in range(rounds):
        reader, shift_ns = FrameReader(), number * span_ns
        first, last = number == 0, number == rounds - 1
        for record in bundle.records(arm):
            host_ns = record.host_ns + shift_ns
            if record.stream == CTL:
                for raw in reader.feed(record.payload):
                    frame = _moved(decode_frame(raw), number, shift_ns, sent, first, last)
                    if frame is not None:
                        yield Record(host_ns, CTL, encode(frame))
            elif record.stream == LENS:
                if first:
                    yield record
            else:
                pages = _pages(record.payload, shift_ns, dice) if number else record.payload
                yield Record(host_ns, record.stream, pages)


def _moved(
    frame: Frame, number: int, shift_ns: int, sent: dict[int, int], first: bool, last: bool
) -> Frame | None:
    match frame:
        case Beat(mono_ns, cpus):
            rows = tuple(
                CpuBeat(row.bytes_sent + number * sent.get(cpu, 0), row.empty_at_ns + shift_ns)
                for cpu, row in enumerate(cpus)
            )
            return Beat(mono_ns + shift_ns, rows)
        case Stats(final, _, _):
            return frame if last or (first and not final) else None
        case Ended() | Drained():
            return replace(frame, mono_ns=frame.mono_ns + shift_ns) if last else None
        case _:
            return frame if first else None


def _pages(pages: bytes, shift_ns: int, dice: random.Random) -> bytes:
    moved = bytearray(pages)
    for at in range(0, len(pages) - HEAD_BYTES + 1, PAGE_BYTES):
        (begin,) = struct.unpack_from("<Q", pages, at)
        struct.pack_into("<Q", moved, at, begin + shift_ns)
        _vary(moved, at, min(at + PAGE_BYTES, len(pages)), shift_ns, dice)
    return bytes(moved)


def _vary(pages: bytearray, at: int, end: int, shift_ns: int, dice: random.Random) -> None:
    """Shift absolute times, and shift each event by less than the time to its neighbours."""
    (commit,) = struct.unpack_from("<I", pages, at + 8)
    end = min(end, at + HEAD_BYTES + (commit & ~MISSED_FLAGS))
    at += HEAD_BYTES
    moves: int | None = None
    while at + 4 <= end:
        (head,) = struct.unpack_from("<I", pages, at)
        kind, step = head & 31, head >> 5
        more = struct.unpack_from("<I", pages, at + 4)[0] if kind in (0, PADDING, STAMP) else 0
        if kind == PADDING and not step:
            break
        if kind == STAMP:  # an absolute time, in 59 bits
            moment = (step | more << TIME_BITS) + shift_ns
            struct.pack_into("<I", pages, at, (moment & ((1 << TIME_BITS) - 1)) << 5 | kind)
            struct.pack_into("<I", pages, at + 4, moment >> TIME_BITS)
        if kind < PADDING and step > 2 << NOISE_BITS:
            if moves is None:
                moves = at  # the next event of this kind takes back what this one is moved by
            else:
                by = dice.getrandbits(NOISE_BITS)
                (before,) = struct.unpack_from("<I", pages, moves)
                struct.pack_into("<I", pages, moves, before + (by << 5))
                struct.pack_into("<I", pages, at, head - (by << 5))
                moves = None
        at += 4 + more if kind in (0, PADDING) else 8 if kind > PADDING else 4 + 4 * kind
