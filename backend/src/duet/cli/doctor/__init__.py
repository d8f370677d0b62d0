# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet doctor`: shows what this machine has and lacks, and with --deep what it can do."""

from __future__ import annotations

from typing import Annotated

import typer

from duet.cli.doctor.line import DoctorResult, show
from duet.cli.keys import keys_text
from duet.cli.options import Json

KEYS = keys_text(DoctorResult)


def doctor(
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Also boot a guest, copy it, build in a sandbox, time CPUs and disk."
        ),
    ] = False,
    as_json: Json = False,
) -> int:
    """Check this machine, with a remedy for everything missing.

    With --deep it also runs tests, for about 20 s: it boots a built kernel and copies the guest,
    checks the guest's namespaces and budget, builds in a sandbox, and measures how long vCPUs wait
    and how fast the disk is.
    """
    from duet.cli.doctor.machine import PARTS

    checks = [check for part in PARTS for check in part()]
    if deep:
        from duet.cli.doctor.deep import deep_checks

        checks += deep_checks()
    return show(checks, as_json)
