# SPDX-License-Identifier: GPL-2.0-or-later
"""The bounded queue of one browser. It drops packets and reports the gaps. Pure: no sockets.

At most two state packets (run, lane, rows, metrics, open, build) are queued per key. The oldest
packet is kept so that a run is announced before its batches, and the newest packet is kept so that
`done` comes after the batches. If space is needed, X-ray samples are dropped first, because the
next sample is similar. Batches and lines are dropped next. Within each group the oldest packets are
dropped first. Each dropped range is reported exactly, as a gap, before any later packet of its
table. Other packets (losses, errors) are never dropped. If the queue contains only such packets,
the queue is full.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Iterable

from duet.messages import Gap, lasting_types
from duet.messages.base import SAMPLES, Key, Span
from duet.messages.codec import Packet, pack

MAX_PACKETS = 2048
MAX_BYTES = 8 * 1024 * 1024

TableKey = tuple[str, str, str]


class OutboxFull(Exception):
    """The queue is full and contains no packet that may be dropped."""


class Outbox:
    """Packets queued for one browser.

    Args:
        max_packets: maximum number of queued packets, not counting state and backlog.
        max_bytes: maximum total size of those packets.
    """

    def __init__(self, max_packets: int = MAX_PACKETS, max_bytes: int = MAX_BYTES) -> None:
        self._limits = (max_packets, max_bytes)
        self._max_packets: float = max_packets
        self._max_bytes = max_bytes
        self._backlog: deque[Packet] = deque()
        self._live: OrderedDict[int, Packet] = OrderedDict()
        self._states: dict[Key, list[int]] = {}
        self._samples: deque[int] = deque()
        self._droppable: deque[int] = deque()
        self._gaps: OrderedDict[TableKey, Gap] = OrderedDict()
        self._promised: deque[Packet] = deque()
        self._next = 0
        self._before = 0
        """Queued packets with a lower number are sent before the backlog."""
        self._count = 0
        self._bytes = 0
        self.rows_dropped = 0

    def restart(self, backlog: Iterable[Packet], behind_bytes: int | None = None) -> None:
        """Drop queued packets of other runs, and send `backlog` before later packets.

        Queued packets that belong to the viewer, such as the lesson, are still sent first. All
        viewers share the packets of the backlog, whose size the hub limits. So these packets are
        never dropped.

        Args:
            behind_bytes: size limit for later packets, instead of the outbox's own limit. This
                limit is set for recordings, because the hub keeps their packets in any case.
        """
        self._max_packets, self._max_bytes = self._limits
        if behind_bytes is not None:
            self._max_packets, self._max_bytes = math.inf, behind_bytes
        lasting = [p for p in self._live.values() if p.type in lasting_types()]
        self._backlog = deque(backlog)
        self._live.clear()
        self._states.clear()
        self._samples.clear()
        self._droppable.clear()
        self._gaps.clear()
        self._promised.clear()
        self._count = self._bytes = 0
        for packet in lasting:
            self.put(packet)
        self._before = self._next

    def put(self, packet: Packet) -> None:
        """Queue a packet, and replace or drop older packets if necessary.

        Raises:
            OutboxFull: no queued packet may be dropped.
        """
        slot = self._next
        self._next += 1
        self._live[slot] = packet
        if packet.key is not None:
            waiting = self._states.setdefault(packet.key, [])
            if len(waiting) == 2:
                del self._live[waiting.pop()]
            waiting.append(slot)
            return
        self._weigh(packet, 1)
        if packet.span is not None:
            self._waiting(packet.span).append(slot)
        while self._count > self._max_packets or self._bytes > self._max_bytes:
            self._drop_oldest()

    def pop(self) -> Packet | None:
        """Remove and return the next packet to send; None if the queue is empty."""
        if self._backlog and not (self._live and next(iter(self._live)) < self._before):
            return self._backlog.popleft()
        if not self._promised:
            self._promise()
        return self._promised.popleft() if self._promised else None

    def _promise(self) -> None:
        """Append the next packet to the promised packets, after the gaps that precede the packet.

        Promised packets are never dropped. If they could be dropped, a very slow page would see
        only gaps.
        """
        if not self._live:
            self._promised.extend(self._take_gaps())
            return
        slot, packet = self._live.popitem(last=False)
        if packet.key is not None:
            self._states[packet.key].remove(slot)
            if packet.type in ENDINGS:
                self._promised.extend(self._take_gaps())
        else:
            self._weigh(packet, -1)
        if packet.span is not None:
            self._waiting(packet.span).popleft()
        for part in (packet, *packet.rest):
            if self._gaps and part.span is not None:
                gap = self._gaps.pop(_table(part.span), None)
                if gap is not None:
                    self._promised.append(pack(gap))
            self._promised.append(part)

    def _weigh(self, packet: Packet, sign: int) -> None:
        """Add a packet and its `rest` to the totals if `sign` is 1; subtract them if it is -1."""
        self._count += sign * (1 + len(packet.rest))
        self._bytes += sign * (packet.size or len(packet.body))

    def _take_gaps(self) -> list[Packet]:
        gaps = [pack(gap) for gap in self._gaps.values()]
        self._gaps.clear()
        return gaps

    def _waiting(self, span: Span) -> deque[int]:
        """Return the queue of the droppable packets that belong to the span's table.

        The oldest packet is first.
        """
        return self._samples if span.table.startswith(SAMPLES) else self._droppable

    def _drop_oldest(self) -> None:
        waiting = self._samples or self._droppable
        if not waiting:
            raise OutboxFull
        packet = self._live.pop(waiting.popleft())
        self._weigh(packet, -1)
        for part in (packet, *packet.rest):
            assert part.span is not None
            self.rows_dropped += part.span.rows
            extend_gaps(self._gaps, part.span)


ENDINGS = frozenset({"run", "lane"})
"""Types of packets before which every gap is reported, so that `done` comes last."""


def _table(span: Span) -> TableKey:
    return (span.run_id, span.arm, span.table)


def extend_gaps(gaps: OrderedDict[TableKey, Gap], span: Span) -> None:
    """Add a dropped span to the gap of its table. Spans of a table are dropped in order."""
    key = _table(span)
    former = gaps.get(key)
    gaps[key] = Gap(
        run_id=span.run_id,
        arm=span.arm,
        table=span.table,
        from_seq=former.from_seq if former else span.seq,
        to_seq=span.seq,
        rows=span.rows + (former.rows if former else 0),
    )
