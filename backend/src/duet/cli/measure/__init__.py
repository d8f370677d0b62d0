# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure`: measures a lesson and prints numbers with verdicts, in formats for a mail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.base.errors import InputError
from duet.cli.keys import keys_text, shape_of
from duet.cli.measure.results import AgreementResult, MeasureResult, PublishedResult
from duet.cli.options import Arms, ClockOption, Json, MaybeLesson, Set, Workload

KEYS = keys_text(
    MeasureResult,
    f"With --published: {shape_of(PublishedResult)}. "
    f"With --check-hosts: {shape_of(AgreementResult)}.",
)


# Options for measuring on a pool.

PoolName = Annotated[
    str,
    typer.Option(
        "--pool",
        metavar="NAME",
        help="Measure on hosts of a pool: local, slurm or kubernetes (docs/CLUSTER.md). Each "
        "comparison (a value of the sweep, a --shift, a link) has one host for all its arms.",
    ),
]


AtOnce = Annotated[
    str,
    typer.Option(
        "--at-once",
        metavar="NUMBER",
        help="With --pool: most comparisons at once; default: as many as the pool allows.",
    ),
]


Wait = Annotated[
    str,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        help="With --pool: how long to wait if the pool is full (3600); 0: do not wait.",
    ),
]


LeaseTime = Annotated[
    str,
    typer.Option(
        "--lease",
        metavar="MINUTES",
        help="With --pool: limit for one comparison; default: ten minutes, and two more for each "
        "run.",
    ),
]


CheckHosts = Annotated[
    bool,
    typer.Option(
        "--check-hosts",
        help="With --pool and --clock count: run each comparison on two hosts and require equal "
        "figures to the digit; exit code 0 if all are equal, else 3.",
    ),
]


def measure(
    lesson: MaybeLesson = None,
    arms: Arms = "",
    workload: Workload = "",
    clock: ClockOption = "",
    set: Set = None,
    sweep: Annotated[
        str | None, typer.Option("--sweep", help="NAME=VALUE,VALUE: one table per value of a knob.")
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
            help="Count clock: 2^shift ns per instruction, separated by commas; default 0, and "
            "0,3 for lessons about waiting.",
        ),
    ] = "",
    layouts: Annotated[
        str | None,
        typer.Option(
            "--layouts",
            metavar="NUMBER",
            help="Link each arm in this many orders, run each link, and report the spread; at "
            "least 5; 1 is off.",
        ),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            help="mail, mail-verbatim (with all lines of the workload), ministat, lkp, "
            "will-it-scale, sweep, json, csv or kcidb.",
        ),
    ] = "mail",
    output: Annotated[Path | None, typer.Option("--output", help="File; default: stdout.")] = None,
    all: Annotated[bool, typer.Option("--all", help="With --published: all lessons.")] = False,
    published: Annotated[
        bool,
        typer.Option(
            "--published",
            help="Compare with every published figure, of all lessons or of one.",
        ),
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            metavar="PAGE.md",
            help="With --published: write a page of all figures, and their results as JSON next "
            "to it. Results of the same kernels are not measured again.",
        ),
    ] = None,
    stored: Annotated[
        bool,
        typer.Option(
            "--stored", help="With --published: measure nothing; show the results next to the page."
        ),
    ] = False,
    results: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="RESULT",
            help="Measure nothing: read what ./measure of a pack wrote on another host "
            "(docs/ELSEWHERE.md). Repeatable.",
        ),
    ] = None,
    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="With --from: store the tables with the lesson's recordings, for the page.",
        ),
    ] = False,
    pool: PoolName = "",
    at_once: AtOnce = "",
    wait: Wait = "",
    lease: LeaseTime = "",
    check_hosts: CheckHosts = False,
    as_json: Json = False,
) -> int:
    """Measure arms against each other, untraced, with verdicts. A verdict says what the measurement
    proves.
    """
    from duet.cli.measure.args import MeasureArgs

    if as_json:
        format = "json"
    if published or all or stored or write is not None:
        from duet.cli.measure.published import PageOptions, compare_published

        others = (arms, workload, clock, set, sweep, repeats, shift, layouts, pool, at_once)
        pooling = (wait, lease, check_hosts or None, record or None)
        more = any(other not in (None, "", []) for other in (*others, *pooling))
        keep = PageOptions(write, stored, tuple(results or ()))
        return compare_published(lesson, all, published, more, format, output, keep)
    if record and not results:
        raise InputError(
            "--record stores tables of another host, so it needs --from.",
            remedy="Name a result with --from; record this host's tables with ./duet record.",
        )
    if results:
        from duet.cli.measure.elsewhere import record_results, report_results

        chosen = (workload, clock, tuple(set or ()))
        unused = (arms, sweep, repeats, shift, layouts, pool, at_once, wait, lease)
        if check_hosts or any(unused):
            raise InputError(
                "--from reads measured results, so it takes no measurement options.",
                remedy="Choose among the results' tables with --workload, --clock and --set.",
            )
        if record:
            return record_results(results, lesson, chosen)
        return report_results(results, lesson, chosen, format, output)
    from duet.cli.measure.pooling import Pooling
    from duet.cli.measure.run import measure_lesson

    settings = tuple(set or ())
    given = MeasureArgs(
        lesson or "", arms, workload, clock, settings, sweep, repeats, shift, layouts
    )
    return measure_lesson(given, format, output, Pooling(pool, at_once, wait, lease, check_hosts))
