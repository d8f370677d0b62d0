# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb `try`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Json
from duet.cli.commands.trial_options import (
    Commits,
    Config,
    MemoryMb,
    Patches,
    Paths,
    Repo,
    Run,
    Timeout,
    Times,
    TrialBase,
    Vcpus,
    With,
    Words,
)
from duet.cli.results.keys import keys_text
from duet.cli.results.trying import TryResult

TRY_KEYS = keys_text(TryResult)


def try_(
    patches: Patches = None,
    run: Run = "",
    base: TrialBase = "",
    tree: Annotated[
        Paths,
        typer.Option(
            "--tree",
            help="A source tree, dirty or not, or DIR@COMMIT; patches go on the first.",
        ),
    ] = None,
    kernel: Annotated[
        Paths,
        typer.Option(
            "--kernel", help="A kernel built elsewhere: its bzImage, or the folder of the build."
        ),
    ] = None,
    vmlinux: Annotated[
        Paths,
        typer.Option("--vmlinux", help="Of each --kernel; default: where its build left it."),
    ] = None,
    with_: With = None,
    config: Config = None,
    commits: Commits = None,
    repo: Repo = Path(),
    trace: Annotated[
        Words,
        typer.Option(
            "--trace",
            help="Events with commas: 'sched:*', 'rcu:rcu_grace_period', 'probe:f($arg1)'.",
        ),
    ] = None,
    fn: Annotated[
        Words,
        typer.Option(
            "--fn", help="Functions to draw, with * and ?; default: those that the patches change."
        ),
    ] = None,
    watch: Annotated[
        Words,
        typer.Option(
            "--watch",
            help="Functions with commas whose loads and stores are counted on each kernel; a call "
            "of the first is an operation.",
        ),
    ] = None,
    xray: Annotated[
        Words,
        typer.Option(
            "--xray",
            help="Global variables with commas whose numbers are read while the command runs: "
            "nr_files,rcu_state.gp_seq; default: those that changed lines name.",
        ),
    ] = None,
    comm: Annotated[
        str, typer.Option("--comm", help="Names of the tasks that are drawn, with * and ?.")
    ] = "",
    clock: Annotated[str, typer.Option("--clock", help="wall or count.")] = "wall",
    times: Times = 1,
    timeout: Timeout = 180,
    vcpus: Vcpus = 2,
    memory_mb: MemoryMb = 1024,
    metric: Annotated[
        str,
        typer.Option(
            "--metric", help="Regular expression with a group `value`: a number the command prints."
        ),
    ] = "",
    unit: Annotated[str, typer.Option("--unit", help="Of --metric.")] = "",
    better: Annotated[
        str, typer.Option("--better", help="Of --metric: higher or lower.")
    ] = "higher",
    name: Annotated[
        str, typer.Option("--name", help="Of the trial; default: its first file's.")
    ] = "",
    repeats: Annotated[
        str, typer.Option("--repeats", metavar="NUMBER", help="Untraced runs of each kernel.")
    ] = "",
    window_ms: Annotated[
        int, typer.Option("--window-ms", min=1, help="Recorded of each lane from its start.")
    ] = 1000,
    whole: Annotated[bool, typer.Option("--whole", help="Record all.")] = False,
    no_trace: Annotated[bool, typer.Option("--no-trace", help="Record nothing.")] = False,
    no_measure: Annotated[bool, typer.Option("--no-measure", help="Measure nothing.")] = False,
    save_lesson: Annotated[
        Path | None,
        typer.Option("--save-lesson", help="Write a lesson from it: lessons/06-my-question."),
    ] = None,
    worse_than: Annotated[
        float | None,
        typer.Option(
            "--worse-than",
            metavar="PERCENT",
            min=0,
            help="Exit with 1 if the headline of a kernel is worse than the first one's by more, "
            "0 if not, 125 if that cannot be said, 255 if the call is not usable: for "
            "`git bisect run`.",
        ),
    ] = None,
    result: Annotated[
        Path | None,
        typer.Option("--result", help="File for the numbers in the form of KernelCI's database."),
    ] = None,
    json: Json = False,
) -> int:
    """Set your patch beside stock, on any command: build, record, measure, without a lesson."""
    from duet.cli.shell import typed_line
    from duet.cli.trying import How, better_name, clock_name, try_kernels
    from duet.trials.ask import Asked

    asked = Asked(
        run=run,
        patches=tuple(patches or ()),
        commits=tuple(commits or ()),
        repository=repo,
        base=base,
        trees=tuple(tree or ()),
        kernels=tuple(kernel or ()),
        vmlinux=tuple(vmlinux or ()),
        shared=tuple(with_ or ()),
        config=tuple(config or ()),
        trace=tuple(trace or ()),
        functions=tuple(fn or ()),
        watch=tuple(watch or ()),
        xray=tuple(xray or ()),
        comm=comm,
        clock=clock_name(clock),
        times=times,
        timeout=timeout,
        vcpus=vcpus,
        memory_mb=memory_mb,
        name=name,
        metric=metric,
        unit=unit,
        better=better_name(better),
        given=typed_line(),
    )
    window = None if whole else window_ms
    how = How(not no_trace, not no_measure, window, repeats, save_lesson, worse_than, json, result)
    return try_kernels(asked, how)
