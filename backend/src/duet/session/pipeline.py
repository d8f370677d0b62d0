# SPDX-License-Identifier: GPL-2.0-or-later
"""What the server knows of one run on one lane: frames, missing bytes, losses. Pure.

Its engine decodes and reduces; in the server that is a child process (`lane.child`). `feed` and
`take` belong to the thread that receives, `work` may run on another: it touches only what `take`
handed over. One `work` at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from duet import budgets
from duet.errors import DuetError, InputError
from duet.session.completeness import Completeness
from duet.session.engine import Counts, LaneEngine, LaneOf, Progress, Step
from duet.session.losses import LossLedger
from duet.session.reduce import Reduction
from duet.session.tables import Batch, Loss, Metrics
from duet.wire import Beat, Drained, Frame, GuestFile, Stats

HEADER_FILES = ("header_page", "events/ftrace/print/format")


class Engine(Protocol):
    """Decodes and reduces (see LaneChild)."""

    def step(self, step: Step) -> tuple[Reduction, Progress]:
        """One step."""

    def counts(self, *, tallies: bool) -> Counts:
        """Figures so far."""


class OwnEngine:
    """An engine in this process, for benchmarks and tests of trusted pages."""

    def __init__(self, lane: LaneOf) -> None:
        self._engine = LaneEngine(lane)

    def step(self, step: Step) -> tuple[Reduction, Progress]:
        """One step."""
        return self._engine.step(step), self._engine.progress()

    def counts(self, *, tallies: bool) -> Counts:
        """Figures so far."""
        return self._engine.counts(tallies=tallies)


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
        engine: decodes and reduces.
        received: bytes per CPU port that came before this run.
    """

    def __init__(self, engine: Engine, received: dict[int, int] | None = None) -> None:
        self._engine = engine
        self.files: dict[str, bytes] = {}
        self._files_came = self._file_bytes = 0
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
                self._file(name, content)
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
        if not pages and not final and not self._progress.begun:
            return None
        return Work(pages, self._completeness.watermark_ns, self._host_ns, final)

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
        result.losses += self._take_losses(work.final and not result.more)
        self.losses += result.losses
        result.batches = [
            Batch(b.table, b.columns, b.n, b.watermark_ns, work.host_ns) for b in result.batches
        ]
        return result

    def count(self, *, tallies: bool = False) -> None:
        """Ask for the figures that `metrics` and `tallies` give from then on.

        Raises:
            DuetError: likewise.
        """
        try:
            found = self._engine.counts(tallies=tallies)
        except DuetError as error:
            self.broken = error
            raise
        self._counts = found if tallies else replace(self._counts, metrics=found.metrics)

    def metrics(self) -> Metrics:
        """Counts, as of the last `count`; losses as of now."""
        return replace(self._counts.metrics, events_lost=sum(self.lost_by_place().values()))

    def tallies(self) -> dict[str, float]:
        """The lesson's `event` and `span` metrics, unscaled, as of the last `count` of them."""
        return dict(self._counts.tallies)

    def tally_faults(self) -> dict[str, str]:
        """Why a metric has no value in `tallies`, in a sentence each."""
        return dict(self._counts.faults)

    def lost_by_place(self) -> dict[str, int]:
        """Events lost in the ring buffer, by kprobes, and on this side."""
        done = self._progress
        return self._ledger.by_place(done.missed, done.decoded, complete=self._ended)

    @property
    def headless(self) -> bool:
        """Events came, but the start marker was not among them (overwritten, or never written)."""
        return self._progress.begun and self._progress.origin_ns is None

    def _file(self, name: str, content: bytes) -> None:
        self._files_came += 1
        self._file_bytes += len(name) + len(content)
        if self._files_came > budgets.GUEST_FILES or self._file_bytes > budgets.GUEST_FILE_BYTES:
            raise InputError(
                f"the guest sent {self._files_came} files with {self._file_bytes:,} bytes, and "
                f"{budgets.GUEST_FILES} with {budgets.GUEST_FILE_BYTES:,} are allowed.",
                remedy="Build the guest root again, or get the recording anew.",
            )
        self.files[name] = content

    def _take_losses(self, final: bool) -> list[Loss]:
        losses, self._new_losses = self._new_losses, []
        if final and not self._ended:
            self._ended = True
            done = self._progress
            end = self._since_marker(self._beat_ns)
            losses += self._ledger.untold(done.missed, done.decoded, done.watermark_ns, end)
        return losses

    def _since_marker(self, mono_ns: int) -> float:
        origin = self._progress.origin_ns
        return float(max(0, mono_ns - origin)) if origin is not None else 0.0

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
        return self._since_marker(mono_ns)
