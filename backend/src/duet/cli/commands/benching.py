# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb that measures this program itself."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from duet.cli.commands.options import Json, Lesson
from duet.cli.results.benching import BenchResult
from duet.cli.results.keys import keys_text

BENCH_KEYS = keys_text(BenchResult, "Times go from the request to a lane's first decoded event.")


class What(StrEnum):
    """What can be measured."""

    LANES = "lanes"


def bench(
    what: Annotated[What, typer.Argument(help="lanes: copies of a parked guest beside boots.")],
    lesson: Lesson,
    arm: Annotated[str, typer.Option("--arm", help="Default: the lesson's first.")] = "",
    repeats: Annotated[int, typer.Option(min=1, max=500, help="Rounds: a boot and a copy.")] = 7,
    vng: Annotated[
        bool, typer.Option("--vng", help="Three boots by virtme-ng as well, some 20 s each.")
    ] = False,
    json: Json = False,
) -> int:
    """Measure how soon a lane moves: copies of a parked guest beside boots, in turns."""
    from duet.cli.benching import bench as body

    return body(lesson, arm, repeats, vng, json)
