# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet try`: compares kernels on a command, without a lesson."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InputError
from duet.base.settings import EXTRA_LESSONS
from duet.cli.keys import keys_text
from duet.cli.options import Json, typed_line
from duet.cli.output import emit, fail, note
from duet.cli.trial import (
    Commits,
    Config,
    MemoryMb,
    Patches,
    Paths,
    Repo,
    RunOption,
    Timeout,
    TimesInARow,
    TrialBase,
    TryResult,
    Vcpus,
    With,
    Words,
    better_name,
    clock_name,
)

if TYPE_CHECKING:
    from duet.cli.trial_run import TrialOptions
    from duet.measure import Report
    from duet.measure.compare import Judgement
    from duet.trials.ask import Asked

KEYS = keys_text(TryResult)


def try_(
    patches: Patches = None,
    run: RunOption = "",
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
            "--kernel", help="A kernel built elsewhere: its bzImage, or the build folder."
        ),
    ] = None,
    vmlinux: Annotated[
        Paths,
        typer.Option(
            "--vmlinux", help="vmlinux of each --kernel; default: that in the build folder."
        ),
    ] = None,
    with_: With = None,
    config: Config = None,
    commits: Commits = None,
    repo: Repo = Path(),
    trace: Annotated[
        Words,
        typer.Option(
            "--trace",
            help="Events, separated by commas: 'sched:*', 'rcu:rcu_grace_period', "
            "'probe:f($arg1)'.",
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
            help="Functions, separated by commas, whose loads and stores are counted on each "
            "kernel; a call of the first is an operation.",
        ),
    ] = None,
    xray: Annotated[
        Words,
        typer.Option(
            "--xray",
            help="Global variables, separated by commas, to read while the command runs: "
            "nr_files,rcu_state.gp_seq; default: those in changed lines.",
        ),
    ] = None,
    comm: Annotated[
        str, typer.Option("--comm", help="Names of the tasks to draw, with * and ?.")
    ] = "",
    clock: Annotated[str, typer.Option("--clock", help="wall or count.")] = "wall",
    times: TimesInARow = 1,
    timeout: Timeout = 180,
    vcpus: Vcpus = 2,
    memory_mb: MemoryMb = 1024,
    metric: Annotated[
        str,
        typer.Option(
            "--metric", help="Regular expression with a group `value`: a number the command prints."
        ),
    ] = "",
    unit: Annotated[str, typer.Option("--unit", help="Unit of --metric.")] = "",
    better: Annotated[
        str, typer.Option("--better", help="Which values of --metric are better: higher or lower.")
    ] = "higher",
    name: Annotated[
        str, typer.Option("--name", help="Name of the trial; default: that of its first file.")
    ] = "",
    repeats: Annotated[
        str, typer.Option("--repeats", metavar="NUMBER", help="Untraced runs of each kernel.")
    ] = "",
    window_ms: Annotated[
        int,
        typer.Option("--window-ms", min=1, help="Record this much of each lane from its start."),
    ] = 1000,
    whole: Annotated[
        bool, typer.Option("--whole", help="Record everything, and ignore --window-ms.")
    ] = False,
    no_trace: Annotated[bool, typer.Option("--no-trace", help="Record nothing.")] = False,
    no_measure: Annotated[bool, typer.Option("--no-measure", help="Measure nothing.")] = False,
    save_lesson: Annotated[
        Path | None,
        typer.Option("--save-lesson", help="Turn it into a lesson, e.g. lessons/06-my-question."),
    ] = None,
    worse_than: Annotated[
        float | None,
        typer.Option(
            "--worse-than",
            metavar="PERCENT",
            min=0,
            help="For `git bisect run`: exit with 1 if a kernel's headline is worse than the "
            "first kernel's by more than this, 0 if not, 125 if undecided, 255 if the command line "
            "is not usable.",
        ),
    ] = None,
    result: Annotated[
        Path | None,
        typer.Option("--result", help="Write the numbers to this file, in KernelCI's format."),
    ] = None,
    verbatim: Annotated[
        bool, typer.Option("--verbatim", help="Print all lines of the command in the report.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Compare your patch with the stock kernel on any command. Build, record and measure,
    without a lesson.
    """
    from duet.cli.trial_run import TrialOptions
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
    how = TrialOptions(
        not no_trace,
        not no_measure,
        window,
        repeats,
        save_lesson,
        worse_than,
        as_json,
        result,
        verbatim,
    )
    return try_kernels(asked, how)


def try_kernels(asked: Asked, how: TrialOptions) -> int:
    """Run a trial and print the result; return the exit code."""
    from duet.cli.measure.run import check_output, errors_of, write_report
    from duet.cli.trial_run import run_trial
    from duet.kernels.image import SameKernel
    from duet.measure.compare import Judgement
    from duet.measure.reports import kcidb

    check_output(how.result)
    if how.result is not None and not how.measure:
        raise InputError(
            "--result needs numbers, but --no-measure leaves them out.",
            remedy="Leave out --result or --no-measure.",
        )
    try:
        tried = run_trial(asked, how)
    except SameKernel as error:
        if how.worse_than is None:
            raise
        fail(error, how.as_json)
        note("good: a kernel is not worse than itself")
        return Judgement.GOOD
    report = tried.report
    unwritten = 0
    if how.result is not None and report is not None:
        unwritten = write_report(kcidb.text(report, how.worse_than), how.result)
    if how.as_json:
        emit(tried.result)
    else:
        print_result(tried.result, report, "mail-verbatim" if how.verbatim else "mail")
    if how.worse_than is not None:
        return _judged(report, how.worse_than)
    return max([unwritten, *(error.exit_code for error in errors_of(report))]) if report else 0


def _judged(report: Report | None, percent: float) -> Judgement:
    """Judge by the headline metric whether a kernel is worse than the first kernel."""
    from duet.cli.measure.run import errors_of
    from duet.measure.compare import Judgement, judge

    if report is None or errors_of(report):
        note("not judged: not every kernel was measured")
        return Judgement.UNKNOWN
    table = report.tables[0]
    judgement, sentence = judge(table, table.series[0].metric, percent)
    note(f"{judgement.name.lower()}: {sentence}")
    return judgement


def print_result(result: TryResult, report: Report | None, how: str) -> None:
    """Print for people what was tried, the report in the given format, and what to do next."""
    from duet.measure.reports import render

    print(f"{result.trial}: {', '.join(arm.arm for arm in result.arms)}")
    print(f"command: {result.command}")
    print(f"functions: {', '.join(result.functions) or 'none'}")
    if result.events:
        print(f"events: {', '.join(result.events)}")
    if result.fields:
        print(f"fields: {', '.join(result.fields)}")
    if result.variables:
        print(f"x-ray: {', '.join(result.variables)}")
    for sentence in result.left_out:
        print(f"left out: {sentence}")
    for argument in result.proposed:
        print(f"more to trace: --trace '{argument}'")
    print()
    if report is not None:
        print(render(report, how))
    if result.recording is not None:
        print(f"Recorded into {result.recording}.")
    if result.saved is not None:
        print(f"Saved as a lesson in {result.saved}; `./duet lint` says what is missing.")
    if result.check is not None:
        print("To test it under KASAN and lockdep, with stress for the changed files:")
        print(f"  {result.check}")
    else:
        print("Kernels built elsewhere are not checked; give their source with --tree.")
    print("To see it in a browser, or to use any other verb on it:")
    print(f"  {EXTRA_LESSONS}={result.folder} ./duet serve")
    print(f"  {EXTRA_LESSONS}={result.folder} ./duet measure {result.lesson}")
