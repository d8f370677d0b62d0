# SPDX-License-Identifier: GPL-2.0-or-later
"""Report formats. Some are for mails, some imitate well-known tools, and some are for programs.

All except json, csv and kcidb are plain ASCII in 75 columns. Only a workload's output lines and
single long words of a command may exceed that.
"""

from __future__ import annotations

from collections.abc import Callable

from duet.base.errors import InputError
from duet.measure.model import Report
from duet.measure.reports import kcidb, lkp, machine, ministat, scale, sweep
from duet.measure.reports import text as mail

FORMATS: dict[str, Callable[[Report], str]] = {
    "mail": mail.render,
    "mail-verbatim": mail.render_verbatim,
    "ministat": ministat.render,
    "lkp": lkp.render,
    "will-it-scale": scale.render,
    "sweep": sweep.render,
    "json": machine.json_text,
    "csv": machine.csv_text,
    "kcidb": kcidb.render,
}
"""Format name -> its renderer."""


def render(report: Report, how: str) -> str:
    """Format the report as text that ends with a newline.

    Raises:
        InputError: there is no such format.
    """
    if how not in FORMATS:
        raise InputError(
            f"there is no report format '{how:.40}'.",
            remedy=f"Choose from: {', '.join(FORMATS)}.",
        )
    return FORMATS[how](report)


__all__ = ["FORMATS", "render"]
