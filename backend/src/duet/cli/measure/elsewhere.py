# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure LESSON --from RESULT`: reports what a pack measured on another host."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from duet.base.errors import InputError
from duet.cli.measure.run import check_format, check_output, write_report
from duet.cli.microscope.native import native_result, save, text
from duet.cli.output import note, parse_settings
from duet.cli.recorded_table import store_table, stored_metrics
from duet.lessons.load import find
from duet.measure.compare import prepare
from duet.measure.elsewhere import HostResult, read_result
from duet.measure.model import Report
from duet.measure.replica import ReplicaRuns
from duet.measure.reports import render
from duet.session import RunSpec

Chosen = tuple[str, str, tuple[str, ...]]
"""Workload, clock and knobs of the wanted tables. "" and () select all tables."""


def report_results(
    paths: Sequence[Path], lesson: str | None, chosen: Chosen, how: str, output: Path | None
) -> int:
    """Write a report for each of a lesson's tables and replicas. Return the exit code.

    Raises:
        InputError: a result is damaged, or does not have the wanted table.
    """
    check_format(how)
    check_output(output)
    if how == "sweep":
        raise InputError(
            "--format sweep shows a swept knob, but a pack sweeps no knob.",
            remedy="Choose another --format.",
        )
    results = _results(paths)
    found = [report for _, report in _found(results, lesson, chosen)]
    replicas = _replicas(results, lesson, chosen) if how == "mail" else []
    if not found + replicas or (how != "mail" and len(found) > 1):
        conditions = "; ".join(dict.fromkeys(_words(report) for report in found)) or "none"
        raise InputError(
            f"wanted one table for --format {how}, but the results have {len(found)} "
            f"({conditions:.300})."
            if found
            else "wanted a table for the chosen lesson, workload, clock and knobs, but the results "
            "have none.",
            remedy="Choose a table with LESSON, --workload, --clock and --set.",
        )
    texts = [render(report, how) for report in found]
    texts += ["\n".join(text(native_result(runs))) for runs in replicas]
    return write_report("\n\n".join(texts), output)


def record_results(paths: Sequence[Path], lesson: str | None, chosen: Chosen) -> int:
    """Store the results' tables with the lessons' recordings, for the page. Return the exit code.

    Each table has the headline metric for its condition, or the metric of a curve. It is stored
    under the name of its host, and replaces an older table for the same condition and host. A
    native replica replaces the lesson's older native replica.

    Raises:
        InputError: a result is damaged, or does not have the wanted table.
        InfraError: a file cannot be written.
    """
    results = _results(paths)
    found = [
        (result, report)
        for result, report in _found(results, lesson, chosen)
        if stored_metrics(_spec(report), report)
    ]
    replicas = _replicas(results, lesson, chosen)
    if not found + replicas:
        raise InputError(
            "wanted a table that a page shows for the chosen lesson, workload, clock and knobs, "
            "but the results have none.",
            remedy="Choose a table with LESSON, --workload, --clock and --set.",
        )
    stored = dict.fromkeys(_record(result, report) for result, report in found)
    for path in stored:
        note(f"{path.parent.parent.name}: tables of another host are in recorded/{path.name}")
    for runs in replicas:
        note(f"saved for the page: {save(find(runs.lesson), native_result(runs))}")
    return 0


def _spec(report: Report) -> RunSpec:
    condition = report.tables[0].condition
    arms = tuple(arm.name for arm in report.arms)
    return RunSpec(
        find(report.lesson), arms, condition.workload, dict(condition.params), condition.clock
    )


def _record(result: HostResult, report: Report) -> Path:
    perturbed = max(len(one.perturbed) for one in report.tables[0].series)
    return store_table(_spec(report), report, perturbed, on=result.first.name)


def _results(paths: Sequence[Path]) -> list[HostResult]:
    """Read the results, and print what they lack.

    Raises:
        BadHostResult: a result is damaged.
    """
    prepare()
    results = [read_result(path) for path in paths]
    for result in results:
        for job, why in result.skipped:
            note(f"{result.path.name} has no table of {job.lesson}, {job.workload}: {why}.")
        for slug, why in result.no_replica.items():
            note(f"{result.path.name} has no native replica of {slug}: {why}")
    return results


def _found(
    results: Sequence[HostResult], lesson: str | None, chosen: Chosen
) -> list[tuple[HostResult, Report]]:
    """Return the chosen tables of the results."""
    return [
        (result, report)
        for result in results
        for slug in _lessons(result, lesson)
        for report in result.reports(slug)
        if _is_chosen(report, chosen)
    ]


def _replicas(
    results: Sequence[HostResult], lesson: str | None, chosen: Chosen
) -> list[ReplicaRuns]:
    """Return the native replicas of the results.

    If a workload, a clock or a knob was chosen, return none, because replicas run without guests.
    """
    if chosen != ("", "", ()):
        return []
    every = [runs for result in results for runs in result.replicas.values()]
    return [runs for runs in every if lesson in (None, runs.lesson)]


def _lessons(result: HostResult, lesson: str | None) -> list[str]:
    every = dict.fromkeys(job.lesson for job, _ in result.tables)
    return [slug for slug in every if lesson is None or slug == lesson]


def _is_chosen(report: Report, chosen: Chosen) -> bool:
    workload, clock, settings = chosen
    condition = report.tables[0].condition
    wanted = parse_settings(list(settings))
    return (
        workload in ("", condition.workload)
        and clock in ("", condition.clock)
        and all(condition.params.get(name) == value for name, value in wanted.items())
    )


def _words(report: Report) -> str:
    condition = report.tables[0].condition
    knobs = " ".join(f"{name}={value}" for name, value in condition.params.items())
    return f"{report.lesson} {condition.workload} {condition.clock} {knobs}"
