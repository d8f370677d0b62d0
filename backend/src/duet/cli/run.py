# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet run`: measure the arms of a lesson, one guest after another."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from duet.api.sources import house_sources
from duet.cli.output import emit, note, parse_settings, split_names
from duet.errors import DuetError, InputError
from duet.guests import Clock
from duet.kernels import KernelSettings
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.lessons.plan import workload_of
from duet.measure import MeasuredRow, Measurement, Progress, measure


@dataclass(frozen=True, slots=True)
class Request:
    """What a command line asks to be run, checked."""

    folder: LessonFolder
    arms: tuple[str, ...]
    workload: str
    clock: Clock
    params: dict[str, int]


def read_request(lesson: str, arms: str, workload: str, clock: str, settings: list[str]) -> Request:
    """Check what was given against the lesson.

    Raises:
        InputError: unknown lesson, arm, workload, clock or knob, or a value out of range.
    """
    folder = lessons.load(lesson)
    names = split_names(arms) or tuple(arm.name for arm in folder.lesson.arms)
    for name in names:
        folder.arm(name)
    if len(set(names)) != len(names):
        raise InputError("an arm was named twice.", remedy="Name each arm once.")
    chosen = workload or next(iter(folder.lesson.workloads))
    workload_of(folder.lesson, chosen)
    on = clock or folder.lesson.clock
    if on not in folder.lesson.clocks:
        raise InputError(
            f"lesson {lesson} does not run on the clock '{on:.20}'.",
            remedy=f"Choose from: {', '.join(folder.lesson.clocks)}.",
        )
    params = folder.check_params(parse_settings(settings), on)
    return Request(folder, names, chosen, Clock(on), params)


async def measure_request(
    request: Request, repeats: int, traced: bool, kernels: KernelSettings | None = None
) -> Measurement:
    """Measure, telling progress on stderr.

    Raises:
        DuetError: a kernel is not built, or a guest failed.
    """
    settings = kernels or KernelSettings.default()
    sources = await house_sources(request.folder, request.arms, settings)

    def progress(step: Progress) -> None:
        note(str(step))

    return await measure(
        request.folder,
        request.arms,
        request.workload,
        request.params,
        request.clock,
        repeats,
        sources,
        traced=traced,
        progress=progress,
    )


def run(
    lesson: str,
    arms: str,
    workload: str,
    clock: str,
    settings: list[str],
    repeats: int,
    traced: bool,
    as_json: bool,
) -> int:
    """See `duet run --help`."""
    request = read_request(lesson, arms, workload, clock, settings)
    table = asyncio.run(measure_request(request, repeats, traced))
    refuse_nothing(table)
    if as_json:
        emit(json_tree(table))
    else:
        print_table(table)
    return 0


def refuse_nothing(table: Measurement) -> None:
    """An empty table is a failure, not a result.

    Raises:
        InfraError, KernelError: whatever the first arm met.
    """
    errors = [row.error for row in table.rows if row.error is not None]
    if errors and len(errors) == len(table.rows):
        error: DuetError = errors[0]
        raise error


def json_tree(table: Measurement) -> dict[str, object]:
    """The documented keys of `duet run --json`."""
    tree = table.as_dict()
    rows = [
        {
            "arm": row.arm,
            "ops": middle(row.ops),
            "ops_per_s": row.ops_per_s_median,
            "wait_ns": row.wait_ns,
            "grace_periods": row.grace_periods,
            "events_read": row.events_read,
            "events_lost": row.events_lost,
            "n": row.n,
            "ops_per_s_all": list(row.ops_per_s),
            "kernel": row.kernel,
            "accel": row.accel,
            "refused": row.refused,
            "lines": list(row.lines),
        }
        for row in table.rows
    ]
    kept = ("lesson", "clock", "workload", "params", "at", "verdict", "unit")
    return {**{key: tree[key] for key in kept}, "arms": rows}


def middle(counts: list[int]) -> int | None:
    """The median of whole numbers, itself one of them."""
    return sorted(counts)[(len(counts) - 1) // 2] if counts else None


HEADINGS = ("arm", "n", "per second", "wait p50", "p95", "max", "grace periods", "lost")


def print_table(table: Measurement) -> None:
    """For people: plain columns, one line per arm."""
    rows = [HEADINGS, *(_cells(row) for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    print(f"{table.lesson}, {table.workload}, {table.clock} clock; {table.unit}, median of n")
    for row in rows:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([first.strip().ljust(widths[0]), *rest]))
    for measured in table.rows:
        if measured.refused:
            print(f"{measured.arm}: {measured.refused}")
    print(table.verdict)


def _cells(row: MeasuredRow) -> tuple[str, ...]:
    waits = row.wait_ns or {}
    return (
        row.arm,
        str(row.n),
        _number(row.ops_per_s_median),
        *(_ms(waits.get(key)) for key in ("p50", "p95", "max")),
        "-" if row.grace_periods is None else str(row.grace_periods),
        "-" if row.events_lost is None else str(row.events_lost),
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def _ms(ns: float | None) -> str:
    return "-" if ns is None else f"{ns / 1e6:.3f} ms"
