# SPDX-License-Identifier: GPL-2.0-or-later
"""From a trial to what a bisection measured, and from a bisection to its document."""

from __future__ import annotations

from pathlib import Path

from duet.base.errors import InfraError, InputError, KernelError
from duet.cli.results.bisecting import BisectCommit, BisectResult, BisectStep
from duet.cli.trial_run import Tried
from duet.measure.compare import worse_by
from duet.trials.bisect import Found, Measured, Question, Step


def measured_of(tried: Tried, metric: str) -> tuple[Measured, str]:
    """The second kernel of a trial beside its first.

    Args:
        metric: its name; "": the headline.

    Returns:
        What was measured, and the title of the metric.

    Raises:
        DuetError: what stopped a kernel; of the first kernel it is no KernelError, since that is
            no matter of the commit that is measured.
    """
    if tried.report is None:
        raise InfraError("nothing was measured.", remedy="Call again.")
    table = tried.report.tables[0]
    first, second = (arm.name for arm in tried.trial.arms)
    if (error := table.errors.get(first)) is not None:
        if isinstance(error, KernelError):
            raise InputError(
                f"the good commit does not run: {error.sentence}",
                remedy="Name another good commit, or another command.",
                detail=error.detail,
            )
        raise error
    if (error := table.errors.get(second)) is not None:
        raise error
    name = metric or table.series[0].metric
    series = [table.of(name, arm) for arm in (first, second)]
    worse, why = worse_by(table, name, (first, second))
    if series[0] is None or series[1] is None:
        raise InputError(f"{why}.", remedy="Name one of these with --metric.")
    values = [one.figure if one else None for one in series]
    return Measured(worse, why, values[0], values[1], series[0].unit), series[0].title


def bisect_result(asks: Question, found: Found, path: Path) -> BisectResult:
    """The document of a bisection that is over; its trial is still to be run."""
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
