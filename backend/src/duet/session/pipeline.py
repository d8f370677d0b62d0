# SPDX-License-Identifier: GPL-2.0-or-later
"""What the host process knows of one run on one lane: frames, missing bytes, losses. Pure.

Its engine decodes and reduces; there that is a child process (`lane.child`). `feed` and
`take` belong to the thread that receives, `work` may run on another: it touches only what `take`
handed over. One `work` at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from duet.base.errors import DuetError
from duet.session.engine import Counts, GuestFiles, PageQueue, Pages, Progress, Step
from duet.session.reduce import Reduction
from duet.session.tables import Batch, Loss, Metrics
from duet.wire import Beat, Drained, Frame, GuestFile, Stats

# Up to which guest time a lane's pages are all here: the watermark. Pure.
#
# A beat says of each CPU: at that guest time its buffer was empty, and so many bytes had been
# sent. Ports are apart, so a beat may overtake the pages it speaks of; it holds once the bytes
# are here.

MAX_OPEN_BEATS = 4096
"""Beats that wait for bytes; beyond it the oldest are dropped, newer ones say more."""


class Completeness:
    """Bytes received against bytes sent, per CPU.

    Args:
        received: bytes that came of each CPU before this run (ports outlive runs).
    """

    def __init__(self, received: dict[int, int] | None = None) -> None:
        self._received = dict(received or {})
        self._open: dict[int, deque[tuple[int, int]]] = {}
        self._complete: dict[int, int] = {}

    def bytes_came(self, cpu: int, count: int) -> None:
        """More bytes of one CPU are here."""
        self._received[cpu] = self._received.get(cpu, 0) + count
        self._settle(cpu)

    def beat(self, beat: Beat) -> None:
        """The agent's word on every CPU."""
        for cpu, row in enumerate(beat.cpus):
            waiting = self._open.setdefault(cpu, deque(maxlen=MAX_OPEN_BEATS))
            waiting.append((row.bytes_sent, row.empty_at_ns))
            self._settle(cpu)

    def complete_ns(self, cpu: int) -> int:
        """This CPU is complete up to this guest time; 0 before its first beat."""
        return self._complete.get(cpu, 0)

    @property
    def watermark_ns(self) -> int:
        """Every CPU is complete up to this guest time; 0 before the first beat."""
        if not self._open:
            return 0
        return min(self._complete.get(cpu, 0) for cpu in self._open)

    @property
    def missing_bytes(self) -> int:
        """Bytes that were sent, by the newest beat, and are not here."""
        return sum(
            max(0, waiting[-1][0] - self._received.get(cpu, 0))
            for cpu, waiting in self._open.items()
            if waiting
        )

    def _settle(self, cpu: int) -> None:
        waiting, here = self._open.get(cpu), self._received.get(cpu, 0)
        while waiting and waiting[0][0] <= here:
            self._complete[cpu] = max(self._complete.get(cpu, 0), waiting.popleft()[1])


# How many events a lane lost, from all who count them, none counted twice. Pure.
#
# The ring buffer counts what it overwrote or dropped (STATS); a page says how many are missing
# right before it. Both speak of the same events, so the greater of the two counts. Kprobe misses
# never reached the buffer, and what the guest read but we did not decode was lost on this side.


class LossLedger:
    """All losses of one run of one lane."""

    def __init__(self) -> None:
        self._stats: Stats | None = None
        self._at_ns = 0
        self._final = False
        self._kprobe_reported = 0
        self._new: list[tuple[int, int, int]] = []

    def stats(self, stats: Stats, at_ns: int) -> None:
        """Take new counters; `take` gives the losses that no page can report.

        Args:
            at_ns: guest time of the counters.
        """
        before_ns, self._at_ns = self._at_ns, at_ns
        self._stats = stats
        self._final = self._final or stats.final
        missed, self._kprobe_reported = (
            stats.kprobe_missed - self._kprobe_reported,
            stats.kprobe_missed,
        )
        if missed > 0:
            self._new.append((before_ns, at_ns, missed))

    def take(self, since_marker: Callable[[int], float]) -> list[Loss]:
        """Losses since the last call.

        Args:
            since_marker: gives the time since the start marker, which is known by now.
        """
        new, self._new = self._new, []
        return [
            Loss(since_marker(t0), since_marker(t1), missed, "kprobe") for t0, t1, missed in new
        ]

    @property
    def dropped(self) -> int:
        """Events that found the buffer full, where it keeps the oldest."""
        return sum(cpu.dropped for cpu in self._stats.cpus) if self._stats else 0

    def by_place(self, missed: int, decoded: int, *, complete: bool) -> dict[str, int]:
        """Events lost by place.

        Args:
            missed: what pages say is missing.
            decoded: records decoded, known or not.
            complete: all bytes are here, so what was read must have been decoded.
        """
        cpus = self._stats.cpus if self._stats else ()
        ring = sum(c.overrun + c.commit_overrun + c.dropped for c in cpus)
        host = 0
        if complete and self._final:
            host = max(0, sum(c.read + c.entries for c in cpus) - decoded)
        kprobe = self._stats.kprobe_missed if self._stats else 0
        return {"ring buffer": max(ring, missed), "kprobe": kprobe, "host": host}

    def unreported(self, missed: int, decoded: int, last_ns: float, end_ns: float) -> list[Loss]:
        """At the end: what no page and no counter has reported as an interval yet.

        Args:
            last_ns: guest time of the last event; a full buffer dropped what came after it.
            end_ns: guest time at which the run ended.
        """
        places = self.by_place(missed, decoded, complete=True)
        losses = []
        rest = places["ring buffer"] - missed
        after = min(rest, self.dropped)
        if rest > after:
            losses.append(Loss(0.0, last_ns, rest - after, "ring buffer"))
        if after:
            losses.append(Loss(last_ns, max(last_ns, end_ns), after, "ring buffer"))
        if places["host"]:
            losses.append(Loss(0.0, last_ns, places["host"], "host"))
        return losses


class Engine(Protocol):
    """Decodes and reduces (see LaneChild)."""

    def step(self, step: Step) -> tuple[Reduction, Progress]: ...

    def counts(self, *, tallies: bool) -> Counts: ...


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be decoded and reduced now."""

    pages: tuple[Pages, ...]
    watermark_ns: int
    host_ns: int
    final: bool

    def rest(self) -> Work:
        """The same without the pages, which are decoded by now."""
        return replace(self, pages=())

    def stamped(self, batches: list[Batch]) -> list[Batch]:
        """The batches with the host's time of the newest bytes behind them."""
        return [replace(batch, newest_host_ns=self.host_ns) for batch in batches]


class LanePipeline:
    """One run of one lane, from frames and pages to tables.

    Args:
        engine: decodes and reduces.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._files = GuestFiles()
        self.files = self._files.by_name
        self._completeness = Completeness()
        self._ledger = LossLedger()
        self._pages = PageQueue()
        self._beat_ns = 0
        self._drained = self._ended = False
        self._progress = Progress()
        self._counts = Counts()
        self.broken: DuetError | None = None
        """Why nothing more can be decoded."""
        self.losses: list[Loss] = []
        """Every loss so far, as intervals since the start marker."""

    def begin_at(self, received: Mapping[int, int]) -> None:
        """The run begins on ports that are open: bytes per CPU that came before it."""
        self._completeness = Completeness(dict(received))

    @property
    def pending_bytes(self) -> int:
        """Pages taken in and not yet handed to `work`."""
        return self._pages.size_bytes

    @property
    def complete(self) -> bool:
        """The agent has drained, and every byte it sent is here."""
        return self._drained and not self._completeness.missing_bytes

    @property
    def missing_bytes(self) -> int:
        """Bytes that the agent sent and that did not come."""
        return self._completeness.missing_bytes

    def feed_frame(self, frame: Frame) -> None:
        """Take a frame of the control port, if it concerns events."""
        match frame:
            case GuestFile(name, content):
                self._files.add(name, content)
            case Beat():
                self._beat_ns = frame.mono_ns
                self._completeness.beat(frame)
            case Stats():
                self._ledger.stats(frame, self._beat_ns)
            case Drained():
                self._drained = True

    def feed_pages(self, cpu: int, pages: bytes, came: int, host_ns: int) -> None:
        """Take whole pages of one CPU.

        Args:
            came: bytes that came with this chunk, a half page included.
        """
        self._pages.add(cpu, pages, host_ns, self._completeness.complete_ns(cpu))
        self._completeness.bytes_came(cpu, came)

    def take(self, *, final: bool = False) -> Work | None:
        """Hand over what came since; None if there is nothing to do.

        Args:
            final: nothing more will come; what is here is reduced whatever beats say.
        """
        pages = self._pages.take()
        if not pages and not final and not self._progress.begun:
            return None
        return Work(pages, self._completeness.watermark_ns, self._pages.host_ns, final)

    def work(self, work: Work) -> Reduction:
        """Decode and reduce one step; `more` in the result asks for `work.rest()`.

        Raises:
            DuetError: pages or format files are broken, or whoever decodes them is.
        """
        files = None if self._progress.begun else dict(self.files)
        step = Step(files, work.pages, work.watermark_ns, work.final, self.complete)
        try:
            result, self._progress = self._engine.step(step)
        except DuetError as error:
            self.broken = error
            raise
        if not self._progress.begun:
            return result
        if self.origin_ns is not None or work.final:
            result.losses += self._ledger.take(self.since_marker)
        if work.final and not result.more and not self._ended:
            result.losses += self._last_losses()
        self.losses += result.losses
        result.batches = work.stamped(result.batches)
        return result

    def count(self, *, tallies: bool = False) -> None:
        """Ask for the figures that `metrics` and `tallies` give from then on.

        Raises:
            DuetError: for the same reasons.
        """
        try:
            found = self._engine.counts(tallies=tallies)
        except DuetError as error:
            self.broken = error
            raise
        self._counts = found if tallies else replace(self._counts, metrics=found.metrics)

    @property
    def counts(self) -> Counts:
        """Figures as of the last `count`; tallies, unscaled, as of the last one with tallies."""
        return self._counts

    def metrics(self) -> Metrics:
        """Counts, as of the last `count`; losses as of now."""
        return replace(self._counts.metrics, events_lost=sum(self.lost_by_place().values()))

    def lost_by_place(self) -> dict[str, int]:
        """Events lost in the ring buffer, by kprobes, and on this side."""
        done = self._progress
        return self._ledger.by_place(done.missed, done.decoded, complete=self._ended)

    @property
    def headless(self) -> bool:
        """Events came, but the start marker was not among them (overwritten, or never written)."""
        return self._progress.begun and self._progress.origin_ns is None

    def _last_losses(self) -> list[Loss]:
        self._ended, done = True, self._progress
        end = self.since_marker(self._beat_ns)
        return self._ledger.unreported(done.missed, done.decoded, done.watermark_ns, end)

    @property
    def origin_ns(self) -> int | None:
        """Guest time of the start marker, once it was seen."""
        return self._progress.origin_ns

    @property
    def watermark_ns(self) -> float:
        """Up to where events are complete, since the start marker."""
        return self._progress.watermark_ns

    def since_marker(self, mono_ns: int) -> float:
        """Guest time as nanoseconds since the start marker (0 before it)."""
        origin = self._progress.origin_ns
        return float(max(0, mono_ns - origin)) if origin is not None else 0.0
