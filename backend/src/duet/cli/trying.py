# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet try`: two kernels and a command, without a lesson."""

from __future__ import annotations

from duet.base.errors import InputError
from duet.base.settings import EXTRA_LESSONS
from duet.cli.measure import check_output, errors_of, write
from duet.cli.output import emit, fail, note
from duet.cli.results.trying import TryResult
from duet.cli.trial_run import How, run_trial
from duet.kernels.image import SameKernel
from duet.lessons.schema import ClockName
from duet.measure import Report
from duet.measure.compare import Judgement, judge
from duet.measure.reports import kcidb, render
from duet.trials.ask import Asked
from duet.trials.spec import Better


def try_kernels(asked: Asked, how: How) -> int:
    """See `duet try --help`."""
    check_output(how.result)
    if how.result is not None and not how.measure:
        raise InputError(
            "--result wants numbers, but --no-measure leaves them out.",
            remedy="Leave one of them out.",
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
        unwritten = write(kcidb.text(report, how.worse_than), how.result)
    if how.as_json:
        emit(tried.result)
    else:
        print_result(tried.result, report)
    if how.worse_than is not None:
        return _judged(report, how.worse_than)
    return max([unwritten, *(error.exit_code for error in errors_of(report))]) if report else 0


def _judged(report: Report | None, percent: float) -> Judgement:
    """Whether a kernel is worse than the first, by the headline."""
    if report is None or errors_of(report):
        note("not judged: not every kernel was measured")
        return Judgement.UNKNOWN
    table = report.tables[0]
    judgement, sentence = judge(table, table.series[0].metric, percent)
    note(f"{judgement.name.lower()}: {sentence}")
    return judgement


def print_result(result: TryResult, report: Report | None) -> None:
    """For people: what was tried, the report, and what to do next."""
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
        print(f"to trace, too: --trace '{argument}'")
    print()
    if report is not None:
        print(render(report, "mail"))
    if result.recording is not None:
        print(f"Recorded into {result.recording}.")
    if result.saved is not None:
        print(f"Saved as a lesson in {result.saved}; `./duet lint` says what it still lacks.")
    if result.check is not None:
        print("To see whether it is correct, too, under KASAN and lockdep, with fitting stress:")
        print(f"  {result.check}")
    else:
        print("Kernels that were built elsewhere are not checked: name their source by --tree.")
    print("To see it in a browser, or to use any other verb on it:")
    print(f"  {EXTRA_LESSONS}={result.folder} ./duet serve")
    print(f"  {EXTRA_LESSONS}={result.folder} ./duet measure {result.lesson}")


def clock_name(text: str) -> ClockName:
    """wall or count.

    Raises:
        InputError: another word.
    """
    known: dict[str, ClockName] = {"wall": "wall", "count": "count"}
    if text not in known:
        raise _not_one_of("--clock", "wall or count", text)
    return known[text]


def better_name(text: str) -> Better:
    """higher or lower.

    Raises:
        InputError: another word.
    """
    known: dict[str, Better] = {"higher": "higher", "lower": "lower"}
    if text not in known:
        raise _not_one_of("--better", "higher or lower", text)
    return known[text]


def _not_one_of(option: str, words: str, text: str) -> InputError:
    return InputError(
        f"{option} wants {words}, but '{text:.20}' came.", remedy="Choose one of them."
    )
