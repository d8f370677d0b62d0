# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb `challenge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Json, Lesson
from duet.cli.results.challenging import ChallengeResult
from duet.cli.results.keys import keys_text

CHALLENGE_KEYS = keys_text(
    ChallengeResult, "Exit code 0: met, or listed; 1: not met; 125: a kernel does not build."
)


def challenge(
    lesson: Lesson,
    name: Annotated[str, typer.Argument(help="Of the challenge; all are listed without.")] = "",
    patch: Annotated[
        Path | None,
        typer.Option("--patch", help="A diff on top of the challenge's arm, to be judged."),
    ] = None,
    seconds: Annotated[
        int, typer.Option("--seconds", min=10, max=86400, help="Of stress on a debug kernel.")
    ] = 60,
    stress: Annotated[
        bool, typer.Option("--stress/--no-stress", help="Without it nothing is met.")
    ] = True,
    json: Json = False,
) -> int:
    """List a lesson's challenges, or judge your patch: claims on the count clock, and stress."""
    from duet.cli.challenging import Asked
    from duet.cli.challenging import challenge as body

    return body(Asked(lesson, name, patch, seconds if stress else 0, json))
