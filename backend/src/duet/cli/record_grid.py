# SPDX-License-Identifier: GPL-2.0-or-later
"""Records the cells of a lesson's grids. A cell that exists and is fresh is not recorded again."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from duet.base import files as durable
from duet.base.errors import DuetError, InfraError
from duet.cli.keys import key
from duet.cli.output import emit, note

if TYPE_CHECKING:
    from duet import messages as m
    from duet.kernels import KernelSettings
    from duet.lessons.grid import Cell
    from duet.lessons.load import LessonFolder
    from duet.session import LaneResult, RunSpec


@dataclass(frozen=True, slots=True)
class GridResult:
    """What `duet record --grid --json` prints."""

    lesson: str
    cells: int = key("cells that were asked for")
    recorded: Sequence[str] = key("names of the cells that were recorded now")
    failed: Mapping[str, str] = key(shape="{cell: what went wrong}")
    bytes: int = key("of all recorded cells of the lesson")


@dataclass(slots=True)
class _Progress:
    """The cells that are recorded so far, and those that failed."""

    recorded: list[str] = field(default_factory=list)
    failed: dict[str, DuetError] = field(default_factory=dict)


def record_grid(folder: LessonFolder, selection: str, again: bool, as_json: bool) -> int:
    """Record the cells that the selection names, one lane at a time. See lessons.grid.

    Args:
        again: whether to record up-to-date cells again.

    Raises:
        InputError: the selection or the grid is wrong, or a recorded cell cannot be read.
        DuetError: a kernel cannot be built.
    """
    from duet.cli.building import build_optional
    from duet.cli.measuring import INTERRUPTED, interruptible
    from duet.kernels import KernelSettings
    from duet.lessons.grid import chosen_cells

    kernels = KernelSettings.default()
    cells = chosen_cells(folder, selection)
    done = fresh_cells(folder, kernels)
    todo = [cell for cell in cells if again or cell.name not in done]
    arms = tuple(dict.fromkeys(arm for cell in todo for arm in cell.arms))
    build_optional(folder, arms, kernels)
    progress = _Progress()
    whole = asyncio.run(interruptible(_record(folder, todo, kernels, progress)))
    size = sum(path.stat().st_size for path in folder.cells())
    if as_json:
        failed = {name: error.sentence for name, error in progress.failed.items()}
        emit(GridResult(folder.slug, len(cells), progress.recorded, failed, size))
    else:
        left = len(cells) - len(todo)
        wrong = f", {len(progress.failed)} failed" if progress.failed else ""
        print(
            f"Recorded {len(progress.recorded)} of {len(cells)} cells{wrong}; {left} were up to "
            f"date. All cells of {folder.slug} have {size:,} bytes."
        )
    if not whole:
        return INTERRUPTED
    return max((error.exit_code for error in progress.failed.values()), default=0)


def fresh_cells(folder: LessonFolder, kernels: KernelSettings) -> set[str]:
    """Return the names of the recorded cells that lint would accept.

    Raises:
        InputError: the list of cells, or a cell, cannot be read.
    """
    from duet.lessons.grid import INDEX, cells_of
    from duet.server.recorded_items import cell_fault, recordings_of
    from duet.server.recordings import read_cells

    stale = {item.name for item in recordings_of(folder, kernels) if item.stale}
    listed = {cell.name: cell for cell in read_cells(folder.folder / INDEX)}
    return {
        cell.name
        for cell in cells_of(folder)
        if cell.name not in stale and not cell_fault(folder, cell, listed.get(cell.name))
    }


async def _record(
    folder: LessonFolder, todo: Sequence[Cell], kernels: KernelSettings, progress: _Progress
) -> None:
    """Record cells one after another. If a cell fails, print why, and record the next cell."""
    from duet.base.clock import format_duration
    from duet.cli.recording import GUEST_S

    began = time.monotonic()
    for number, cell in enumerate(todo):
        done = len(progress.recorded)
        each = (time.monotonic() - began) / done if done else GUEST_S * len(cell.arms)
        left = format_duration(each * (len(todo) - number))
        note(f"{number + 1} of {len(todo)}: {folder.slug}/{cell.name} (about {left} left)")
        try:
            await record_cell(folder, cell, kernels)
        except DuetError as error:
            progress.failed[cell.name] = error
            note(f"error: {cell.name}: {error.sentence}\nremedy: {error.remedy}")
            continue
        progress.recorded.append(cell.name)


async def record_cell(folder: LessonFolder, cell: Cell, kernels: KernelSettings) -> None:
    """Record one cell, and add it to the lesson's list of cells.

    Raises:
        DuetError: a lane failed, lost events or printed no number, or a file cannot be written.
    """
    from duet.cli.recording import record_run
    from duet.lessons.grid import CELLS
    from duet.lessons.load import cpus
    from duet.session import RunSpec, contention_bound, lesson_shift

    path = folder.folder / CELLS / f"{cell.name}.duet"
    run = RunSpec(folder, cell.arms, cell.workload, dict(cell.params), cell.clock)
    shift = lesson_shift(folder, cell.clock)
    bound = contention_bound(cpus(folder.lesson, cell.params), len(os.sched_getaffinity(0)))
    metrics = {curve.metric for curve in folder.lesson.grids[cell.grid].curves.values()}
    values: dict[str, dict[str, float]] = {metric: {} for metric in sorted(metrics)}

    def take(lane: LaneResult) -> None:
        refuse(lane, bound)
        for metric, of in values.items():
            of[lane.arm] = curve_value(run, metric, lane)

    _, size = await record_run(run, path, cell.window_ms, kernels, shift=shift, refuse=take)
    _list(folder, cell, _entry(folder, cell, values, path, size))


def refuse(lane: LaneResult, bound: float) -> None:
    """Refuse a lane whose numbers would be wrong.

    Args:
        bound: largest allowed share of time that vCPUs spent waiting for a host CPU.

    Raises:
        InfraError: the lane lost events, or other work on the host distorted its times.
    """
    if lane.loss:
        known = [loss.events for loss in lane.loss if loss.events is not None]
        lost = str(sum(known)) if len(known) == len(lane.loss) else "an unknown number of"
        raise InfraError(
            f"lane {lane.arm} lost {lost} events.",
            remedy="Record the cell again, or make the run shorter in `params` of the grid.",
        )
    if lane.contention is not None and lane.contention.share > bound:
        raise InfraError(
            f"the host was busy: the vCPUs of lane {lane.arm} waited "
            f"{lane.contention.share:.0%} of their time for a CPU, more than {bound:.0%}.",
            remedy="Record the cell again while nothing else runs on this host.",
        )


def _entry(
    folder: LessonFolder,
    cell: Cell,
    values: dict[str, dict[str, float]],
    path: Path,
    size: int,
) -> m.GridCell:
    from duet import messages as m
    from duet.bundle import read_manifest
    from duet.server.recordings import length_s

    manifest = read_manifest(path)
    host = manifest.host
    words = f"{host.get('cpu', '')}, {host.get('cpus', '?')} CPUs, QEMU {host.get('accel', '')}"
    return m.GridCell(
        name=cell.name,
        lesson=folder.slug,
        params=dict(manifest.params),
        arms=cell.arms,
        clock=cell.clock,
        workload=cell.workload,
        seconds=length_s(manifest),
        bytes=size,
        recorded_at=manifest.created,
        grid=cell.grid,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        host=words.strip(" ,"),
        window_ms=cell.window_ms,
        values=values,
    )


def curve_value(run: RunSpec, name: str, lane: LaneResult) -> float:
    """Return a metric of a finished lane: from the workload's lines, its events, or its accesses.

    Raises:
        InfraError: the run has no such number.
    """
    from duet.measure.values import access_value, line_value, no_counts, tally_value

    metric = run.folder.lesson.metrics[name]
    value: float | None
    if metric.line is not None:
        value = line_value(metric, [line.text for line in lane.lines])
    elif metric.microscope is not None:
        scope = run.scope(lane.arm)
        if scope is None or lane.scope is None:
            raise no_counts(lane)
        value = access_value(metric.microscope, lane.scope, scope)
    else:
        value = tally_value(name, metric, lane.tallies)
    if value is None:
        raise InfraError(
            f"the run of {lane.arm} has no {name}.",
            remedy="Choose a metric of this workload for the grid's curve.",
        )
    return value


def _list(folder: LessonFolder, cell: Cell, entry: m.GridCell) -> None:
    """Put an entry into the lesson's list of cells, in the order of the grids. Entries of cells
    that the lesson no longer has are dropped, and their files are deleted."""
    from duet.lessons.grid import INDEX, cells_of
    from duet.server.recordings import CELL_LIST, read_cells

    path = folder.folder / INDEX
    known = {one.name: one for one in read_cells(path)} | {cell.name: entry}
    order = [one.name for one in cells_of(folder)]
    listed = [known[name] for name in order if name in known]
    durable.write(path, CELL_LIST.dump_json(listed, indent=1) + b"\n")
    for old in folder.cells():
        if old.stem not in order:
            old.unlink()
