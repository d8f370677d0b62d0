# SPDX-License-Identifier: GPL-2.0-or-later
"""A report as text: for mails, in the shapes of tools that people know, and for programs.

Everything but json, csv and kcidb is plain ASCII in 75 columns; only a workload's own lines, and
words of a command, are longer.
"""

from __future__ import annotations

from collections.abc import Callable

from duet.base.errors import InputError
from duet.measure.model import Report
from duet.measure.reports import kcidb, lkp, machine, ministat, scale, sweep
from duet.measure.reports import text as mail

FORMATS: dict[str, Callable[[Report], str]] = {
    "mail": mail.render,
    "ministat": ministat.render,
    "lkp": lkp.render,
    "will-it-scale": scale.render,
    "sweep": sweep.render,
    "json": machine.json_text,
    "csv": machine.csv_text,
    "kcidb": kcidb.render,
}
"""Name -> what writes it."""


def render(report: Report, how: str) -> str:
    """The report as text that ends with a newline.

    Raises:
        InputError: there is no such format.
    """
    if how not in FORMATS:
        raise InputError(
            f"there is no format '{how:.40}'.", remedy=f"Choose from: {', '.join(FORMATS)}."
        )
    return FORMATS[how](report)


__all__ = ["FORMATS", "render"]
