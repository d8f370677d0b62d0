# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet record`: records a run of real kernels into one file, one lane at a time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base import files as durable
from duet.base.errors import InfraError, InputError, KernelError
from duet.cli.keys import key, keys_text
from duet.cli.options import Arms, ClockOption, Json, Set, Slug, Workload
from duet.cli.output import emit, note
from duet.cli.record_grid import GridResult, record_grid

if TYPE_CHECKING:
    from duet.bundle import Figures, Record
    from duet.kernels import KernelSettings
    from duet.server.recorded_items import Item
    from duet.session import LaneResult, LaneSource, RunSpec
    from duet.stream.hub import RunLog


@dataclass(frozen=True, slots=True)
class RecordedArm:
    """One lane."""

    arm: str
    phase: str
    ops: int | None
    events_read: int
    events_lost: int


@dataclass(frozen=True, slots=True)
class RecordResult:
    file: str | None = key("null with --only-measured")
    bytes: int = key()
    lesson: str = key()
    params: Mapping[str, int] = key()
    clock: str = key()
    arms: Sequence[RecordedArm] = key()
    measured: str | None = key("path or null")


KEYS = keys_text(RecordResult, keys_text(GridResult, when="--grid"))


def record(
    lesson: Slug,
    arms: Arms = "",
    workload: Workload = "",
    clock: ClockOption = "",
    set: Set = None,
    name: Annotated[
        str, typer.Option(help="Name of the recording; default: that of its workload.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="File; default: recorded/NAME.duet.")] = None,
    window_ms: Annotated[
        int | None,
        typer.Option(min=1, help="Keep this much of each lane from its start; default: 400."),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Keep everything, and ignore --window-ms.")
    ] = False,
    measured: Annotated[
        bool, typer.Option("--measured", help="Also record the measured table (n = 5).")
    ] = False,
    grid: Annotated[
        str | None,
        typer.Option(
            help="Record the cells of the lesson's grids: `all`, or values such as "
            "KNOB=1..9,OTHER=1,2. Cells that are up to date are kept."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="With --grid: also record what is up to date.")
    ] = False,
    only_measured: Annotated[
        bool, typer.Option("--only-measured", help="Record the measured table alone.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Record a run of real kernels into a file that plays anywhere. One lane runs at a time."""
    from duet.cli.arguments import read_request
    from duet.cli.building import build_optional
    from duet.cli.recorded_table import record_table
    from duet.kernels import KernelSettings
    from duet.lessons import load as lessons
    from duet.lessons.grid import PREFIX
    from duet.session import lesson_shift

    if grid is not None:
        others = (arms, workload, clock, set, name, out, window_ms, whole, measured, only_measured)
        if any(others):
            raise InputError(
                "--grid takes no arms, workload, clock, knobs, name, file, window or table.",
                remedy="The lesson's `grids:` says what is recorded; leave the other options out.",
            )
        return record_grid(lessons.load(lesson), grid, again, as_json)
    spec = read_request(lesson, arms, workload, clock, set or [])
    if again:
        raise InputError(
            "--again goes with --grid.", remedy="Leave it out: a recording is always made again."
        )
    window = None if whole else window_ms or WINDOW_MS
    name = name or spec.workload
    if not NAME.match(name) or name.startswith(PREFIX):
        raise InputError(
            f"'{name:.40}' is not a valid name for a recording.",
            remedy="Use lower-case letters, digits and hyphens, and another beginning than "
            f"{PREFIX}, which cells of grids have.",
        )
    path = out or spec.folder.folder / "recorded" / f"{name}.duet"
    kernels = KernelSettings.default()
    build_optional(spec.folder, spec.arms, kernels)
    lanes: dict[str, LaneResult] = {}
    size = 0
    if not only_measured:
        shift = lesson_shift(spec.folder, spec.clock)
        lanes, size = asyncio.run(record_run(spec, path, window, kernels, shift=shift))
    table = asyncio.run(record_table(spec, kernels)) if measured or only_measured else None
    if as_json:
        emit(_tree(spec, path if lanes else None, size, lanes, table))
        return 0
    if lanes:
        print(f"Recorded {', '.join(lanes)} into {path} ({size:,} bytes).")
    if table is not None:
        print(f"Recorded the measured table into {table}.")
    return 0


WINDOW_MS = 400
NAME = re.compile(r"^[a-z0-9][a-z0-9-]*$")
SEED = 1


async def record_run(
    spec: RunSpec,
    path: Path,
    window_ms: int | None,
    kernels: KernelSettings,
    *,
    seed: int = SEED,
    shift: int = 0,
    refuse: Callable[[LaneResult], None] = lambda lane: None,
) -> tuple[dict[str, LaneResult], int]:
    """Run one lane at a time and write all lanes to a file.

    Args:
        window_ms: how many milliseconds of each lane to keep, from its start; None keeps all.
        refuse: called with each finished lane; raises an error to stop the recording.

    Raises:
        DuetError: a lane failed or sent too much, or the file cannot be written.
    """
    from duet.bundle import trim
    from duet.cli.sinks import CollectingConsoleSink
    from duet.lessons.plan import workload_of
    from duet.runs.pack import APART, RecordingFacts, figures, write_run
    from duet.runs.sources import kernel_sources
    from duet.session import Lanes, RunSession

    sources = await kernel_sources(spec.folder, spec.arms, kernels)
    marker = workload_of(spec.folder.lesson, spec.workload).start_marker
    lanes: dict[str, LaneResult] = {}
    records: dict[str, list[Record]] = {}
    figures_of: dict[str, Figures | None] = {}
    async with Lanes() as guests:
        for arm in spec.arms:
            note(f"recording {arm}")
            one = replace(spec.only([arm]), run_id=f"record-{arm}", seed=seed, shift=shift)
            sink = CollectingConsoleSink()
            session = RunSession(guests, one, {arm: sources[arm]}, sink)
            lane = (await session.execute()).lanes[arm]
            await guests.close(arm)
            if lane.error is not None:
                raise lane.error
            refuse(lane)
            if lane.transcript is None or lane.transcript.truncated:
                raise KernelError(
                    f"lane {arm} sent more data than a recording may contain.",
                    remedy="Record a shorter run: --set seconds=NUMBER.",
                )
            lanes[arm] = lane
            records[arm] = list(lane.transcript.records())
            figures_of[arm] = figures(lane, sink.tables(arm))
            if window_ms is not None:
                records[arm] = trim(records[arm], marker, window_ms)
                figures_of[arm] = await _figures(one, records[arm], sources[arm])
    path.parent.mkdir(parents=True, exist_ok=True)
    how = RecordingFacts(APART, window_ms, shift, seed, figures_of)
    return lanes, write_run(path, spec, lanes, records, kernels, how)


async def _figures(spec: RunSpec, records: list[Record], source: LaneSource) -> Figures | None:
    """Compute a lane's figures from its trimmed records."""
    from duet.runs.replay import play, records_source

    cut = records_source(source.arm, records, source.symbols)
    played = await play(replace(spec, source="recorded"), {source.arm: cut})
    if error := played.lanes[source.arm].error:
        raise error
    return played.figures(source.arm)


def _tree(
    spec: RunSpec,
    path: Path | None,
    size: int,
    lanes: dict[str, LaneResult],
    table: Path | None,
) -> RecordResult:
    return RecordResult(
        file=None if path is None else str(path),
        bytes=size,
        lesson=spec.folder.slug,
        params=spec.params,
        clock=spec.clock,
        arms=[
            RecordedArm(
                arm=arm,
                phase=str(lane.phase),
                ops=lane.ops,
                events_read=lane.metrics.events_read,
                events_lost=lane.metrics.events_lost,
            )
            for arm, lane in lanes.items()
        ],
        measured=None if table is None else str(table),
    )


GUEST_S = 12.0
"""Assumed seconds for a guest's run until one has been timed on this machine."""


def guest_runs(item: Item) -> int:
    """Return how many runs of a guest are needed to record an item."""
    from duet.measure.plan import PERTURBED, default_repeats

    if item.kind == "recording":
        return len(item.arms)
    count = item.clock == "count"
    return len(item.arms) * (default_repeats(item.clock) + (PERTURBED if count else 0))


class Pace:
    """Stores how many seconds each item took on this machine, to estimate the time left.

    Args:
        path: file with the times; an unreadable file counts as empty.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, float] = {}
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(path.read_bytes())
            if isinstance(found, dict):
                self._known = {
                    str(title): float(seconds)
                    for title, seconds in found.items()
                    if isinstance(seconds, int | float) and seconds > 0
                }
        self._runs = 0
        self._seconds = 0.0

    def left_s(self, items: Iterable[Item]) -> float:
        """Estimate how many seconds the items take.

        For a known item, use its last duration. For a new item, use the mean time of a guest run.
        """
        each = self._seconds / self._runs if self._runs else GUEST_S
        return sum(self._known.get(item.title, each * guest_runs(item)) for item in items)

    def took(self, item: Item, seconds: float) -> None:
        """Store how long an item took."""
        self._runs += guest_runs(item)
        self._seconds += seconds
        self._known[item.title] = round(seconds, 1)
        with contextlib.suppress(OSError):  # only an estimate
            self._path.parent.mkdir(parents=True, exist_ok=True)
            durable.write(self._path, json.dumps(self._known, indent=1).encode())


async def segment_sizes(slug: str) -> list[int]:
    """Cut a lesson's largest recording into segments, as the server does.

    Return the packed size of each segment, in bytes.

    Raises:
        InputError: there is no such lesson.
        InfraError: the lesson has no readable recording.
    """
    from duet.server.recordings import LessonRecordings

    recordings = LessonRecordings()
    paths = recordings.paths(slug)
    if not paths:
        raise InfraError(f"{slug} has no recording.", remedy=f"Run: ./duet record {slug}")
    name = max(paths, key=lambda one: paths[one].stat().st_size)
    try:
        run = await recordings.load(slug, name)
        if run is None:
            raise InfraError(
                f"the recording {name} of {slug} cannot be read.",
                remedy=f"Run: ./duet inspect {slug}/{name}",
            )
        return cut(run.log)
    finally:
        await recordings.close()


def cut(log: RunLog) -> list[int]:
    """Return the packed sizes of a finished run's segments, cut as in stream.cutting.Cutting."""
    from duet.stream.segments import SegmentLog, pack_cut

    segments, sizes = SegmentLog(log.run_id), []
    for packet in log.backlog():
        if segments.is_full(len(packet.body)):
            sizes.append(len(pack_cut(segments.cut().packets)[0]))
        segments.add(packet)
    if segments.waits:
        sizes.append(len(pack_cut(segments.cut().packets)[0]))
    return sizes
