# SPDX-License-Identifier: GPL-2.0-or-later
"""Export a recording as a Perfetto trace with one process per lane.

The export uses TrackEvents, not raw ftrace, because Perfetto shows only known ftrace events
(google/perfetto #422). All lanes share one axis, the time since each workload's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from duet.base.errors import InfraError
from duet.export.scene import Scene
from duet.session import Columns

# Packets of a Perfetto trace; repeated names are interned.

SEQUENCE = 1


def perfetto_protos() -> Any:
    """Import Perfetto's protobuf messages.

    Raises:
        InfraError: the Python package `perfetto` is missing.
    """
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
    except ImportError as error:
        raise InfraError(
            "the Python package 'perfetto', which defines the format, is missing.",
            remedy="Run ./setup.sh page.",
        ) from error
    return protos


class Packets:
    """Writer of trace packets.

    Args:
        before_ns: longest time by which records may precede the workloads' start. The trace begins
            this long before the start.
    """

    def __init__(self, file: BinaryIO, before_ns: int = 0) -> None:
        self._protos = perfetto_protos()
        self._file, self._before = file, before_ns
        self._uuid = 0
        self._flow = 0
        self._names: dict[str, int] = {}
        self._notes: dict[str, int] = {}
        first = self._packet()
        first.sequence_flags = 1  # SEQ_INCREMENTAL_STATE_CLEARED
        first.first_packet_on_sequence = True
        self._write(first)

    def process(self, number: int, name: str) -> int:
        """Add a process for a lane; return its uuid.

        Args:
            number: pid and sort order.
        """
        packet = self._packet()
        descriptor = packet.track_descriptor
        descriptor.uuid = uuid = self._next()
        descriptor.process.pid = number
        descriptor.process.process_name = name
        descriptor.sibling_order_rank = number
        descriptor.child_ordering = 3  # EXPLICIT: by sibling_order_rank
        self._write(packet)
        return uuid

    def track(self, parent: int, name: str, rank: int = 0) -> int:
        packet = self._packet()
        descriptor = packet.track_descriptor
        descriptor.uuid = uuid = self._next()
        descriptor.parent_uuid = parent
        descriptor.name = name
        descriptor.sibling_order_rank = rank
        descriptor.child_ordering = 3
        self._write(packet)
        return uuid

    def slices(
        self, track: int, spans: Iterable[tuple[float, float, str, Mapping[str, float]]]
    ) -> None:
        """Write properly nested spans, sorted by start. A span stays open if its end is `inf`."""
        ends: list[float] = []
        for begin, end, name, notes in spans:
            while ends and ends[-1] <= begin:
                self._end(track, ends.pop())
            self._event(track, begin, 1, name, notes)
            ends.append(end)
        for end in reversed(ends):
            if end != float("inf"):
                self._end(track, end)

    def instant(self, track: int, t_ns: float, name: str, notes: Mapping[str, float]) -> None:
        self._event(track, t_ns, 3, name, notes)

    def arrow(self, start: int, end: int, t_ns: float, name: str) -> None:
        """Draw an arrow between two tracks at one time."""
        self._flow += 1
        self._event(start, t_ns, 3, name, {}, flow=self._flow)
        self._event(end, t_ns, 3, f"{name}: it", {}, ends_flow=self._flow)

    def counter(self, parent: int, name: str, values: Iterable[tuple[float, float]]) -> None:
        """Write a counter track from (time, value) pairs, or nothing if there are no pairs."""
        track = 0
        for t_ns, value in values:
            if not track:
                packet = self._packet()
                packet.track_descriptor.uuid = track = self._next()
                packet.track_descriptor.parent_uuid = parent
                packet.track_descriptor.name = name
                packet.track_descriptor.counter.SetInParent()
                self._write(packet)
            packet = self._packet(t_ns)
            packet.track_event.type = 4  # TYPE_COUNTER
            packet.track_event.track_uuid = track
            packet.track_event.double_counter_value = value
            self._write(packet)

    def _end(self, track: int, t_ns: float) -> None:
        packet = self._packet(t_ns)
        packet.track_event.type = 2  # TYPE_SLICE_END
        packet.track_event.track_uuid = track
        self._write(packet)

    def _event(
        self,
        track: int,
        t_ns: float,
        kind: int,
        name: str,
        notes: Mapping[str, float],
        *,
        flow: int = 0,
        ends_flow: int = 0,
    ) -> None:
        packet = self._packet(t_ns)
        event = packet.track_event
        event.type, event.track_uuid = kind, track
        event.name_iid = self._iid(packet.interned_data.event_names, self._names, name)
        for note, value in notes.items():
            descriptor = event.debug_annotations.add()
            names = packet.interned_data.debug_annotation_names
            descriptor.name_iid = self._iid(names, self._notes, note)
            if value == int(value) and abs(value) < 1 << 62:
                descriptor.int_value = int(value)
            else:
                descriptor.double_value = value
        if flow:
            event.flow_ids.append(flow)
        if ends_flow:
            event.terminating_flow_ids.append(ends_flow)
        if not packet.interned_data.ByteSize():
            packet.ClearField("interned_data")
        self._write(packet)

    @staticmethod
    def _iid(list_of: Any, known: dict[str, int], name: str) -> int:
        if name not in known:
            known[name] = len(known) + 1
            entry = list_of.add()
            entry.iid, entry.name = known[name], name
        return known[name]

    def _next(self) -> int:
        self._uuid += 1
        return self._uuid

    def _packet(self, t_ns: float | None = None) -> Any:
        packet = self._protos.TracePacket()
        packet.trusted_packet_sequence_id = SEQUENCE
        packet.sequence_flags = 2  # SEQ_NEEDS_INCREMENTAL_STATE
        if t_ns is not None:
            packet.timestamp = max(0, int(t_ns) + self._before)
        return packet

    def _write(self, packet: Any) -> None:
        body: bytes = packet.SerializeToString()
        self._file.write(b"\x0a" + _varint(len(body)) + body)


def _varint(number: int) -> bytes:
    """Encode a protobuf varint."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*parts, number))


LAYERS = {"state": "states", "function": "functions", "track": "", "mark": "marks"}
Span = tuple[float, float, str, dict[str, float]]
"""A span: begin, end (inf if open), name, notes."""


def write(file: BinaryIO, scene: Scene) -> None:
    """Write the whole trace to a file.

    Raises:
        InfraError: the package `perfetto` is not installed.
    """
    early = [t for arm in scene.arms for _, t in scene.samples(arm)]
    packets = Packets(file, max(0, -int(min(early, default=0))))
    for number, arm in enumerate(scene.arms, 1):
        entry = scene.manifest.arm(arm)
        title = f"{arm}: {entry.title} ({entry.role})"
        _Lane(packets, scene, arm, packets.process(number, title)).write()


class _Lane:
    """Write one lane."""

    def __init__(self, packets: Packets, scene: Scene, arm: str, process: int) -> None:
        self._packets, self._scene, self._arm = packets, scene, arm
        self._process = process
        self._marks: dict[int, int] = {}

    def write(self) -> None:
        self._rows()
        self._operations()
        self._points()
        self._links()
        self._lines()
        self._losses()
        self._samples()

    def _rows(self) -> None:
        """Write a track for each thread, with a child track for each layer of its spans."""
        scene = self._scene
        kinds = scene.lesson.kinds
        groups: dict[tuple[int, str], list[Span]] = {}
        for table in ("spans", "open"):
            for row in _dicts(scene.table(self._arm, table)):
                kind = kinds[int(row["kind"])]
                end = float("inf") if table == "open" else row["t1_ns"]
                notes = {"cpu": row["cpu"], "arg": row["arg"]}
                span = (row["t0_ns"], end, kind.name, notes)
                groups.setdefault((int(row["row"]), kind.layer), []).append(span)
        for one in scene.rows(self._arm):
            title = f"{one.name} ({one.tid})" if one.tid else one.name
            track = self._packets.track(self._process, title, one.row)
            self._marks[one.row] = track
            for layer, name in LAYERS.items():
                if spans := groups.get((one.row, layer)):
                    self._spans(track, name or one.name, spans)

    def _spans(self, parent: int, name: str, spans: list[Span]) -> None:
        """Write spans. Spans that overlap but are not nested go to additional tracks."""
        for number, nested in enumerate(split_nested(spans), 1):
            label = name if number == 1 else f"{name} ({number})"
            track = self._packets.track(parent, label, number)
            self._packets.slices(track, nested)

    def _operations(self) -> None:
        rows = list(_dicts(self._scene.table(self._arm, "ops")))
        spans = [
            (r["t0_ns"], r["t1_ns"], "operation" if r["ok"] else "failed operation",
             {"row": r["row"], "id": r["id"]})
            for r in rows
        ]  # fmt: skip
        self._spans(self._process, "operations", spans)
        ends = sorted(r["t1_ns"] for r in rows)
        self._packets.counter(
            self._process, "operations done", ((t, n) for n, t in enumerate(ends, 1))
        )

    def _points(self) -> None:
        """Write each kind of point event to a separate track, with a counter of these events."""
        points = self._scene.lesson.points
        found: dict[int, list[dict[str, float]]] = {}
        for row in _dicts(self._scene.table(self._arm, "points")):
            found.setdefault(int(row["kind"]), []).append(row)
        for kind, rows in sorted(found.items()):
            point = points[kind]
            track = self._packets.track(self._process, f"points: {point.name}", 1000 + kind)
            for row in rows:
                notes = {name: row["abcdef"[at]] for at, name in enumerate(point.fields)}
                notes |= {"cpu": row["cpu"], "tid": row["tid"]}
                self._packets.instant(track, row["t_ns"], point.name, notes)
            counts = ((row["t_ns"], n) for n, row in enumerate(rows, 1))
            self._packets.counter(self._process, f"{point.name} so far", counts)

    def _links(self) -> None:
        """Write arrows from the waking task to the woken task."""
        names = self._scene.kind_names("links")
        for row in _dicts(self._scene.table(self._arm, "links")):
            ends = [self._marks.get(int(row[key])) for key in ("from_row", "to_row")]
            if ends[0] is not None and ends[1] is not None:
                name = names.get(int(row["kind"]), "link")
                self._packets.arrow(ends[0], ends[1], row["t_ns"], name)

    def _lines(self) -> None:
        lines = self._scene.played.lanes[self._arm].lines
        if lines:
            track = self._packets.track(self._process, "the workload's lines", 2000)
            for line in lines:
                self._packets.instant(track, line.t_ns, line.text[:500], {})

    def _losses(self) -> None:
        """Write the intervals in which events were lost."""
        losses = self._scene.played.lanes[self._arm].loss
        if losses:
            spans = [
                (x.t0_ns, x.t1_ns, f"LOST: {x.where}", {"events": float(x.events or 0)})
                for x in losses
            ]
            self._spans(self._process, "lost events", spans)

    def _samples(self) -> None:
        """Write facts from x-ray samples as counters."""
        series: dict[str, list[tuple[float, float]]] = {}
        for sample, t_ns in self._scene.samples(self._arm):
            for fact, value in sample.facts.items():
                if isinstance(value, int | float) and value == value:
                    series.setdefault(f"{sample.probe}: {fact}", []).append((t_ns, value))
        for name, values in sorted(series.items()):
            self._packets.counter(self._process, name, sorted(values))


def split_nested(spans: Iterable[Span]) -> list[list[Span]]:
    """Split spans into groups, so that any two spans of a group are disjoint or nested."""
    groups: list[tuple[list[float], list[Span]]] = []
    for span in sorted(spans, key=lambda s: (s[0], -s[1])):
        begin, end = span[:2]
        for stack, group in groups:
            while stack and stack[-1] <= begin:
                stack.pop()
            if not stack or end <= stack[-1]:
                stack.append(end)
                group.append(span)
                break
        else:
            groups.append(([end], [span]))
    return [group for _, group in groups]


def _dicts(columns: Columns) -> Iterable[dict[str, float]]:
    names = list(columns)
    lists: list[list[Any]] = [columns[name].tolist() for name in names]
    for row in zip(*lists, strict=True):
        found: Mapping[str, float] = dict(zip(names, row, strict=True))
        yield dict(found)
