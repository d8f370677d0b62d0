# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet doctor`: what this machine has and lacks; with --deep also what it can do."""

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

    With --deep it also tries, in some 20 s: a guest of a built kernel and a copy of it, its
    namespaces and budget, a build in a sandbox, how long vCPUs wait, and the speed of the disk.
    """
    from duet.cli.doctor.machine import PARTS

    checks = [check for part in PARTS for check in part()]
    if deep:
        from duet.cli.doctor.deep import deep_checks

        checks += deep_checks()
    return show(checks, as_json)
