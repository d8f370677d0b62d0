# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet bisect`: searches a range of commits for the commit that made a number worse."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base import files as durable
from duet.base.errors import DuetError, InfraError, InputError, KernelError
from duet.base.settings import trials_dir
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import document, emit, note
from duet.cli.trial import (
    Config,
    MemoryMb,
    RunOption,
    Timeout,
    TimesInARow,
    Vcpus,
    better_name,
    clock_name,
)

if TYPE_CHECKING:
    from duet.cli.trial_run import TrialOptions, TrialOutcome
    from duet.trials.ask import Asked
    from duet.trials.bisect import Commit, Found, Measured, Question, Step


@dataclass(frozen=True, slots=True)
class BisectCommit:
    commit: str
    subject: str
    author: str
    date: str
    parents: Sequence[str]


@dataclass(frozen=True, slots=True)
class BisectStep:
    """One commit that was measured or skipped."""

    step: int = key("0: the bad commit")
    commit: str = key()
    subject: str = key()
    answer: str = key("good, bad or skip")
    worse_percent: float | None = key()
    good_value: float | None = key()
    value: float | None = key()
    unit: str = key()
    why: str = key("sentence")
    measured_before: bool = key()


@dataclass(frozen=True, slots=True)
class BisectResult:
    name: str
    good: str
    bad: str
    command: str
    metric: str
    clock: str
    worse_than: float = key("per cent")
    culprit: BisectCommit | None = key("null: only skipped commits are left")
    parent: str | None = key()
    candidates: Sequence[str] = key("the culprit is one of these")
    steps: Sequence[BisectStep] = key()
    report: str = key("path")
    trial: str | None = key("command line that compares parent and culprit")
    trial_folder: str | None = key("value for DUET_LESSONS; null with --no-trial")


KEYS = keys_text(BisectResult, "Exit code 0: found a culprit; 125: only skipped commits are left.")


def bisect(
    tree: Annotated[Path, typer.Option("--tree", help="Repository; its files stay unchanged.")],
    good: Annotated[str, typer.Option("--good", metavar="COMMIT", help="A fast commit.")],
    bad: Annotated[str, typer.Option("--bad", metavar="COMMIT", help="A slow commit.")],
    run: RunOption = "",
    config: Config = None,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            help="elapsed_ms, user_ms, system_ms, headline, or a regular expression with a group "
            "`value`; default: the headline of `duet try`.",
        ),
    ] = "",
    unit: Annotated[str, typer.Option("--unit", help="Unit of such an expression.")] = "",
    better: Annotated[
        str,
        typer.Option(
            "--better", help="Which values of the expression are better: higher or lower."
        ),
    ] = "higher",
    worse_than: Annotated[
        float | None,
        typer.Option(
            "--worse-than",
            metavar="PERCENT",
            min=0,
            help="A commit worse than the good one by more than this is bad; default: half of the "
            "difference between good and bad.",
        ),
    ] = None,
    clock: Annotated[str, typer.Option("--clock", help="count or wall.")] = "count",
    times: TimesInARow = 1,
    timeout: Timeout = 180,
    vcpus: Vcpus = 2,
    memory_mb: MemoryMb = 1024,
    repeats: Annotated[
        str, typer.Option("--repeats", metavar="NUMBER", help="Runs of each kernel.")
    ] = "",
    name: Annotated[
        str, typer.Option("--name", help="Name of the bisection; default: the repository's.")
    ] = "",
    no_trial: Annotated[
        bool, typer.Option("--no-trial", help="Do not compare the culprit with its parent.")
    ] = False,
    abort: Annotated[
        bool, typer.Option("--abort", help="Forget what was measured, instead of resuming.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Find the commit that made a number worse. After an interruption, run the same command again
    to resume.
    """
    from duet.trials.ask import Asked
    from duet.trials.write import SAMPLED

    named = metric in ("", *METRICS)
    if not named and "(?P<value>" not in metric:
        raise InputError(
            "--metric needs a name or a regular expression with a group named `value`, but "
            f"got '{metric:.60}'.",
            remedy=f"Write one of {', '.join(METRICS)}, or 'rate=(?P<value>[0-9.]+)'.",
        )
    if metric in SAMPLED and clock_name(clock) == "count":
        raise InputError(
            f"{metric} is sampled at the kernel's tick, so identical runs on the count "
            "clock prove nothing "
            "about it.",
            remedy="Use --metric elapsed_ms, or add --clock wall.",
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
    what = Bisect(
        tree, good, bad, asked, metric if named else "", worse_than, repeats, not no_trial, as_json
    )
    return forget(what) if abort else find_culprit(what)


def measured_of(tried: TrialOutcome, metric: str) -> tuple[Measured, str]:
    """Compare the second kernel of a trial with the first kernel.

    Args:
        metric: the metric's name; "" means the headline metric.

    Returns:
        The measurement, and the title of the metric.

    Raises:
        DuetError: a kernel failed. If the first kernel failed, the error is not a KernelError,
            because this failure says nothing about the measured commit.
    """
    from duet.measure.compare import worse_by
    from duet.trials.bisect import Measured

    if tried.report is None:
        raise InfraError("nothing was measured.", remedy="Run the same command again.")
    table = tried.report.tables[0]
    first, second = (arm.name for arm in tried.trial.arms)
    if (error := table.errors.get(first)) is not None:
        if isinstance(error, KernelError):
            raise InputError(
                f"the good commit does not run: {error.sentence}",
                remedy="Choose another good commit, or another command.",
                detail=error.detail,
            )
        raise error
    if (error := table.errors.get(second)) is not None:
        raise error
    name = metric or table.series[0].metric
    series = [table.of(name, arm) for arm in (first, second)]
    worse, why = worse_by(table, name, (first, second))
    if series[0] is None or series[1] is None:
        raise InputError(f"{why}.", remedy="Choose a measured metric with --metric.")
    values = [one.figure if one else None for one in series]
    return Measured(worse, why, values[0], values[1], series[0].unit), series[0].title


def bisect_result(asks: Question, found: Found, path: Path) -> BisectResult:
    """Return the result of a finished search as a document.

    The trial that compares the culprit with its parent runs later.
    """
    culprit = found.culprit
    named = None
    if culprit is not None:
        parents = list(culprit.parents)
        named = BisectCommit(culprit.id, culprit.subject, culprit.author, culprit.date, parents)
    return BisectResult(
        name=asks.name,
        good=asks.good.id,
        bad=asks.bad.id,
        command=asks.command,
        metric=asks.metric,
        clock=asks.clock,
        worse_than=found.limit,
        culprit=named,
        parent=culprit.parents[0] if culprit and culprit.parents else None,
        candidates=[one.id for one in found.candidates],
        steps=[_step(step) for step in found.steps],
        report=str(path),
        trial=asks.trial or None,
        trial_folder=None,
    )


def _step(step: Step) -> BisectStep:
    one, commit = step.measured, step.commit
    return BisectStep(
        step.number,
        commit.id,
        commit.subject,
        step.answer,
        one.worse,
        one.good,
        one.value,
        one.unit,
        one.why,
        step.again,
    )


FOLDER = "bisect.d"
"""Folder next to the trials' folders. A trial's name has no dot, so no trial can use this name."""
METRICS = ("elapsed_ms", "user_ms", "system_ms", "headline")
"""Metrics that every trial has. `headline` is the number that the command prints."""
ENDINGS = ("-one", "-two")
"""Suffixes of the trials' names: the first for the trial of a step, the second for the trial of the
parent against the culprit.
"""


@dataclass(frozen=True, slots=True)
class Bisect:
    """The options of a bisection.

    Args:
        asked: the options of a trial, without kernels.
        metric: one of METRICS, or "" for the trial's headline metric. A regular expression is
            stored in `asked` instead.
        trial: whether to compare the culprit with its parent at the end.
    """

    tree: Path
    good: str
    bad: str
    asked: Asked
    metric: str = ""
    worse_than: float | None = None
    repeats: str = ""
    trial: bool = True
    as_json: bool = False


def find_culprit(
    what: Bisect, run: Callable[[Asked, TrialOptions], TrialOutcome] | None = None
) -> int:
    """Search, print the culprit, and compare it with its parent.

    Args:
        run: runs a trial; default: run_trial.

    Returns:
        0 if a culprit was found, 125 if only skipped commits are left.
    """
    from duet.cli.trial_run import TrialOptions, run_trial
    from duet.kernels.image import SameKernel
    from duet.trials.ask import try_line
    from duet.trials.bisect import (
        History,
        Measured,
        Question,
        Search,
        StoredMeasurements,
        files_digest,
        find_commit,
    )
    from duet.trials.spec import MOST_NAME, plain_name

    run = run or run_trial
    tree = what.tree.expanduser().resolve()
    good, bad = find_commit(tree, what.good), find_commit(tree, what.bad)
    folder = bisect_folder(what)
    asked = replace(what.asked, name=plain_name(folder.name)[: MOST_NAME - len(ENDINGS[0])])
    question = {**_plain(asked), "tree": str(tree), "good": good.id, "metric": what.metric}
    question |= {"repeats": what.repeats, "files": files_digest(asked.run)}
    memory = StoredMeasurements(folder, question)
    if memory.known:
        note(f"resuming: {len(memory.known)} commits were measured before (--abort forgets them)")
    titles: list[str] = []

    def measure(commit: Commit) -> Measured:
        trees = (_at(tree, good), _at(tree, commit))
        step = replace(asked, trees=trees, name=asked.name + ENDINGS[0])
        try:
            tried = run(step, TrialOptions(record=False, repeats=what.repeats))
        except SameKernel as error:  # a kernel cannot be worse than itself
            return Measured(0.0, error.sentence)
        measured, title = measured_of(tried, what.metric)
        titles[:] = [title]
        return measured

    with History(tree, folder / "tree") as history:
        search = Search(history, measure, memory.known, memory.store, note)
        try:
            found = search.run(good, bad, what.worse_than)
        except BaseException:
            note(f"{len(memory.known)} commits are measured; run the same command to resume")
            raise
    shutil.rmtree(trials_dir() / (asked.name + ENDINGS[0]), ignore_errors=True)
    title = titles[0] if titles else what.metric or what.asked.metric or "headline"
    asks = Question(folder.name, good, bad, asked.run, title, asked.clock)
    lanes: Asked | None = None
    if found.culprit is not None and found.culprit.parents:
        parent = find_commit(tree, found.culprit.parents[0])
        trees = (_at(tree, parent), _at(tree, found.culprit))
        lanes = replace(asked, trees=trees, name=asked.name + ENDINGS[1])
        asks = replace(asks, trial=try_line(lanes))
    return _finish(what, folder, asks, found, lanes, run)


def _finish(
    what: Bisect,
    folder: Path,
    asks: Question,
    found: Found,
    lanes: Asked | None,
    run: Callable[[Asked, TrialOptions], TrialOutcome],
) -> int:
    """Write the report, then run the trial that compares the culprit with its parent."""
    from duet.cli.trial_run import TrialOptions
    from duet.measure.compare import Judgement
    from duet.trials.bisect import markdown

    path = folder / "report.md"
    text = markdown(asks, found)
    result = bisect_result(asks, found, path)
    durable.write(path, text.encode())
    if lanes is not None and what.trial:
        note("comparing the culprit with its parent")
        try:
            tried = run(lanes, TrialOptions(repeats=what.repeats))
            result = replace(result, trial_folder=tried.result.folder)
        except DuetError as error:  # this does not change the search's result
            note(f"warning: culprit and parent could not be compared: {error.sentence}")
    durable.write(folder / "report.json", document(result).encode())
    if what.as_json:
        emit(result)
    else:
        print(text)
        print(f"Report: {path}, and report.json next to it.")
        if result.trial_folder:
            print("To see both kernels in a browser:")
            print(f"  DUET_LESSONS={result.trial_folder} ./duet serve")
    return Judgement.GOOD if found.culprit is not None else Judgement.UNKNOWN


def forget(what: Bisect) -> int:
    """Delete the measurements, and the work tree that a killed search left behind."""
    from duet.trials.bisect import History

    folder = bisect_folder(what)
    History(what.tree.expanduser().resolve(), folder / "tree").remove()
    there = folder.is_dir()
    shutil.rmtree(folder, ignore_errors=True)
    note(f"removed {folder}" if there else f"there is no bisection {folder.name}")
    return 0


def bisect_folder(what: Bisect) -> Path:
    from duet.trials.spec import plain_name

    name = what.asked.name or f"bisect-{what.tree.expanduser().resolve().name}"
    return trials_dir() / FOLDER / plain_name(name)


def _at(tree: Path, commit: Commit) -> Path:
    return Path(f"{tree}@{commit.short}")


def _plain(asked: Asked) -> dict[str, object]:
    """Return the options that affect the measured numbers, as strings to store in a file."""
    return {name: str(value) for name, value in asdict(asked).items()}
