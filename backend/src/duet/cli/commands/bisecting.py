# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb `bisect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Json
from duet.cli.commands.trial_options import Config, MemoryMb, Run, Timeout, Times, Vcpus
from duet.cli.results.bisecting import BisectResult
from duet.cli.results.keys import keys_text

BISECT_KEYS = keys_text(
    BisectResult, "Exit code 0: a culprit; 125: only commits that were skipped are left."
)


def bisect(
    tree: Annotated[Path, typer.Option("--tree", help="Repository; its files are not touched.")],
    good: Annotated[str, typer.Option("--good", metavar="COMMIT", help="A fast one.")],
    bad: Annotated[str, typer.Option("--bad", metavar="COMMIT", help="A slow one.")],
    run: Run = "",
    config: Config = None,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            help="elapsed_ms, user_ms, system_ms, headline, or a regular expression with a group "
            "`value`; default: the headline of `duet try`.",
        ),
    ] = "",
    unit: Annotated[str, typer.Option("--unit", help="Of such an expression.")] = "",
    better: Annotated[
        str, typer.Option("--better", help="Of such an expression: higher or lower.")
    ] = "higher",
    worse_than: Annotated[
        float | None,
        typer.Option(
            "--worse-than",
            metavar="PERCENT",
            min=0,
            help="A commit that is worse than the good one by more is bad; default: half of what "
            "separates good from bad.",
        ),
    ] = None,
    clock: Annotated[str, typer.Option("--clock", help="count or wall.")] = "count",
    times: Times = 1,
    timeout: Timeout = 180,
    vcpus: Vcpus = 2,
    memory_mb: MemoryMb = 1024,
    repeats: Annotated[
        str, typer.Option("--repeats", metavar="NUMBER", help="Runs of each kernel.")
    ] = "",
    name: Annotated[
        str, typer.Option("--name", help="Of the bisection; default: the repository's.")
    ] = "",
    no_trial: Annotated[
        bool, typer.Option("--no-trial", help="Do not run the culprit beside its parent.")
    ] = False,
    abort: Annotated[
        bool, typer.Option("--abort", help="Forget what was measured, instead of going on.")
    ] = False,
    json: Json = False,
) -> int:
    """Find the commit that made a number worse; the same call goes on after an interruption."""
    from duet.base.errors import InputError
    from duet.cli import bisecting
    from duet.cli.trying import better_name, clock_name
    from duet.trials.ask import Asked
    from duet.trials.write import SAMPLED

    named = metric in ("", *bisecting.METRICS)
    if not named and "(?P<value>" not in metric:
        raise InputError(
            f"--metric wants a name or a regular expression, but '{metric:.60}' came.",
            remedy=f"Write one of {', '.join(bisecting.METRICS)}, or 'rate=(?P<value>[0-9.]+)'.",
        )
    if metric in SAMPLED and clock_name(clock) == "count":
        raise InputError(
            f"{metric} is sampled at the kernel's tick and not counted, so two equal runs on the "
            "count clock prove nothing of it.",
            remedy="Name --metric elapsed_ms, or add --clock wall.",
        )
    asked = Asked(
        run=run,
        config=tuple(config or ()),
        clock=clock_name(clock),
        times=times,
        timeout=timeout,
        vcpus=vcpus,
        memory_mb=memory_mb,
        name=name,
        metric="" if named else metric,
        unit=unit,
        better=better_name(better),
    )
    what = bisecting.Bisect(
        tree, good, bad, asked, metric if named else "", worse_than, repeats, not no_trial, json
    )
    return bisecting.abort(what) if abort else bisecting.bisect(what)
