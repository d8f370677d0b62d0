# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb of labs."""

from __future__ import annotations

from typing import Annotated

import typer

from duet.cli.commands.options import Json
from duet.cli.results.keys import keys_text
from duet.cli.results.labs import LabResult

LAB_KEYS = keys_text(LabResult)


def lab(
    action: Annotated[
        str, typer.Argument(help="list, scores, export (CSV), grade, or forget.")
    ] = "list",
    name: Annotated[str, typer.Argument(help="The lab's slug; of forget: a person's key.")] = "",
    person: Annotated[str, typer.Option("--person", help="Whose attempt is graded, by key.")] = "",
    attempt: Annotated[int, typer.Option("--attempt", min=0, help="Its number.")] = 0,
    points: Annotated[
        float | None, typer.Option("--points", min=0, help="That the attempt gets.")
    ] = None,
    comment: Annotated[str, typer.Option("--comment", help="For whoever answered.")] = "",
    json: Json = False,
) -> int:
    """Scores of a lab, its export, a grade, or the deletion of a person's answers.

    The server may run meanwhile. It sends a grade given here to a learning platform with the next
    change of that person's score; docs/LABS.md says how a lab is written and graded.
    """
    from duet.cli.lab import lab as body

    return body(action, name, attempt, points, comment, person, json)
