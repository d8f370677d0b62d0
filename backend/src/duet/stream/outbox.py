# SPDX-License-Identifier: GPL-2.0-or-later
"""One bounded queue per browser, where slowness is turned into told gaps. Pure: no sockets.

State (run, lane, rows, metrics, open, build) conflates in place: the latest wins. Batches and
lines drop oldest first, and what was dropped is told exactly as a gap before anything later is
sent. The rest (loss, errors) is never dropped; when only such packets fill the box, it is full.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable

from duet.stream.codec import Key, Packet, Span, pack
from duet.stream.messages import Gap

MAX_PACKETS = 2048
MAX_BYTES = 8 * 1024 * 1024

TableKey = tuple[str, str, str]


class OutboxFull(Exception):
    """Nothing is left that may be dropped."""


class Outbox:
    """Packets that wait for one browser.

    Args:
        max_packets: most live packets that wait; the backlog is counted apart.
        max_bytes: most live bytes that wait.
    """

    def __init__(self, max_packets: int = MAX_PACKETS, max_bytes: int = MAX_BYTES) -> None:
        self._max_packets = max_packets
        self._max_bytes = max_bytes
        self._backlog: deque[Packet] = deque()
        self._live: OrderedDict[int, Packet] = OrderedDict()
        self._slots: dict[Key, int] = {}
        self._droppable: deque[int] = deque()
        self._gaps: OrderedDict[TableKey, Gap] = OrderedDict()
        self._next = 0
        self._bytes = 0
        self.rows_dropped = 0

    def __len__(self) -> int:
        return len(self._backlog) + len(self._live) + len(self._gaps)

    @property
    def live_bytes(self) -> int:
        """Bytes that wait, without the backlog."""
        return self._bytes

    def restart(self, backlog: Iterable[Packet]) -> None:
        """Forget what waits of other runs and send `backlog` first.

        The packets of a backlog are the hub's own, shared by all viewers and bounded there, so
        they cost a viewer nothing and are not dropped.
        """
        keep = [p for p in self._live.values() if p.type in KEPT]
        self._backlog = deque(backlog)
        self._live.clear()
        self._slots.clear()
        self._droppable.clear()
        self._gaps.clear()
        self._bytes = 0
        for packet in keep:
            self.put(packet)

    def put(self, packet: Packet) -> None:
        """Add a packet, conflating or dropping older ones.

        Raises:
            OutboxFull: only packets that may not be dropped are waiting.
        """
        if packet.key is not None and (slot := self._slots.get(packet.key)) is not None:
            self._bytes += len(packet.body) - len(self._live[slot].body)
            self._live[slot] = packet
        else:
            slot = self._next
            self._next += 1
            self._live[slot] = packet
            self._bytes += len(packet.body)
            if packet.key is not None:
                self._slots[packet.key] = slot
            if packet.span is not None:
                self._droppable.append(slot)
        while len(self._live) > self._max_packets or self._bytes > self._max_bytes:
            self._drop_oldest()

    def pop(self) -> Packet | None:
        """The next packet to send; None when nothing waits."""
        if self._backlog:
            return self._backlog.popleft()
        if self._gaps:
            return pack(self._gaps.popitem(last=False)[1])
        if not self._live:
            return None
        slot, packet = self._live.popitem(last=False)
        self._bytes -= len(packet.body)
        if packet.key is not None:
            del self._slots[packet.key]
        if self._droppable and self._droppable[0] == slot:
            self._droppable.popleft()
        return packet

    def _drop_oldest(self) -> None:
        if not self._droppable:
            raise OutboxFull
        packet = self._live.pop(self._droppable.popleft())
        self._bytes -= len(packet.body)
        assert packet.span is not None
        self.rows_dropped += packet.span.rows
        extend_gaps(self._gaps, packet.span)


KEPT = frozenset({"hello", "lesson", "build", "measured", "control", "error"})
"""Types that belong to the viewer, not to a run; they survive a switch of runs."""


def extend_gaps(gaps: OrderedDict[TableKey, Gap], span: Span) -> None:
    """Add a dropped span; spans of one table come in order, so each table has one gap."""
    key = (span.run_id, span.arm, span.table)
    former = gaps.get(key)
    gaps[key] = Gap(
        run_id=span.run_id,
        arm=span.arm,
        table=span.table,
        from_seq=former.from_seq if former else span.seq,
        to_seq=span.seq,
        rows=span.rows + (former.rows if former else 0),
    )
