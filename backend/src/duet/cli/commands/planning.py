# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb that plans a class: its options, its help, and nothing that takes time to import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Json
from duet.cli.results.keys import keys_text
from duet.cli.results.planning import PlanResult

PLAN_KEYS = keys_text(PlanResult)


def plan(
    students: Annotated[int, typer.Option("--students", help="Pages that are open at once.")] = 30,
    live: Annotated[int, typer.Option("--live", help="Live runs at once.")] = 0,
    lanes: Annotated[
        int, typer.Option("--lanes", help="Of each run; default: the lesson's main step, else 2.")
    ] = 0,
    lesson: Annotated[
        str, typer.Option("--lesson", help="Its recording and guests; default: of all lessons.")
    ] = "",
    cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="nginx or a CDN answers for segments.")
    ] = True,
    pool: Annotated[
        str, typer.Option("--pool", help="local, slurm or kubernetes; default: $DUET_POOL.")
    ] = "",
    host_cpus: Annotated[
        int, typer.Option("--host-cpus", help="Of each host; default: this machine's.")
    ] = 0,
    host_gib: Annotated[
        float, typer.Option("--host-memory", help="GiB of each host; default: this machine's.")
    ] = 0.0,
    link: Annotated[
        float, typer.Option("--link", help="Mbit/s from a server, or a CDN, to all students.")
    ] = 1000.0,
    arrive: Annotated[
        float, typer.Option("--arrive", help="All students come in so many seconds.")
    ] = 60.0,
    viewers: Annotated[
        int, typer.Option("--viewers", help="Also simulate up to so many viewers of a recording.")
    ] = 0,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Write the simulated curve there, as an SVG.")
    ] = None,
    constants: Annotated[
        bool, typer.Option("--constants", help="Also list the constants and where each is from.")
    ] = False,
    json: Json = False,
) -> int:
    """Say how many hosts, CPUs, memory and bandwidth a class needs, and what is short first.

    The model's constants come from what `duet bench` measured on this machine, else from the
    reference machine; docs/CAPACITY.md has the model and its limits.
    """
    from duet.cli.plan import Options
    from duet.cli.plan import plan as body

    options = Options(
        students, live, lanes, lesson, cache, pool, host_cpus, host_gib, link, arrive, viewers
    )
    return body(options, constants, json, picture)
