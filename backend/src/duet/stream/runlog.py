# SPDX-License-Identifier: GPL-2.0-or-later
"""What a viewer who comes late must be sent of a run: the whole of it, up to a limit. Pure.

Numbered packets (batches, lines) are kept in order and evicted oldest first; the evicted ranges
are reported as gaps. How far a recording is read stands among them. Of state only the latest
stays.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Final

import msgpack

from duet.budgets import RUN_PACKETS
from duet.stream.codec import Key, Packet, pack
from duet.stream.messages import Gap, Lane, Lens, Line, Metrics, Run
from duet.stream.outbox import TableKey, extend_gaps
from duet.stream.segments import SegmentLog

REPLAY_BYTES = 64 * 1024 * 1024
"""Batches kept per run for late joiners; about a minute of three busy lanes."""

OVER: Final = frozenset({"done", "stopped", "failed"})
"""Phases of a run, and of a lane, after which nothing comes."""

FIRST = ("run", "lane", "rows")
LAST = ("reading",)


class RunLog:
    """The packets of one run.

    Args:
        max_bytes: of numbered packets that are kept.
        recorded: it is read faster than it is watched, so viewers may be behind by all that is
            kept, and a slow one still gets everything.
    """

    def __init__(
        self, run_id: str, lesson: str, max_bytes: int = REPLAY_BYTES, *, recorded: bool = False
    ) -> None:
        self.run_id = run_id
        self.lesson = lesson
        self.recorded = recorded
        self.segments: SegmentLog | None = None
        """Set by stream/cutting.py once the run is cut into segments."""
        self.behind_bytes = max_bytes if recorded else None
        """How far a viewer may be behind; None: as far as its own outbox says."""
        self._max_bytes = max_bytes
        self.added = 0
        """Packets so far, those included that are not kept."""
        self._bytes = 0
        self._numbered: deque[Packet] = deque()
        self._packets: list[Packet] = []
        self._state: dict[Key, Packet] = {}
        self._evicted: OrderedDict[TableKey, Gap] = OrderedDict()

    def add(self, packet: Packet) -> None:
        """Remember a packet that is being sent to the viewers."""
        self.added += 1
        if packet.key is not None:
            self._state[packet.key] = packet
        elif packet.span is not None or packet.type == "reading":
            self._numbered.append(packet)
            self._bytes += len(packet.body)
            while self._too_much() and len(self._numbered) > 1:
                self._evict()
        else:
            self._packets.append(packet)

    def _too_much(self) -> bool:
        return self._bytes > self._max_bytes or len(self._numbered) > RUN_PACKETS

    def backlog(self) -> Iterator[Packet]:
        """All of it in an order that a page can take: state, gaps, batches, metrics, losses.

        That a recording is whole comes last.
        """
        state = list(self._state.values())
        yield from self.heads()
        yield from (pack(gap) for gap in self._evicted.values())
        yield from self._numbered
        yield from (p for p in state if p.type not in (*FIRST, *LAST))
        yield from self._packets
        yield from (p for p in state if p.type in LAST)

    def heads(self) -> Iterator[Packet]:
        """State that comes before all rows."""
        return (p for kind in FIRST for p in self._state.values() if p.type == kind)

    def run(self) -> Run | None:
        """The newest state of the run; None: nothing was said of it yet."""
        found = [Run.model_validate(tree) for tree in self._latest("run")]
        return found[-1] if found else None

    @property
    def over(self) -> bool:
        """Whoever watches has seen the run's end."""
        last = self.run()
        return last is not None and last.phase in OVER

    def metrics(self) -> dict[str, Metrics]:
        """The newest counts of each lane."""
        found = [Metrics.model_validate(tree) for tree in self._latest("metrics")]
        return {metrics.arm: metrics for metrics in found}

    def lanes(self) -> dict[str, Lane]:
        """The newest state of each lane."""
        found = [Lane.model_validate(tree) for tree in self._latest("lane")]
        return {lane.arm: lane for lane in found}

    def seen(self, arm: str) -> int:
        """Samples of the x-ray and accesses of the microscope of a lane."""
        lenses = [Lens.model_validate(tree) for tree in self._latest("lens")]
        return sum(lens.samples for lens in lenses if lens.arm == arm)

    def lines(self) -> dict[str, list[str]]:
        """What the workload of each lane has printed, as far as it is still there."""
        found: dict[str, list[str]] = {}
        for packet in (*self._packets, *self._numbered):
            if packet.type == "line":
                line = Line.model_validate(msgpack.unpackb(packet.body))
                found.setdefault(line.arm, []).append(line.text)
        return found

    def _latest(self, kind: str) -> list[object]:
        return [msgpack.unpackb(p.body) for p in self._state.values() if p.type == kind]

    def _evict(self) -> None:
        packet = self._numbered.popleft()
        self._bytes -= len(packet.body)
        if packet.span is not None:
            extend_gaps(self._evicted, packet.span)
