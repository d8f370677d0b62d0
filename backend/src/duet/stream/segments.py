# SPDX-License-Identifier: GPL-2.0-or-later
"""Segments: the messages of a run between two cuts, packed once for all viewers. Pure: no sockets.

A segment is immutable. Its URL contains a digest of its bytes, keyed with the run's secret key. So
any cache may store a segment, but nobody can guess the URL.
"""

from __future__ import annotations

import re
import secrets
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

import msgpack

from duet import messages as m
from duet.base.budgets import RUN_SEGMENT_BYTES, SEGMENT_RAW_BYTES, SEGMENT_STORE_BYTES
from duet.base.errors import InputError
from duet.messages.base import Key, Span
from duet.messages.codec import Packet, pack
from duet.stream.outbox import TableKey, extend_gaps
from duet.stream.packets import packed

NAME = re.compile(r"^(0|[1-9]\d{0,8})-[0-9a-f]{32}$")
DIGEST_BYTES = 16
ONE_IS_ENOUGH = frozenset({"batch", "metrics", "lens"})
"""Types of messages that a later packet with the same key replaces."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The packets of segment `n`, before they are packed."""

    n: int
    packets: tuple[Packet, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """An immutable part of a run.

    Args:
        body: compressed messages (packets.packed).
        spans: spans of the segment's rows; these spans become gaps if the segment is evicted.
        live: whether the run was live, not a recording.
    """

    run_id: str
    line: m.SegmentLine
    body: bytes
    spans: tuple[Span, ...] = ()
    live: bool = False

    @property
    def name(self) -> str:
        """The last part of the segment's URL."""
        return f"{self.line.n}-{self.line.digest}"


class SegmentLog:
    """The segments of one run, and the packets after the last cut.

    Args:
        live: whether the run is live, not a recording.
        max_bytes: maximum size of all packed segments. Beyond this size, the oldest segments are
            evicted and become gaps.
    """

    def __init__(
        self, run_id: str, *, live: bool = False, max_bytes: int = RUN_SEGMENT_BYTES
    ) -> None:
        self.run_id = run_id
        self._live = live
        self.there: deque[Segment] = deque()
        self.cuts = 0
        """Number of cuts so far, and number of the next segment."""
        self._max_bytes = max_bytes
        self._bytes = 0
        self._key = secrets.token_bytes(DIGEST_BYTES)
        self._waiting: list[Packet] = []
        self._waiting_bytes = 0
        self._unpacked: deque[Cut] = deque()
        self._evicted: OrderedDict[TableKey, m.Gap] = OrderedDict()
        self._listed: Packet | None = None

    @property
    def waits(self) -> bool:
        """Whether packets have arrived since the last cut."""
        return bool(self._waiting)

    def is_full(self, more: int = 0) -> bool:
        """Return whether a cut is due before `more` further bytes are added."""
        return self.waits and self._waiting_bytes + more >= SEGMENT_RAW_BYTES

    def add(self, packet: Packet) -> None:
        """Add a packet to the next segment."""
        self._waiting.append(packet)
        self._waiting_bytes += len(packet.body)

    def cut(self) -> Cut:
        """Close the current segment, and return it for packing."""
        made = Cut(self.cuts, tuple(conflated(self._waiting)))
        self.cuts += 1
        self._waiting, self._waiting_bytes = [], 0
        self._unpacked.append(made)
        return made

    def packed(self, body: bytes, through_ns: float) -> Segment:
        """Turn the oldest cut into a segment, and evict old segments beyond `max_bytes`.

        Args:
            body: packed bytes of the cut.
            through_ns: time up to which the data of each lane are complete.
        """
        cut = self._unpacked.popleft()
        digest = blake2b(body, digest_size=DIGEST_BYTES, key=self._key).hexdigest()
        line = m.SegmentLine(n=cut.n, digest=digest, bytes=len(body), through_ns=through_ns)
        spans = tuple(packet.span for packet in cut.packets if packet.span is not None)
        segment = Segment(self.run_id, line, body, spans, self._live)
        self.there.append(segment)
        self._listed = None
        self._bytes += len(body)
        while self._bytes > self._max_bytes and len(self.there) > 1:
            old = self.there.popleft()
            self._bytes -= len(old.body)
            for span in old.spans:
                extend_gaps(self._evicted, span)
        return segment

    def tail(self) -> Iterator[Packet]:
        """Yield, in order, the packets that are not yet in a packed segment."""
        for cut in self._unpacked:
            yield from cut.packets
        yield from self._waiting

    def listing(self) -> m.Segments:
        """Return the list of all segments as a message."""
        return m.Segments(run_id=self.run_id, segments=[one.line for one in self.there])

    def announcement(self) -> Packet:
        """Return the encoded list of all segments, cached until the next segment."""
        if self._listed is None:
            self._listed = pack(self.listing())
        return self._listed

    def gone(self) -> Iterator[Packet]:
        """Return the gaps of evicted segments."""
        return (pack(gap) for gap in self._evicted.values())


class SegmentStore:
    """An LRU cache of the segments of all runs, including closed runs.

    Args:
        max_bytes: maximum size of the cache. Beyond this size, the least recently requested
            segments are evicted.
    """

    def __init__(self, max_bytes: int = SEGMENT_STORE_BYTES) -> None:
        self.added = self.asked = 0
        self._max_bytes = max_bytes
        self._bytes = 0
        self._there: OrderedDict[tuple[str, str], Segment] = OrderedDict()

    def add(self, segment: Segment) -> None:
        self.added += 1
        self._there[segment.run_id, segment.name] = segment
        self._bytes += len(segment.body)
        while self._bytes > self._max_bytes:
            self._bytes -= len(self._there.popitem(last=False)[1].body)

    def find(self, run_id: str, name: str) -> Segment:
        """Return a segment.

        Raises:
            InputError: the name is malformed, or the segment is unknown or evicted.
        """
        self.asked += 1
        if NAME.match(name) is None:
            raise InputError(
                f"'{name:.60}' is not a segment name.",
                remedy="A name is a number, a dash and 32 hexadecimal digits.",
            )
        found = self._there.get((run_id, name))
        if found is None:
            raise InputError(
                f"the run '{run_id:.60}' has no segment '{name:.60}' here.",
                remedy="Request the run's list of segments again; the server may have renewed it.",
            )
        self._there.move_to_end((run_id, name))
        return found


def conflated(packets: Iterable[Packet]) -> list[Packet]:
    """Return the packets in order, except packets that a later packet replaces."""
    found = list(packets)
    latest: dict[Key, int] = {}
    for at, packet in enumerate(found):
        if packet.key is not None and packet.type in ONE_IS_ENOUGH:
            latest[packet.key] = at
    return [
        packet
        for at, packet in enumerate(found)
        if packet.key is None or latest.get(packet.key, at) == at
    ]


def pack_cut(packets: Iterable[Packet]) -> tuple[bytes, float]:
    """Return a segment's bytes, and the lowest watermark of its lanes. This takes milliseconds."""
    parts = tuple(packets)
    marks: dict[str, float] = {}
    for packet in parts:
        if packet.type == "batch":
            tree = msgpack.unpackb(packet.body)
            marks[tree["arm"]] = max(tree["watermark_ns"], marks.get(tree["arm"], 0.0))
    return packed(parts), min(marks.values(), default=0.0)
