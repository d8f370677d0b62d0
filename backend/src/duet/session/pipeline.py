# SPDX-License-Identifier: GPL-2.0-or-later
"""Wire, decode and reduce of one run on one lane, in one place. Pure: bytes in, batches out.

`feed` and `take` belong to the thread that receives, `work` may run on another: it touches only
what `take` handed over. One `work` at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from duet.decode import Decoder
from duet.lessons.manifest import Lesson
from duet.lessons.plan import workload_of
from duet.session.completeness import Completeness
from duet.session.history import History, RawEvent
from duet.session.losses import LossLedger
from duet.session.program import compile_program
from duet.session.reduce import LaneReducer, Reduction
from duet.session.tables import Batch, Loss, Metrics
from duet.session.tally import Tally
from duet.wire import Beat, Drained, Frame, GuestFile, Stats

HEADER_FILES = ("header_page", "events/ftrace/print/format")


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be decoded and reduced now."""

    pages: tuple[tuple[int, bytes], ...]
    watermark_ns: int
    host_ns: int
    final: bool

    def rest(self) -> Work:
        """The same without the pages, which are decoded by now."""
        return replace(self, pages=())


class LanePipeline:
    """One run of one lane, from frames and pages to tables.

    Args:
        files: format files known from before; newer ones replace them.
        received: bytes per CPU port that came before this run.
        hogs: rows to keep for hogs.
    """

    def __init__(
        self,
        lesson: Lesson,
        arm: str,
        workload: str,
        symbols: Mapping[str, int],
        *,
        hogs: int = 0,
        received: dict[int, int] | None = None,
        history_events: int = 2_000_000,
    ) -> None:
        self._lesson, self._arm, self._symbols, self._hogs = lesson, arm, symbols, hogs
        self._workload, self._workload_name = workload_of(lesson, workload), workload
        self.files: dict[str, bytes] = {}
        self._completeness = Completeness(received)
        self._ledger = LossLedger()
        self._pending: list[tuple[int, bytes]] = []
        self._pending_bytes = 0
        self._host_ns = 0
        self._beat_ns = 0
        self._stats_ns = 0
        self._new_losses: list[Loss] = []
        self._drained = False
        self._ended = False
        self._decoder: Decoder | None = None
        self._reducer: LaneReducer | None = None
        self._tally: Tally | None = None
        self.history = History(history_events)
        self.losses: list[Loss] = []
        """Every loss so far, as intervals since the start marker."""

    @property
    def pending_bytes(self) -> int:
        """Pages taken in and not yet handed to `work`."""
        return self._pending_bytes

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
                self.files[name] = content
            case Beat():
                self._beat_ns = frame.mono_ns
                self._completeness.beat(frame)
            case Stats():
                was, self._stats_ns = self._stats_ns, self._beat_ns
                self._new_losses += self._ledger.stats(
                    frame, self._since_marker(was), self._since_marker(self._stats_ns)
                )
            case Drained():
                self._drained = True
            case _:
                pass

    def feed_pages(self, cpu: int, pages: bytes, came: int, host_ns: int) -> None:
        """Take whole pages of one CPU.

        Args:
            came: bytes that came with this chunk, a half page included.
        """
        self._completeness.bytes_came(cpu, came)
        if pages:
            self._pending.append((cpu, pages))
            self._pending_bytes += len(pages)
            self._host_ns = host_ns

    def take(self, *, final: bool = False) -> Work | None:
        """Hand over what came since; None if there is nothing to do.

        Args:
            final: nothing more will come; what is here is reduced whatever beats say.
        """
        by_cpu: dict[int, list[bytes]] = {}
        for cpu, part in self._pending:
            by_cpu.setdefault(cpu, []).append(part)
        pages = tuple((cpu, b"".join(parts)) for cpu, parts in by_cpu.items())
        self._pending, self._pending_bytes = [], 0
        if not pages and not final and not self._decoder:
            return None
        return Work(pages, self._completeness.watermark_ns, self._host_ns, final)

    def work(self, work: Work) -> Reduction:
        """Decode and reduce one step; `more` in the result asks for `work.rest()`.

        Raises:
            DecodeError: pages or format files are broken.
        """
        if not self._decoder:
            if not work.pages:
                return Reduction()
            self._decoder = Decoder(self.files)
            program = compile_program(
                self._lesson,
                self._arm,
                self._workload,
                self._symbols,
                self._decoder.string_id,
            )
            self._reducer = LaneReducer(program, self._hogs)
            self._tally = Tally(self._lesson, self._arm, self._workload_name, self._decoder.by_name)
            self.history.decoder = self._decoder
        assert self._reducer is not None and self._tally is not None
        columns = [self._decoder.decode(cpu, pages) for cpu, pages in work.pages]
        self._reducer.feed(columns)
        self._tally.feed(columns)
        self.history.add(columns)
        result = (
            self._reducer.finish(work.watermark_ns, drained=self.complete)
            if work.final
            else self._reducer.advance(work.watermark_ns)
        )
        result.losses += self._take_losses(work.final and not result.more)
        self.losses += result.losses
        result.batches = [
            Batch(b.table, b.columns, b.n, b.watermark_ns, work.host_ns) for b in result.batches
        ]
        return result

    def metrics(self) -> Metrics:
        """Counts so far."""
        if not self._reducer:
            return Metrics(events_lost=sum(self.lost_by_place().values()))
        return self._reducer.metrics(sum(self.lost_by_place().values()))

    def tallies(self) -> dict[str, float]:
        """The lesson's `event` and `span` metrics, unscaled; whole after the final step."""
        return self._tally.values() if self._tally else {}

    def tally_faults(self) -> dict[str, str]:
        """Why a metric has no value in `tallies`, in a sentence each."""
        return dict(self._tally.faults) if self._tally else {}

    def lost_by_place(self) -> dict[str, int]:
        """Events lost in the ring buffer, by kprobes, and on this side."""
        return self._ledger.by_place(self._missed, self._decoded, complete=self._ended)

    def raw_events(self, around_ns: float, row: int | None, n: int) -> list[RawEvent]:
        """Records nearest to a moment since the start marker; of one row, if given."""
        reducer = self._reducer
        origin = reducer.origin_ns if reducer else None
        if reducer is None or origin is None:
            return []
        tid, events = None, None
        if row is not None:
            if not 0 <= row < len(reducer.rows):
                return []
            tid = reducer.rows[row].tid
            if tid < 0:
                tid, events = None, reducer.track_events(row)
        found = self.history.around(origin + int(around_ns), n, tid, events)
        return [{**event, "t_ns": float(int(str(event["t_ns"])) - origin)} for event in found]

    @property
    def headless(self) -> bool:
        """Events came, but the start marker was not among them (overwritten, or never written)."""
        return self._reducer is not None and self._reducer.origin_ns is None

    def reducer(self) -> LaneReducer | None:
        """The reducer, once the first pages have come."""
        return self._reducer

    @property
    def _missed(self) -> int:
        return self._reducer.events_missed if self._reducer else 0

    @property
    def _decoded(self) -> int:
        unknown = sum(self._decoder.unknown.values()) if self._decoder else 0
        return unknown + (self._reducer.events_read if self._reducer else 0)

    def _take_losses(self, final: bool) -> list[Loss]:
        losses, self._new_losses = self._new_losses, []
        if final and not self._ended:
            self._ended = True
            last = self._reducer.metrics(0).watermark_ns if self._reducer else 0.0
            end = self._since_marker(self._beat_ns)
            losses += self._ledger.untold(self._missed, self._decoded, last, end)
        return losses

    def _since_marker(self, mono_ns: int) -> float:
        origin = self._reducer.origin_ns if self._reducer else None
        return float(max(0, mono_ns - origin)) if origin is not None else 0.0

    @property
    def origin_ns(self) -> int | None:
        """Guest time of the start marker, once it was seen."""
        return self._reducer.origin_ns if self._reducer else None

    @property
    def watermark_ns(self) -> float:
        """Up to where events are complete, since the start marker."""
        return self._reducer.watermark_ns if self._reducer else 0.0

    def since_marker(self, mono_ns: int) -> float:
        """Guest time as nanoseconds since the start marker (0 before it)."""
        return self._since_marker(mono_ns)
