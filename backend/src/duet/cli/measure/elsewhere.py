# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure LESSON --from RESULT`: reports of what a pack measured on another host."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from duet.base.errors import InputError
from duet.cli.measure.run import check_format, check_output, write_report
from duet.cli.output import note, parse_settings
from duet.measure.compare import prepare
from duet.measure.elsewhere import HostResult, read_result
from duet.measure.model import Report
from duet.measure.reports import render

Chosen = tuple[str, str, tuple[str, ...]]
"""Workload, clock and knobs of the tables that are wanted; "" and () are all."""


def report_results(
    paths: Sequence[Path], lesson: str | None, chosen: Chosen, how: str, output: Path | None
) -> int:
    """Write a report for each table of a lesson; return the exit code.

    Raises:
        InputError: a result is damaged, or has no such table.
    """
    check_format(how)
    check_output(output)
    if how == "sweep":
        raise InputError(
            "--format sweep shows a swept knob, and a pack sweeps none.",
            remedy="Choose another --format.",
        )
    prepare()
    results = [read_result(path) for path in paths]
    for result in results:
        for job, why in result.skipped:
            note(f"{result.path.name} has no table of {job.lesson}, {job.workload}: {why}.")
    found = [
        report
        for result in results
        for slug in _lessons(result, lesson)
        for report in result.reports(slug)
        if _is_chosen(report, chosen)
    ]
    if not found or (how != "mail" and len(found) > 1):
        conditions = "; ".join(dict.fromkeys(_words(report) for report in found)) or "none"
        raise InputError(
            f"wanted one table for --format {how}, but the results have {len(found)} "
            f"({conditions:.300})."
            if found
            else "the results have no such table.",
            remedy="Choose with LESSON, --workload, --clock and --set.",
        )
    return write_report("\n\n".join(render(report, how) for report in found), output)


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
