# SPDX-License-Identifier: GPL-2.0-or-later
"""Decode and reduce one run of one lane, as a service in a confined child. Pure.

Only this module reads a guest's format files and pages. The host process tracks bytes and losses
(`pipeline`), and checks the child's replies (`lane.child`).
"""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from duet.base import budgets
from duet.base.errors import InputError
from duet.confine.messages import Blob
from duet.confine.zygote import Answer
from duet.decode import CpuColumns, Decoder, EventType, FieldKind, Table, prepare
from duet.lessons.plan import workload_of
from duet.lessons.schema import Lesson
from duet.session import reduce as reduce_binding
from duet.session.program import SWITCH_EVENT, WAKING_EVENT, compile_program
from duet.session.reduce import Fed, LaneReducer, Reduction
from duet.session.tables import Metrics
from duet.session.tally import Tally
from duet.wire.frames import PAGE_BYTES

# The pages of a run, which are kept to show the events behind a mark. Bounded.

RawEvent = dict[str, JsonValue]
DECODED_PARTS = 64
"""Maximum number of parts of History whose columns are kept. Usual part: 0.04 s of a lane."""


class _Part(NamedTuple):
    """Pages of one CPU, and the times of their first and last event."""

    number: int
    first_ns: int
    last_ns: int
    cpu: int
    pages: bytes
    events: int


class History:
    """The newest pages, which are decoded when somebody looks at their events.

    Args:
        max_events: maximum number of events of all types. Each takes about 45 bytes.
    """

    def __init__(self, max_events: int) -> None:
        self._max = max_events
        self._parts: deque[_Part] = deque()
        self._events = self._added = 0
        self._names: dict[int, str] = {}
        self._columns: OrderedDict[int, CpuColumns] = OrderedDict()
        self.dropped = 0
        """Number of events dropped because of the bound."""
        self.decoder: Decoder | None = None

    def add(self, cpu: int, pages: bytes, fed: Fed) -> None:
        """Add pages of one CPU, and drop the oldest pages if the bound is exceeded."""
        if not fed.events:
            return
        self._parts.append(_Part(self._added, fed.first_ns, fed.last_ns, cpu, pages, fed.events))
        self._added += 1
        self._events += fed.events
        while self._events > self._max and len(self._parts) > 1:
            oldest = self._parts.popleft()
            self._events -= oldest.events
            self.dropped += oldest.events

    def _decoded(self, part: _Part) -> CpuColumns:
        """Decode a part, or return its columns if it was decoded lately.

        Sequence numbers begin anew in each part. They never decide the order of events in two
        parts of one CPU, because the parts themselves are ordered.
        """
        assert self.decoder is not None
        found = self._columns.pop(part.number, None)
        self._columns[part.number] = found or self.decoder.decode(part.cpu, part.pages)
        while len(self._columns) > DECODED_PARTS:
            self._columns.popitem(last=False)
        return self._columns[part.number]

    def around(
        self,
        at_ns: int,
        n: int,
        tid: int | None = None,
        events: frozenset[str] | None = None,
        cpu: int | None = None,
    ) -> list[RawEvent]:
        """Return the `n` records nearest to a guest time, ordered by time.

        Args:
            tid: only records that this thread emitted, records of a switch to this thread, and
                records of a wake-up of this thread.
            events: only these event types.
            cpu: only records that were written on this CPU.
        """
        found: list[_Found] = []
        wanted = [part for part in tuple(self._parts) if cpu is None or part.cpu == cpu]
        parts = sorted(wanted, key=lambda p: _distance(p.first_ns, p.last_ns, at_ns))
        for part in parts:
            if len(found) >= n:
                farthest = abs(found[n - 1].ts_ns - at_ns)
                if _distance(part.first_ns, part.last_ns, at_ns) > farthest:
                    break
            for name, table in self._decoded(part).tables.items():
                if events is not None and name not in events:
                    continue
                for place in _nearest(name, table, at_ns, n, tid):
                    order = part.number, int(table.seq[place])
                    ts = int(table.ts_ns[place])
                    found.append(_Found(ts, part.cpu, order, name, table, place))
            found.sort(key=lambda one: abs(one.ts_ns - at_ns))
            del found[n:]
        found.sort(key=lambda one: one[:3])
        return [self._raw_event(one) for one in found]

    def _raw_event(self, found: _Found) -> RawEvent:
        assert self.decoder is not None
        ts, cpu, _, name, table, place = found
        fields = self._fields(self.decoder.by_name[name], table, place)
        tid = int(table.pid[place])
        task = self._task(name, fields, tid)
        return {"t_ns": ts, "cpu": cpu, "tid": tid, "task": task, "event": name, "fields": fields}

    def _fields(self, kind: EventType, table: Table, place: int) -> dict[str, JsonValue]:
        assert self.decoder is not None
        fields: dict[str, JsonValue] = {}
        for one in kind.fields:
            cell = table.columns[one.name][place].item()
            if one.kind is FieldKind.STRING:
                fields[one.name] = self.decoder.strings[cell]
            elif isinstance(cell, bytes):
                fields[one.name] = cell.decode(errors="replace")
            elif one.size == 8 and not one.signed:
                value = cell & 0xFFFF_FFFF_FFFF_FFFF
                fields[one.name] = f"{value:#x}" if value > 1 << 53 else value
            else:
                fields[one.name] = cell
        return fields

    def _task(self, event: str, fields: dict[str, JsonValue], tid: int) -> str:
        """Return the name of the task that emitted a record; "" if unknown.

        The name comes from a record of a task switch.
        """
        if event == SWITCH_EVENT:
            return str(fields["prev_comm"])
        if not self._names:
            for part in tuple(self._parts):
                if table := self._decoded(part).tables.get(SWITCH_EVENT):
                    pairs = zip(
                        table.columns["next_pid"].tolist(),
                        table.columns["next_comm"].tolist(),
                        strict=True,
                    )
                    self._names.update({t: c.decode(errors="replace") for t, c in pairs})
        return self._names.get(tid, "")


class _Found(NamedTuple):
    """A record of `History.around`. `order` sorts records with the same time and CPU."""

    ts_ns: int
    cpu: int
    order: tuple[int, int]
    name: str
    table: Table
    place: int


def _distance(first: int, last: int, at: int) -> int:
    return max(first - at, at - last, 0)


def _nearest(name: str, table: Table, at: int, n: int, tid: int | None) -> list[int]:
    """Return the indices of the nearest rows, at most n on either side."""
    places: NDArray[np.int64] = np.arange(len(table))
    if tid is not None:
        mask = table.pid == tid
        for field in {SWITCH_EVENT: ("next_pid",), WAKING_EVENT: ("pid",)}.get(name, ()):
            mask = mask | (table.columns[field] == tid)
        places = np.flatnonzero(mask)
    middle = int(np.searchsorted(table.ts_ns[places], at))
    chosen: list[int] = places[max(0, middle - n) : middle + n].tolist()
    return chosen


# Received files, and pages that wait for decoding. Bounded. Pure.


class GuestFiles:
    """The files that a guest sends before its pages, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, bytes] = {}
        self._count = self._bytes = 0

    def add(self, name: str, content: bytes) -> None:
        """Add a file.

        Raises:
            InputError: the guest has sent more files, or more bytes of files, than allowed.
        """
        self._count += 1
        self._bytes += len(name) + len(content)
        if self._count > budgets.GUEST_FILES or self._bytes > budgets.GUEST_FILE_BYTES:
            raise InputError(
                f"the guest sent {self._count} files with {self._bytes:,} bytes, but at most "
                f"{budgets.GUEST_FILES} files with {budgets.GUEST_FILE_BYTES:,} bytes are allowed.",
                remedy="Build the guest root again, or download the recording again.",
            )
        self.by_name[name] = content


class Pages(NamedTuple):
    """Pages of one CPU, each of them complete.

    Args:
        complete: completeness marks, as in Loop.feed().
    """

    cpu: int
    pages: Blob
    complete: Sequence[tuple[int, int]] = ()


class PageQueue:
    """Received pages by CPU, in order of arrival."""

    def __init__(self) -> None:
        self._pages: dict[int, list[bytes]] = {}
        self._counts: dict[int, int] = {}
        self._complete: dict[int, list[tuple[int, int]]] = {}
        self.size_bytes = 0
        self.host_ns = 0
        """Host time at which the newest page arrived, even if that page was already taken."""

    def add(self, cpu: int, pages: bytes, host_ns: int, complete_ns: int) -> None:
        """Add complete pages of one CPU; `pages` may be empty.

        Args:
            complete_ns: guest time up to which the CPU was complete before these pages arrived.
        """
        if pages:
            marks = self._complete.setdefault(cpu, [])
            if not marks or marks[-1][1] != complete_ns:
                marks.append((self._counts.get(cpu, 0), complete_ns))
            self._counts[cpu] = self._counts.get(cpu, 0) + len(pages) // PAGE_BYTES
            self._pages.setdefault(cpu, []).append(pages)
            self.size_bytes += len(pages)
            self.host_ns = host_ns

    def take_pages(self) -> tuple[Pages, ...]:
        """Remove and return all pages, concatenated per CPU."""
        taken = tuple(
            Pages(cpu, b"".join(parts), tuple(self._complete[cpu]))
            for cpu, parts in self._pages.items()
        )
        self._pages, self._counts, self._complete, self.size_bytes = {}, {}, {}, 0
        return taken


def warm() -> None:
    """Load the C libraries, and compile them if needed (confine.zygote calls this)."""
    prepare()
    reduce_binding.library()


@dataclass(frozen=True, slots=True)
class LaneSetup:
    """Parameters of an engine.

    Args:
        symbols: symbol addresses of the arm's kernel.
        threads: number of rows reserved for the workload's threads.
        history_events: maximum number of decoded events kept for `raw_events`.
        live: False for a recording.
    """

    lesson: Lesson
    arm: str
    workload: str
    symbols: Mapping[str, int]
    threads: int = 0
    history_events: int = 2_000_000
    live: bool = False


@dataclass(frozen=True, slots=True)
class StepRequest:
    """Input of one step of an engine, with the pages that have arrived.

    Args:
        files: format files for the first step; None once the engine has begun.
        final: no more data will arrive.
        drained: the agent has drained, and all its bytes have arrived.
    """

    files: Mapping[str, bytes] | None
    pages: Sequence[Pages]
    watermark_ns: int
    final: bool
    drained: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a lane after a step.

    Args:
        origin_ns: guest time of the start marker; None until it was seen.
        watermark_ns: time since the start marker up to which events are complete.
        missed: number of events that pages report as missing.
        decoded: number of decoded records, including unknown event types.
    """

    begun: bool = False
    origin_ns: int | None = None
    watermark_ns: float = 0.0
    missed: int = 0
    decoded: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """A lane's figures so far. In `metrics`, `events_lost` is not set."""

    metrics: Metrics = field(default_factory=Metrics)
    tallies: dict[str, float] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)


class LaneEngine:
    """Decodes and reduces one lane. `answer` serves its methods to another process."""

    def __init__(self, lane: LaneSetup | None = None) -> None:
        self._lane = lane
        self._decoder: Decoder | None = None
        self._reducer: LaneReducer | None = None
        self._tally: Tally | None = None
        self._history = History(lane.history_events if lane else 0)

    def step(self, step: StepRequest) -> tuple[Reduction, Progress]:
        """Decode and reduce pages. If the result's `more` is set, call again without pages.

        Raises:
            DecodeError: pages or format files are broken.
            InputError: more than QUEUED_EVENTS events wait for a BEAT.
        """
        if not self._decoder:
            if not step.pages:
                return Reduction(), Progress()
            self._begin(step.files or {})
        assert self._decoder and self._reducer and self._tally
        for part in step.pages:
            pages = bytes(part.pages)
            self._history.add(part.cpu, pages, self._reducer.feed(part.cpu, pages, part.complete))
        if step.final:
            result = self._reducer.finish(step.watermark_ns, drained=step.drained)
            return result, self.progress()
        result = self._reducer.advance(step.watermark_ns)
        if self._reducer.held > budgets.QUEUED_EVENTS:
            raise InputError(
                f"more than {budgets.QUEUED_EVENTS:,} events wait for an agent BEAT that "
                "covers them.",
                remedy="Make a shorter recording. A complete recording contains BEAT frames.",
            )
        return result, self.progress()

    def progress(self) -> Progress:
        reducer = self._reducer
        if reducer is None:
            return Progress()
        return Progress(
            True, reducer.origin_ns, reducer.watermark_ns, reducer.missing.count, reducer.decoded
        )

    def counts(self, *, tallies: bool) -> Counts:
        """Return the figures so far.

        Args:
            tallies: also compute the lesson's `event` and `span` metrics, which takes the most
                time.
        """
        reducer, tally = self._reducer, self._tally
        metrics = reducer.metrics(0) if reducer else Metrics()
        if not tallies or tally is None or reducer is None:
            return Counts(metrics)
        values = tally.values(reducer.picked, reducer.printed())
        return Counts(metrics, values, dict(tally.faults))

    def raw_events(
        self, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[RawEvent]:
        """Return the records nearest to a time since the start marker.

        If a row or CPU is given, only its records are returned.

        Raises:
            InputError: the row does not exist. An empty list would mean that nothing happened.
        """
        reducer = self._reducer
        origin = reducer.origin_ns if reducer else None
        if reducer is None or origin is None:
            return []
        tid, events = None, None
        if row is not None:
            if not 0 <= row < len(reducer.rows):
                raise InputError(
                    f"row must be one of the lane's {len(reducer.rows)} rows, but is {row}.",
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
        self._tally = Tally(lane.lesson, lane.arm, lane.workload, self._decoder.by_name)
        self._reducer = LaneReducer(program, self._decoder, lane.threads, picks=self._tally.picks)
        self._history.decoder = self._decoder

    # The following methods serve another process.

    def answer(self, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]) -> Answer:
        """Answer `lane`, `step`, `counts` and `events` requests of session.lane.child."""
        match request["do"]:
            case "lane":
                self.__init__(request["lane"])  # type: ignore[misc]
                return {}, ()
            case "step":
                parts = zip(request["cpus"], blobs, request["complete"], strict=True)
                pages = [Pages(*part) for part in parts]
                rest = (request[name] for name in ("watermark_ns", "final", "drained"))
                return _packed(*self.step(StepRequest(request["files"], pages, *rest)))
            case "counts":
                return _packed_counts(self.counts(tallies=request["tallies"])), ()
            case "events":
                words = (request[name] for name in ("around_ns", "row", "n", "cpu"))
                found = self.raw_events(*words)
                return {}, [json.dumps(found).encode()]
        raise ValueError("an unknown request")


def _packed(made: Reduction, progress: Progress) -> Answer:
    columns = [column for batch in made.batches for column in batch.columns.values()]
    tree = {
        **asdict(progress),
        "more": made.more,
        "rows": None if made.rows is None else [list(asdict(r).values()) for r in made.rows],
        "losses": [list(asdict(loss).values()) for loss in made.losses],
        "batches": [[batch.table, batch.n, batch.watermark_ns] for batch in made.batches],
    }
    return tree, [column.tobytes() for column in columns]


def _packed_counts(counts: Counts) -> dict[str, object]:
    """Encode counts for a reply. Integers may exceed 64 bits, so they travel as decimal strings."""
    tallies = {
        name: str(value) if isinstance(value, int) else float(value)
        for name, value in counts.tallies.items()
    }
    return {"metrics": asdict(counts.metrics), "tallies": tallies, "faults": counts.faults}
