# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet record`: records a run of real kernels into one file, one lane at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InfraError, InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Arms, ClockOption, Json, Set, Slug, Workload
from duet.cli.output import emit
from duet.cli.record_grid import GridResult, record_grid

if TYPE_CHECKING:
    from duet.session import LaneResult, RunSpec
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
    from duet.cli.recording import record_run
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
            "--again needs --grid.",
            remedy="Leave --again out: a recording is always made again.",
        )
    window = None if whole else window_ms or WINDOW_MS
    name = name or spec.workload
    if not NAME.match(name) or name.startswith(PREFIX):
        raise InputError(
            f"'{name:.40}' is not a valid name for a recording.",
            remedy="Use lower-case letters, digits and hyphens. Only the names of grids' cells may "
            f"begin with {PREFIX}.",
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
