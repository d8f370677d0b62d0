# SPDX-License-Identifier: GPL-2.0-or-later
"""Decode and reduce of one run on one lane: a service of confined children. Pure.

Everything that looks into a guest's formats and pages is here; the server keeps what it can
bound by itself (`pipeline`), and checks what comes back (`lane.child`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from duet import budgets
from duet.confined.services import Answer
from duet.decode import Decoder, prepare
from duet.errors import InputError
from duet.lessons.plan import workload_of
from duet.lessons.schema import Lesson
from duet.session import reduce_binding
from duet.session.arrivals import Pages
from duet.session.history import History, RawEvent
from duet.session.program import compile_program
from duet.session.reduce import LaneReducer, Reduction
from duet.session.tables import Metrics
from duet.session.tally import Tally


def warm() -> None:
    """Load the C libraries, compiling them if need be (see confined.services)."""
    prepare()
    reduce_binding.library()


@dataclass(frozen=True, slots=True)
class LaneOf:
    """What is decoded.

    Args:
        symbols: addresses of the arm's kernel.
        threads: rows to keep for threads of the workload.
        history_events: decoded events kept for `raw_events`.
        live: it is no recording.
    """

    lesson: Lesson
    arm: str
    workload: str
    symbols: Mapping[str, int]
    threads: int = 0
    history_events: int = 2_000_000
    live: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be decoded and reduced now.

    Args:
        files: format files; None where the engine has begun.
        drained: the agent's last word covers all it sent.
    """

    files: Mapping[str, bytes] | None
    pages: Sequence[Pages]
    watermark_ns: int
    final: bool
    drained: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a lane is, after a step.

    Args:
        origin_ns: guest time of the start marker, once it was seen.
        watermark_ns: complete up to here, since the start marker.
        missed: events that pages say are missing.
        decoded: records decoded, known or not.
    """

    begun: bool = False
    origin_ns: int | None = None
    watermark_ns: float = 0.0
    missed: int = 0
    decoded: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """Figures of a lane so far; `metrics` without its losses."""

    metrics: Metrics = field(default_factory=Metrics)
    tallies: dict[str, float] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)


class LaneEngine:
    """Decodes and reduces; also as a service, see `answer`."""

    def __init__(self, lane: LaneOf | None = None) -> None:
        self._lane = lane
        self._decoder: Decoder | None = None
        self._reducer: LaneReducer | None = None
        self._tally: Tally | None = None
        self._history = History(lane.history_events if lane else 0)

    def step(self, step: Step) -> Reduction:
        """One step; `more` in the result asks for another without pages.

        Raises:
            DecodeError: pages or format files are broken.
            InputError: more events wait for a BEAT than are held.
        """
        if not self._decoder:
            if not step.pages:
                return Reduction()
            self._begin(step.files or {})
        assert self._decoder and self._reducer and self._tally
        columns = [self._decoder.decode(p.cpu, bytes(p.pages), p.complete) for p in step.pages]
        self._reducer.feed(columns)
        self._tally.feed(columns)
        self._history.add(columns)
        if step.final:
            return self._reducer.finish(step.watermark_ns, drained=step.drained)
        result = self._reducer.advance(step.watermark_ns)
        if self._reducer.held > budgets.HELD_EVENTS:
            raise InputError(
                f"more than {budgets.HELD_EVENTS:,} events wait for a BEAT of the agent that "
                "covers them.",
                remedy="Record it again, shorter; a whole recording has such frames.",
            )
        return result

    def progress(self) -> Progress:
        """How far it is."""
        decoder, reducer = self._decoder, self._reducer
        if decoder is None or reducer is None:
            return Progress()
        decoded = sum(decoder.unknown.values()) + reducer.events_read
        return Progress(
            True, reducer.origin_ns, reducer.watermark_ns, reducer.missing.count, decoded
        )

    def counts(self, *, tallies: bool) -> Counts:
        """Figures so far.

        Args:
            tallies: the lesson's `event` and `span` metrics, too; they take longest.
        """
        metrics = self._reducer.metrics(0) if self._reducer else Metrics()
        if not tallies or self._tally is None:
            return Counts(metrics)
        return Counts(metrics, self._tally.values(), dict(self._tally.faults))

    def raw_events(
        self, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[RawEvent]:
        """Records nearest to a moment since the start marker; of one row or one CPU, if given.

        Raises:
            InputError: there is no such row; an empty list would say that nothing happened.
        """
        reducer = self._reducer
        origin = reducer.origin_ns if reducer else None
        if reducer is None or origin is None:
            return []
        tid, events = None, None
        if row is not None:
            if not 0 <= row < len(reducer.rows):
                raise InputError(
                    f"row must be one of the lane's {len(reducer.rows)} rows, but {row} came.",
                    remedy="Leave row out to get the records of all threads.",
                )
            tid = reducer.rows[row].tid
            if tid < 0:
                tid, events = None, reducer.track_events(row)
        found = self._history.around(origin + int(around_ns), n, tid, events, cpu)
        return [{**event, "t_ns": float(int(str(event["t_ns"])) - origin)} for event in found]

    def _begin(self, files: Mapping[str, bytes]) -> None:
        lane = self._lane
        assert lane is not None, "a lane comes before its pages"
        self._decoder = Decoder(files)
        workload = workload_of(lane.lesson, lane.workload)
        program = compile_program(
            lane.lesson, lane.arm, workload, lane.symbols, self._decoder.string_id
        )
        self._reducer = LaneReducer(program, lane.threads)
        self._tally = Tally(lane.lesson, lane.arm, lane.workload, self._decoder.by_name)
        self._history.decoder = self._decoder

    # as a service

    def answer(self, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]) -> Answer:
        """Requests `lane`, `step`, `counts` and `events`; see lane.child for the other side."""
        match request["do"]:
            case "lane":
                self.__init__(request["lane"])  # type: ignore[misc]
                return {}, ()
            case "step":
                parts = zip(request["cpus"], blobs, request["complete"], strict=True)
                pages = [Pages(*part) for part in parts]
                rest = (request[name] for name in ("watermark_ns", "final", "drained"))
                return self._packed(self.step(Step(request["files"], pages, *rest)))
            case "counts":
                return _packed_counts(self.counts(tallies=request["tallies"])), ()
            case "events":
                words = (request[name] for name in ("around_ns", "row", "n", "cpu"))
                found = self.raw_events(*words)
                return {}, [json.dumps(found).encode()]
        raise ValueError("an unknown request")

    def _packed(self, made: Reduction) -> Answer:
        columns = [column for batch in made.batches for column in batch.columns.values()]
        tree = {
            **asdict(self.progress()),
            "more": made.more,
            "rows": None if made.rows is None else [list(asdict(r).values()) for r in made.rows],
            "losses": [list(asdict(loss).values()) for loss in made.losses],
            "batches": [[batch.table, batch.n, batch.watermark_ns] for batch in made.batches],
        }
        return tree, [column.tobytes() for column in columns]


def _packed_counts(counts: Counts) -> dict[str, object]:
    """Whole numbers may have more than 64 bits (a sum of many), so they travel as digits."""
    tallies = {
        name: str(value) if isinstance(value, int) else float(value)
        for name, value in counts.tallies.items()
    }
    return {"metrics": asdict(counts.metrics), "tallies": tallies, "faults": counts.faults}
