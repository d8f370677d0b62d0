# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet record`: a run of real kernels in one file, each lane with the machine for itself."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from duet.base.errors import InputError, KernelError
from duet.bundle import Figures, Record, trim
from duet.cli.build import build_optional
from duet.cli.console_sink import CollectingConsoleSink
from duet.cli.output import emit, note
from duet.cli.recorded_table import record_table
from duet.cli.request import Request, read_request
from duet.cli.results.runs import RecordedArm, RecordResult
from duet.kernels import KernelSettings
from duet.lessons.plan import workload_of
from duet.runs.pack import APART, How, figures, write_run
from duet.runs.replay import play, records_source
from duet.runs.sources import kernel_sources
from duet.session import LaneResult, Lanes, LaneSource, RunSession, RunSpec

NAME = re.compile(r"^[a-z0-9][a-z0-9-]*$")
SEED = 1


def record(
    given: tuple[str, str, str, str, list[str]],
    name: str,
    out: Path | None,
    window_ms: int | None,
    measured: bool,
    only_measured: bool,
    as_json: bool,
) -> int:
    """See `duet record --help`; `given` is what read_request takes."""
    request = read_request(*given)
    name = name or request.workload
    if not NAME.match(name):
        raise InputError(
            f"'{name:.40}' is no name for a recording.",
            remedy="Use small letters, digits and hyphens.",
        )
    path = out or request.folder.folder / "recorded" / f"{name}.duet"
    kernels = KernelSettings.default()
    build_optional(request.folder, request.arms, kernels)
    lanes: dict[str, LaneResult] = {}
    size = 0
    if not only_measured:
        shift = request.run_request.shift
        lanes, size = asyncio.run(record_run(request, path, window_ms, kernels, shift=shift))
    table = asyncio.run(record_table(request, kernels)) if measured or only_measured else None
    if as_json:
        emit(_tree(request, path if lanes else None, size, lanes, table))
        return 0
    if lanes:
        print(f"Recorded {', '.join(lanes)} into {path} ({size:,} bytes).")
    if table is not None:
        print(f"Recorded the measured table into {table}.")
    return 0


async def record_run(
    request: Request,
    path: Path,
    window_ms: int | None,
    kernels: KernelSettings,
    *,
    seed: int = SEED,
    shift: int = 0,
    refuse: Callable[[LaneResult], None] = lambda lane: None,
) -> tuple[dict[str, LaneResult], int]:
    """Run each lane by itself and write what they sent.

    Args:
        window_ms: kept of each lane from its start; None: all.
        refuse: raises for a lane after which the others need not run.

    Raises:
        DuetError: a lane failed, or sent too much, or the file cannot be written.
    """
    sources = await kernel_sources(request.folder, request.arms, kernels)
    marker = workload_of(request.folder.lesson, request.workload).start_marker
    lanes: dict[str, LaneResult] = {}
    records: dict[str, list[Record]] = {}
    figures_of: dict[str, Figures | None] = {}
    async with Lanes() as guests:
        for arm in request.arms:
            note(f"recording {arm}")
            spec = RunSpec(
                run_id=f"record-{arm}",
                folder=request.folder,
                arms=(arm,),
                workload=request.workload,
                params=request.params,
                clock=request.clock,
                seed=seed,
                shift=shift,
            )
            sink = CollectingConsoleSink()
            session = RunSession(guests, spec, {arm: sources[arm]}, sink)
            lane = (await session.execute()).lanes[arm]
            await guests.close(arm)
            if lane.error is not None:
                raise lane.error
            refuse(lane)
            if lane.transcript is None or lane.transcript.truncated:
                raise KernelError(
                    f"lane {arm} sent more than can be kept of one run.",
                    remedy="Record fewer --set seconds.",
                )
            lanes[arm] = lane
            records[arm] = list(lane.transcript.records())
            figures_of[arm] = figures(lane, sink.tables(arm))
            if window_ms is not None:
                records[arm] = trim(records[arm], marker, window_ms)
                figures_of[arm] = await _figures(spec, records[arm], sources[arm])
    run_request = request.run_request
    path.parent.mkdir(parents=True, exist_ok=True)
    how = How(APART, window_ms, shift, seed, figures_of)
    return lanes, write_run(path, run_request, lanes, records, kernels, how)


async def _figures(spec: RunSpec, records: list[Record], source: LaneSource) -> Figures | None:
    """What the cut transcript says by itself."""
    cut = records_source(source.arm, records, source.symbols)
    played = await play(replace(spec, source="recorded"), {source.arm: cut})
    if error := played.lanes[source.arm].error:
        raise error
    return played.figures(source.arm)


def _tree(
    request: Request,
    path: Path | None,
    size: int,
    lanes: dict[str, LaneResult],
    table: Path | None,
) -> RecordResult:
    return RecordResult(
        file=None if path is None else str(path),
        bytes=size,
        lesson=request.folder.slug,
        params=request.params,
        clock=str(request.clock),
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
