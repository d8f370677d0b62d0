# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet measure`: a lesson's numbers, with verdicts, fit to be pasted into a mail."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from duet.api.evidence import house_measuring
from duet.cli.measure_args import Given, command_of, read_ask
from duet.cli.measuring import Teller, interruptible, told_time
from duet.cli.output import note
from duet.errors import InfraError, InputError
from duet.kernels import KernelSettings
from duet.measure import Measuring, Report
from duet.measure.reports import FORMATS, render

INTERRUPTED = 130


def measure(given: Given, how: str, output: Path | None) -> int:
    """See `duet measure --help`.

    Args:
        how: one of FORMATS.
        output: file instead of stdout.
    """
    check_format(how)
    ask = read_ask(given)
    if how == "sweep" and ask.sweep is None:
        raise InputError(
            "--format sweep shows a swept knob, but no --sweep was given.",
            remedy="Add for example --sweep hogs=1,3,9, or choose another --format.",
        )
    began = time.monotonic()

    held: list[Measuring] = []

    async def work() -> None:
        with Teller() as tell:
            command = command_of(ask)
            held.append(await house_measuring(ask, KernelSettings.default(), command, tell))
            await held[0].run()

    whole = asyncio.run(interruptible(work()))
    if not held:
        return INTERRUPTED
    report = held[0].report
    note(f"measured for {told_time(time.monotonic() - began)}")
    if whole:
        refuse_nothing(report)
    write(render(report, how), output)
    return 0 if whole else INTERRUPTED


def check_format(how: str) -> None:
    """Before anything is booted.

    Raises:
        InputError: there is no such format.
    """
    if how not in FORMATS:
        raise InputError(
            f"there is no format '{how:.40}'.", remedy=f"Choose from: {', '.join(FORMATS)}."
        )


def write(text: str, output: Path | None) -> None:
    """To stdout or a file.

    Raises:
        InfraError: the file cannot be written.
    """
    if output is None:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return
    try:
        output.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    except OSError as error:
        sys.stdout.write(text)
        raise InfraError(
            f"the report could not be written to {output} ({error.strerror}); it stands above.",
            remedy="Give --output a file that can be written.",
        ) from None


def refuse_nothing(report: Report) -> None:
    """A report in which no arm has a number is a failure, not a result.

    Raises:
        InfraError, KernelError: whatever the first arm met.
    """
    errors = [error for table in report.tables for error in table.errors.values()]
    numbers = [one for table in report.tables for one in table.series if one.samples]
    if errors and not [one for one in numbers if one.evidence != "static"]:
        raise errors[0]
