# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures a lesson and writes the report."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from duet.base.clock import format_duration
from duet.base.errors import DuetError, InfraError, InputError
from duet.cli.arguments import link_layouts
from duet.cli.building import build_optional
from duet.cli.measure.args import MeasureArgs, command_of, read_plan
from duet.cli.measure.pooling import Pooling
from duet.cli.measuring import INTERRUPTED, ProgressBar, interrupted_exit_code, interruptible
from duet.cli.output import note
from duet.kernels import KernelSettings
from duet.measure import Measuring, Report
from duet.measure.compare import warnings
from duet.measure.provenance import arm_facts
from duet.measure.reports import FORMATS, render
from duet.runs.measure import prepare_measurement

HERE = Pooling()
"""Measure on this host, without a pool."""


def measure_lesson(
    given: MeasureArgs, how: str, output: Path | None, pooling: Pooling = HERE
) -> int:
    """Measure the arms of a lesson, write the report, and return the exit code.

    Args:
        how: one of FORMATS.
        output: file to write to; None is stdout.
    """
    check_format(how)
    check_output(output)
    elsewhere = pooling.plugin()
    plan = read_plan(given)
    if how == "sweep" and plan.sweep is None:
        raise InputError(
            "--format sweep shows a swept knob, but no --sweep was given.",
            remedy="Add for example --sweep hogs=1,3,9, or choose another --format.",
        )
    kernels = KernelSettings.default()
    build_optional(plan.folder, plan.arms, kernels)
    link_layouts(plan, kernels)
    for warning in warnings([arm_facts(plan.folder, arm, kernels) for arm in plan.arms]):
        note(f"warning: {warning}.")
    began = time.monotonic()
    if elsewhere is not None:
        if pooling.check_hosts:
            code: int = elsewhere.check_hosts(plan, pooling, how, write_report, output)
            return code
        report, whole = elsewhere.measure_on_pool(plan, pooling)
        return finish(report, whole, began, how, output)

    held: list[Measuring] = []

    async def work() -> None:
        with ProgressBar() as tell:
            command = command_of(plan)
            held.append(await prepare_measurement(plan, kernels, command, tell))
            await held[0].run()

    whole = asyncio.run(interruptible(work()))
    if not held:
        note("nothing was measured yet")
        return INTERRUPTED
    return finish(held[0].report, whole, began, how, output)


def finish(report: Report, whole: bool, began: float, how: str, output: Path | None) -> int:
    """Write the report; return the exit code.

    Args:
        whole: whether the measurement is complete, i.e. was not interrupted.
        began: start time on the monotonic clock.

    Raises:
        DuetError: no arm has a number.
    """
    note(f"measured for {format_duration(time.monotonic() - began)}")
    if whole:
        refuse_nothing(report)
    unwritten = write_report(render(report, how), output)
    if not whole:
        return interrupted_exit_code()
    return max([unwritten, *(error.exit_code for error in errors_of(report))])


def check_format(how: str) -> None:
    """Check the format before anything boots.

    Raises:
        InputError: there is no such format.
    """
    if how not in FORMATS:
        raise InputError(
            f"there is no format '{how:.40}'.", remedy=f"Choose from: {', '.join(FORMATS)}."
        )


def check_output(output: Path | None) -> None:
    """Check before anything boots that the output can be written. Skip this for special files.

    Raises:
        InputError: the output cannot be written.
    """
    if output is None or (output.exists() and not (output.is_file() or output.is_dir())):
        return
    there = output.exists()
    try:
        with output.open("a", encoding="utf-8"):
            pass
        if not there:
            output.unlink()
    except OSError as error:
        raise InputError(
            f"--output {output} cannot be written ({error.strerror}).",
            remedy="Choose a file in an existing folder that you may write to.",
        ) from None


def write_report(text: str, output: Path | None) -> int:
    """Write the report to a file or stdout.

    If the file cannot be written, the report goes to stdout, so that hours of measuring are not
    lost.

    Returns:
        0, or an error's exit code if the file cannot be written.
    """
    whole = text if text.endswith("\n") else text + "\n"
    if output is not None:
        try:
            output.write_text(whole, encoding="utf-8")
        except OSError as error:
            note(f"error: the report could not be written to {output} ({error.strerror}).")
            note("remedy: The report is on stdout instead; save it from there.")
            sys.stdout.write(whole)
            return InfraError.exit_code
        return 0
    sys.stdout.write(whole)
    return 0


def errors_of(report: Report) -> list[DuetError]:
    return [error for table in report.tables for error in table.errors.values()]


def refuse_nothing(report: Report) -> None:
    """Raise if no arm has a number.

    Raises:
        DuetError: the first arm's error.
    """
    errors = errors_of(report)
    numbers = [one for table in report.tables for one in table.series if one.samples]
    if errors and not [one for one in numbers if one.evidence != "static"]:
        raise errors[0]
