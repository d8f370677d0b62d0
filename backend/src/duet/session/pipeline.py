# SPDX-License-Identifier: GPL-2.0-or-later
"""State that the host process keeps for a lane's run: frames, missing bytes, losses. Pure.

An engine in a child process decodes and reduces (`lane.child`). `feed_*` and `take_work` belong to
the receiving thread. `work` may run on another thread, because it uses only what `take_work`
returned. Run one `work` at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from duet.base.errors import DuetError
from duet.session.engine import Counts, GuestFiles, PageQueue, Pages, Progress, StepRequest
from duet.session.reduce import Reduction
from duet.session.tables import Batch, Loss, Metrics
from duet.wire import Beat, Drained, Frame, GuestFile, Stats

# The watermark: the guest time up to which all pages of a lane have arrived. Pure.
#
# The agent's BEAT frame has a row for each CPU. A row contains a guest time at which the CPU's
# buffer was empty, and the number of bytes sent until then. Ports are independent, so the frame may
# overtake these bytes. The frame takes effect once these bytes have arrived.

MAX_OPEN_BEATS = 4096
"""Maximum number of beats that wait for bytes. If there are more, the oldest are dropped, because
newer beats supersede them."""


class Completeness:
    """Compares the number of received bytes with the number of sent bytes, per CPU.

    Args:
        received: bytes received per CPU before this run (ports outlive runs).
    """

    def __init__(self, received: dict[int, int] | None = None) -> None:
        self._received = dict(received or {})
        self._open: dict[int, deque[tuple[int, int]]] = {}
        self._complete: dict[int, int] = {}

    def bytes_came(self, cpu: int, count: int) -> None:
        """Count received bytes of one CPU."""
        self._received[cpu] = self._received.get(cpu, 0) + count
        self._settle(cpu)

    def beat(self, beat: Beat) -> None:
        """Add a BEAT frame of the agent, which has a row for every CPU."""
        for cpu, row in enumerate(beat.cpus):
            waiting = self._open.setdefault(cpu, deque(maxlen=MAX_OPEN_BEATS))
            waiting.append((row.bytes_sent, row.empty_at_ns))
            self._settle(cpu)

    def complete_ns(self, cpu: int) -> int:
        """Return the guest time up to which a CPU is complete; 0 before its first BEAT frame."""
        return self._complete.get(cpu, 0)

    @property
    def watermark_ns(self) -> int:
        """Guest time up to which every CPU is complete; 0 before the first BEAT frame."""
        if not self._open:
            return 0
        return min(self._complete.get(cpu, 0) for cpu in self._open)

    @property
    def missing_bytes(self) -> int:
        """Number of bytes that the newest BEAT frame reports as sent, but that have not arrived."""
        return sum(
            max(0, waiting[-1][0] - self._received.get(cpu, 0))
            for cpu, waiting in self._open.items()
            if waiting
        )

    def _settle(self, cpu: int) -> None:
        waiting, here = self._open.get(cpu), self._received.get(cpu, 0)
        while waiting and waiting[0][0] <= here:
            self._complete[cpu] = max(self._complete.get(cpu, 0), waiting.popleft()[1])


# A lane's lost events from all sources. No event is counted twice. Pure.
#
# The ring buffer counts the events that it overwrote or dropped (STATS). Each page contains the
# number of events that are missing right before the page. STATS and the pages count the same
# events, so we use the greater number. Events that a kprobe missed never reached the buffer. Events
# that the guest read but that we did not decode were lost on the host.


class LossLedger:
    """All losses of one run of one lane."""

    def __init__(self) -> None:
        self._stats: Stats | None = None
        self._at_ns = 0
        self._final = False
        self._kprobe_reported = 0
        self._new: list[tuple[int, int, int]] = []

    def stats(self, stats: Stats, at_ns: int) -> None:
        """Add new counters; `take_losses` then returns the losses that no page can report.

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

    def take_losses(self, since_marker: Callable[[int], float]) -> list[Loss]:
        """Return and remove the losses since the last call.

        Args:
            since_marker: converts a guest time to time since the start marker.
        """
        new, self._new = self._new, []
        return [
            Loss(since_marker(t0), since_marker(t1), missed, "kprobe") for t0, t1, missed in new
        ]

    @property
    def dropped(self) -> int:
        """Number of events that a full buffer dropped, if the buffer keeps the oldest events."""
        return sum(cpu.dropped for cpu in self._stats.cpus) if self._stats else 0

    def by_place(self, missed: int, decoded: int, *, complete: bool) -> dict[str, int]:
        """Return the number of lost events by place.

        Args:
            missed: number of events that pages report as missing.
            decoded: number of decoded records, including unknown event types.
            complete: all bytes have arrived, so all events that the guest read must be decoded.
        """
        cpus = self._stats.cpus if self._stats else ()
        ring = sum(c.overrun + c.commit_overrun + c.dropped for c in cpus)
        host = 0
        if complete and self._final:
            host = max(0, sum(c.read + c.entries for c in cpus) - decoded)
        kprobe = self._stats.kprobe_missed if self._stats else 0
        return {"ring buffer": max(ring, missed), "kprobe": kprobe, "host": host}

    def unreported(self, missed: int, decoded: int, last_ns: float, end_ns: float) -> list[Loss]:
        """Return the losses of a finished run that were not reported as an interval yet.

        Args:
            missed, decoded: as in `by_place`.
            last_ns: time of the last event; a full buffer dropped the events after it.
            end_ns: time at which the run ended.
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
    """What a pipeline needs to decode and reduce: a LaneChild or, for trusted pages, a
    LaneEngine."""

    def step(self, step: StepRequest) -> tuple[Reduction, Progress]: ...

    def counts(self, *, tallies: bool) -> Counts: ...


@dataclass(frozen=True, slots=True)
class Work:
    """Input of one call of `work`."""

    pages: tuple[Pages, ...]
    watermark_ns: int
    host_ns: int
    final: bool

    def rest(self) -> Work:
        """Return this work without its pages, after they have been decoded."""
        return replace(self, pages=())

    def stamped(self, batches: list[Batch]) -> list[Batch]:
        """Return the batches with the host time of their newest bytes."""
        return [replace(batch, newest_host_ns=self.host_ns) for batch in batches]


class LanePipeline:
    """One run of one lane, from frames and pages to tables.

    Args:
        engine: decodes and reduces, possibly in another process.
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
        """Error that ended decoding; None while decoding continues."""
        self.losses: list[Loss] = []
        """Every loss so far, as intervals since the start marker."""

    def begin_at(self, received: Mapping[int, int]) -> None:
        """Begin the run on ports that are open already.

        Args:
            received: bytes received per CPU before this run.
        """
        self._completeness = Completeness(dict(received))

    @property
    def pending_bytes(self) -> int:
        """Bytes of pages that `take_work` has not returned yet."""
        return self._pages.size_bytes

    @property
    def complete(self) -> bool:
        """Whether the agent has drained, and every byte that it sent has arrived."""
        return self._drained and not self._completeness.missing_bytes

    @property
    def missing_bytes(self) -> int:
        """Bytes that the agent has sent, but that have not arrived."""
        return self._completeness.missing_bytes

    def feed_frame(self, frame: Frame) -> None:
        """Process a frame of the control port; frames that do not concern events are ignored."""
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
        """Queue complete pages of one CPU.

        Args:
            came: bytes of the received chunk, including a partial page.
        """
        self._pages.add(cpu, pages, host_ns, self._completeness.complete_ns(cpu))
        self._completeness.bytes_came(cpu, came)

    def take_work(self, *, final: bool = False) -> Work | None:
        """Return the pages since the last call as work; None if there is nothing to do.

        Args:
            final: no more data will arrive, so also reduce events beyond the watermark.
        """
        pages = self._pages.take_pages()
        if not pages and not final and not self._progress.begun:
            return None
        return Work(pages, self._completeness.watermark_ns, self._pages.host_ns, final)

    def work(self, work: Work) -> Reduction:
        """Decode and reduce one step. If the result's `more` is set, call again with `work.rest()`.

        Raises:
            DuetError: pages or format files are broken, or the engine has failed.
        """
        files = None if self._progress.begun else dict(self.files)
        step = StepRequest(files, work.pages, work.watermark_ns, work.final, self.complete)
        try:
            result, self._progress = self._engine.step(step)
        except DuetError as error:
            self.broken = error
            raise
        if not self._progress.begun:
            return result
        if self.origin_ns is not None or work.final:
            result.losses += self._ledger.take_losses(self.since_marker)
        if work.final and not result.more and not self._ended:
            result.losses += self._last_losses()
        self.losses += result.losses
        result.batches = work.stamped(result.batches)
        return result

    def count(self, *, tallies: bool = False) -> None:
        """Update `counts` from the engine.

        Args:
            tallies: update the tallies as well.

        Raises:
            DuetError: the engine failed.
        """
        try:
            found = self._engine.counts(tallies=tallies)
        except DuetError as error:
            self.broken = error
            raise
        self._counts = found if tallies else replace(self._counts, metrics=found.metrics)

    @property
    def counts(self) -> Counts:
        """Figures of the last count(), and unscaled tallies of the last count() with `tallies`."""
        return self._counts

    def metrics(self) -> Metrics:
        """Return the metrics of the last count(), with the current number of lost events."""
        return replace(self._counts.metrics, events_lost=sum(self.lost_by_place().values()))

    def lost_by_place(self) -> dict[str, int]:
        """Return the number of events lost in the ring buffer, by kprobes, and on the host."""
        done = self._progress
        return self._ledger.by_place(done.missed, done.decoded, complete=self._ended)

    @property
    def headless(self) -> bool:
        """Whether events arrived without the start marker (overwritten, or never written)."""
        return self._progress.begun and self._progress.origin_ns is None

    def _last_losses(self) -> list[Loss]:
        self._ended, done = True, self._progress
        end = self.since_marker(self._beat_ns)
        return self._ledger.unreported(done.missed, done.decoded, done.watermark_ns, end)

    @property
    def origin_ns(self) -> int | None:
        """Guest time of the start marker; None until it was seen."""
        return self._progress.origin_ns

    @property
    def watermark_ns(self) -> float:
        """Time since the start marker up to which events are complete."""
        return self._progress.watermark_ns

    def since_marker(self, mono_ns: int) -> float:
        """Convert a guest time to nanoseconds since the start marker (0 before it)."""
        origin = self._progress.origin_ns
        return float(max(0, mono_ns - origin)) if origin is not None else 0.0
