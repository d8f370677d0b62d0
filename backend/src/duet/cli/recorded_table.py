# SPDX-License-Identifier: GPL-2.0-or-later
"""Stores a measured table with a lesson's recordings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from duet.base import files as durable
from duet.base.errors import InfraError
from duet.cli.output import note
from duet.cli.run import refuse_nothing
from duet.host.judging import command_line, measure_plan, measured_message
from duet.kernels import KernelSettings
from duet.measure import Report
from duet.measure.curves import curve_metrics
from duet.measure.plan import FIRST_SEED, PERTURBED, default_repeats, headline
from duet.messages import Measured
from duet.runs.measure import prepare_measurement
from duet.server.recorded_items import made
from duet.server.recordings import MEASURED, read_tables
from duet.session import RunSpec


async def record_table(spec: RunSpec, kernels: KernelSettings) -> Path:
    """Measure, and store the table with the recordings, replacing an older table of the same run.

    On the wall clock there are five runs per arm. On the count clock there are two identical runs
    and three perturbed starts per arm, at 1 ns per instruction.

    Raises:
        DuetError: a kernel is not built, an arm failed, or the file cannot be written.
    """
    repeats = default_repeats(spec.clock)
    perturbed = PERTURBED if spec.clock == "count" else 0
    usual = measure_plan(spec, repeats)
    more = curve_metrics(spec.folder, spec.workload, spec.clock, spec.params).values()
    metrics = frozenset({*(usual.metrics or ()), *more})
    plan = replace(usual, perturbed=perturbed, metrics=metrics)
    measuring = await prepare_measurement(
        plan, kernels, command_line(spec, repeats), lambda step: note(str(step))
    )
    report = await measuring.run()
    refuse_nothing(report)
    errors = [error for table in report.tables for error in table.errors.values()]
    if errors:
        raise errors[0]
    return store_table(spec, report, perturbed)


def store_table(spec: RunSpec, report: Report, perturbed: int, on: str = "") -> Path:
    """Store the tables of a report, each in place of an older table of the same run and host.

    The headline metric has a table, unless the lesson says in `no_table` why there is no such
    table. Each curve of another metric has a table, too, if the curve has a point here.

    Args:
        perturbed: number of perturbed starts on the count clock, in addition to the identical runs.
        on: name of the other host that measured the report; "" for this host.
    """
    seeds = range(FIRST_SEED + 1, FIRST_SEED + 1 + perturbed)
    path = spec.folder.folder / "recorded" / MEASURED
    usual = {name: param.default for name, param in spec.folder.lesson.params.items()}
    for curve, metric in stored_metrics(spec, report).items():
        message = measured_message(spec, report, None, "recorded", metric)
        more = {"made": made(report, seeds), "on": on, "curve": curve}
        if spec.folder.lesson.made_by:  # a trial, which only this machine has
            more["command"] = report.command
        _put(path, message.model_copy(update=more), usual)
    return path


def stored_metrics(spec: RunSpec, report: Report) -> dict[str, str]:
    """Return curve -> metric of the tables that store_table() stores. The headline's key is ""."""
    measured = {series.metric for series in report.tables[0].series}
    wanted = curve_metrics(spec.folder, spec.workload, spec.clock, spec.params)
    if not spec.folder.lesson.no_table:
        wanted[""] = headline(spec.folder.lesson, spec.workload, spec.clock)
    return {curve: metric for curve, metric in wanted.items() if metric in measured}


def _put(path: Path, table: Measured, usual: Mapping[str, int]) -> None:
    """Write the table into the file. It replaces an older table of the same run, if any.

    Args:
        usual: the knobs' defaults in the lesson, for knobs that an older table does not have.
    """

    def run_of(one: Measured) -> tuple[object, ...]:
        params = {name: one.params.get(name, usual[name]) for name in table.params}
        return (one.on, one.clock, params, one.workload, one.curve)

    tables = read_tables(path)
    place = next((i for i, one in enumerate(tables) if run_of(one) == run_of(table)), len(tables))
    tables[place : place + 1] = [table]
    trees = [one.model_dump(mode="json", exclude={"type"}) for one in tables]
    text = json.dumps({"tables": trees}, indent=1, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        durable.write(path, text.encode())
    except OSError as error:
        raise InfraError(
            f"the table could not be written to {path.name}: {error.strerror or error}.",
            remedy="Free disk space, and measure again.",
        ) from error
