# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording as a Perfetto trace: one process per lane, tracks, counters, flows.

TrackEvents, not raw ftrace: Perfetto shows no event that it does not know (google/perfetto #422).
All lanes stand on one axis, the time since each workload's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO

from duet.export.packets import Packets
from duet.export.scene import Scene
from duet.session import Columns

LAYERS = {"state": "states", "function": "functions", "track": "", "mark": "marks"}
Span = tuple[float, float, str, dict[str, float]]
"""Begin, end (inf: still open), name, notes."""


def write(file: BinaryIO, scene: Scene) -> None:
    """Write the whole trace.

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
    """Writes one lane."""

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
        """A track per thread, with one below it per layer of its spans."""
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
        """Slices on one track; what would cross another goes to a further one."""
        for number, nested in enumerate(nests(spans), 1):
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
        """Single events, each kind on a track of its own, and how many there were by then."""
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
        """Arrows from who wakes to who is woken."""
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
        """Loss is never hidden: intervals, and how many events by then."""
        losses = self._scene.played.lanes[self._arm].loss
        if losses:
            spans = [
                (x.t0_ns, x.t1_ns, f"LOST: {x.where}", {"events": float(x.events or 0)})
                for x in losses
            ]
            self._spans(self._process, "lost events", spans)

    def _samples(self) -> None:
        """What lenses read of the guest's memory, as counters."""
        series: dict[str, list[tuple[float, float]]] = {}
        for sample, t_ns in self._scene.samples(self._arm):
            for fact, value in sample.facts.items():
                if isinstance(value, int | float) and value == value:
                    series.setdefault(f"{sample.probe}: {fact}", []).append((t_ns, value))
        for name, values in sorted(series.items()):
            self._packets.counter(self._process, name, sorted(values))


def nests(spans: Iterable[Span]) -> list[list[Span]]:
    """Spans sorted into groups in which they only follow or enclose one another."""
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
