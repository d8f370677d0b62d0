# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs about recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import File, Json
from duet.cli.results.keys import keys_text
from duet.cli.results.recordings import (
    CompareResult,
    InspectResult,
    RecordAllResult,
    ReplayResult,
    ReproduceResult,
    RunsResult,
)

RECORD_ALL_KEYS = keys_text(RecordAllResult, "States are those after the work.")
RUNS_KEYS = keys_text(RunsResult)
INSPECT_KEYS = keys_text(InspectResult)
REPLAY_KEYS = keys_text(ReplayResult, "Exit code 1 when a figure differs from the recorded one.")
COMPARE_KEYS = keys_text(CompareResult)
REPRODUCE_KEYS = keys_text(ReproduceResult, "Exit code 1 when a claim does not hold.")


def record_all(
    which: Annotated[
        list[str] | None,
        typer.Argument(help="LESSON, LESSON/NAME or LESSON/measured; default: all lessons."),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Also what is up to date.")] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="Only say what is stale, and why.")
    ] = False,
    most: Annotated[int, typer.Option("--most", min=0, help="End after so many; 0: make all.")] = 0,
    json: Json = False,
) -> int:
    """Make stale recordings and recorded tables anew, each by the parameters that it has.

    Stale is what was made with other patches or another config than the tree's. Missing kernels
    are built first. What is finished stays when this is interrupted, and the next call goes on.
    """
    from duet.cli.record_all import record_all as body

    return body(which or [], all, listing, most, json)


def runs(
    add: Annotated[
        Path | None, typer.Option("--add", help="Keep this recording, to play it on the page.")
    ] = None,
    delete: Annotated[str, typer.Option("--delete", help="Take the run of this name away.")] = "",
    json: Json = False,
) -> int:
    """List the live runs that are saved; the page plays them, and other verbs take their names."""
    from duet.cli.runs import runs as body

    return body(add, delete, json)


def inspect(file: File, json: Json = False) -> int:
    """Say what a recording holds: manifest, lanes, events, samples, losses, bytes an event."""
    from duet.cli.arguments import which
    from duet.cli.inspect import inspect as body

    return body(which(file), json)


def replay(file: File, json: Json = False) -> int:
    """Play a recording through the path of a live run, and print the metrics that it gives."""
    from duet.cli.arguments import which
    from duet.cli.replay import replay as body

    return body(which(file), json)


def compare(
    first: File,
    second: File,
    json: Json = False,
) -> int:
    """Compare two recordings of a lesson: what they differ in, then their figures by arm."""
    from duet.cli.arguments import which
    from duet.cli.compare import compare as body

    return body(which(first), which(second), json)


def reproduce(
    file: File,
    out: Annotated[Path | None, typer.Option("--out", help="Keep the new recording here.")] = None,
    no_claims: Annotated[
        bool, typer.Option("--no-claims", help="Only run it again; measure no claims.")
    ] = False,
    json: Json = False,
) -> int:
    """Run a recording's arms again, say what differs, and whether the lesson's claims hold."""
    from duet.cli.arguments import which
    from duet.cli.reproduce import reproduce as body

    return body(which(file), out, not no_claims, json)
