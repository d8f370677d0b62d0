# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs that boot guests: run, measure and record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Arms, Clock, Json, Lesson, MaybeLesson, Set, Workload
from duet.cli.commands.pooling import AtOnce, CheckHosts, LeaseTime, PoolName, Wait
from duet.cli.results.agreement import AgreementResult
from duet.cli.results.keys import keys_text, shape_of
from duet.cli.results.runs import MeasureResult, PublishedResult, RecordResult, RunResult

RUN_KEYS = keys_text(
    RunResult,
    "ops and median are medians of the untraced runs, median and samples in unit; ops_per_s and "
    "ops_per_s_all are the same where unit is a rate, else null and empty; "
    "wait_ns, cycles (of the lesson's first track) and events_* come from the traced run of the "
    "same arm and are null with --no-trace.",
)
MEASURE_KEYS = keys_text(
    MeasureResult,
    f"With --published: {shape_of(PublishedResult)}. "
    f"With --check-hosts: {shape_of(AgreementResult)}.",
)
RECORD_KEYS = keys_text(RecordResult)


def run(
    lesson: Lesson,
    arms: Arms = "",
    workload: Workload = "",
    clock: Clock = "",
    set: Set = None,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Untraced runs per arm.")] = 3,
    no_trace: Annotated[bool, typer.Option("--no-trace", help="No traced run.")] = False,
    json: Json = False,
) -> int:
    """Measure the arms of a lesson, one guest after another."""
    from duet.cli.run import run as body

    return body(lesson, arms, workload, clock, set or [], repeats, not no_trace, json)


def measure(
    lesson: MaybeLesson = None,
    arms: Arms = "",
    workload: Workload = "",
    clock: Clock = "",
    set: Set = None,
    sweep: Annotated[
        str | None, typer.Option("--sweep", help="NAME=VALUE,VALUE: a table per value of a knob.")
    ] = None,
    repeats: Annotated[
        str | None,
        typer.Option(
            "--repeats",
            metavar="NUMBER",
            help="Runs per arm: untraced ones on the wall clock (5), equal ones on the count "
            "clock (2).",
        ),
    ] = None,
    shift: Annotated[
        str,
        typer.Option(
            "--shift",
            help="Count clock: 2^shift ns an instruction, with commas; default 0, and 0,3 for "
            "lessons about waiting.",
        ),
    ] = "",
    layouts: Annotated[
        str | None,
        typer.Option(
            "--layouts",
            metavar="NUMBER",
            help="Link each arm so often in other orders, run each link, and report the spread "
            "beside the figures; at least 5, 1 is off.",
        ),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            help="mail, ministat, lkp, will-it-scale, sweep, json, csv or kcidb.",
        ),
    ] = "mail",
    output: Annotated[Path | None, typer.Option("--output", help="File; default: stdout.")] = None,
    all: Annotated[bool, typer.Option("--all", help="With --published: all lessons.")] = False,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help="Compare with every published figure, of all lessons or of one; a table.",
        ),
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            metavar="PAGE.md",
            help="With --published: write a page of all figures, with their results next to it "
            "as JSON; what was measured with the same kernels is not measured again.",
        ),
    ] = None,
    stored: Annotated[
        bool,
        typer.Option(
            "--stored", help="With --published: measure nothing; show the results beside the page."
        ),
    ] = False,
    pool: PoolName = "",
    at_once: AtOnce = "",
    wait: Wait = "",
    lease: LeaseTime = "",
    check_hosts: CheckHosts = False,
    json: Json = False,
) -> int:
    """Measure arms against each other, untraced, and say what that proves."""
    from duet.cli.measure_args import Given

    if json:
        format = "json"
    if published or all or stored or write is not None:
        from duet.cli.published import Keep, against

        others = (arms, workload, clock, set, sweep, repeats, shift, layouts, pool, at_once)
        pooling = (wait, lease, check_hosts or None)
        more = any(other not in (None, "", []) for other in (*others, *pooling))
        return against(lesson, all, published, more, format, output, Keep(write, stored))
    from duet.cli.measure import measure as body
    from duet.cli.pooled import Pooling

    settings = tuple(set or ())
    given = Given(lesson or "", arms, workload, clock, settings, sweep, repeats, shift, layouts)
    return body(given, format, output, Pooling(pool, at_once, wait, lease, check_hosts))


def record(
    lesson: Lesson,
    arms: Arms = "",
    workload: Workload = "",
    clock: Clock = "",
    set: Set = None,
    name: Annotated[str, typer.Option(help="Name of the recording; default: its workload's.")] = "",
    out: Annotated[Path | None, typer.Option(help="File; default: recorded/NAME.duet.")] = None,
    window_ms: Annotated[int, typer.Option(min=1, help="Kept of each lane from its start.")] = 400,
    whole: Annotated[bool, typer.Option("--whole", help="Keep all, whatever --window-ms.")] = False,
    measured: Annotated[
        bool, typer.Option("--measured", help="Also record the measured table (n = 5).")
    ] = False,
    only_measured: Annotated[
        bool, typer.Option("--only-measured", help="Record the measured table alone.")
    ] = False,
    json: Json = False,
) -> int:
    """Record a run of real kernels, one lane after another, as a bundle that plays anywhere."""
    from duet.cli.record import record as body

    request = (lesson, arms, workload, clock, set or [])
    window = None if whole else window_ms
    return body(request, name, out, window, measured, only_measured, json)
