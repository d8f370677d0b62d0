# SPDX-License-Identifier: GPL-2.0-or-later
"""Verbs about recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import File, Json

RUNS_KEYS = (
    "JSON keys: folder, most, most_bytes, added (name or null), runs: [{name, lesson (null: it "
    "cannot be opened), arms, workload, params, clock, seconds, bytes, recorded_at}], the newest "
    "first."
)
INSPECT_KEYS = (
    "JSON keys: file, bytes, format, created, lesson, workload, params, clock, shift, seed, "
    "window_ms, left_out, host, versions, checksums (members whose SHA-256 was checked), events, "
    "bytes_per_event, patch_files, lanes: [{name, title, role, patches, kernel_version, "
    "config_sha256, stream_bytes, packed_bytes, records, cpus, pages, events, events_by_type, "
    "events_unknown, events_overwritten, loss, contention, samples, lines, status, guest_ms, "
    "truncated, figures}]."
)
REPLAY_KEYS = (
    "JSON keys: file, lesson, workload, clock, params, recorded_at, same (bool; null when the "
    "recording keeps no figures), lanes: [{arm, same, differences: [{figure, recorded, now}], "
    "figures}]. Exit code 1 when a figure differs from the recorded one."
)
COMPARE_KEYS = (
    "JSON keys: lesson, sides: [{created, clock, workload, params, arms, host}] (two), "
    "differences: [{of (run, kernel, config, patches, build, host, programs), what, arm, recorded "
    "(of the first), now (of the second)}], figures: [{arm, figure, recorded, now, ratio}] (of "
    "traced runs), only: {arm: first or second}, worth."
)
REPRODUCE_KEYS = (
    "JSON keys: file, lesson, clock, recorded_at, differences: [{of (run, kernel, config, patches, "
    "build, host, programs), what, arm, recorded, now}], figures: [{arm, figure, recorded, now, "
    "ratio}] (of traced runs), claims: [{claim, source, own_knobs, holds, because}] (of untraced "
    "runs), holds (null when no claim is about the recording), verdict, recording. Exit code 1 "
    "when a claim does not hold."
)


def runs(
    add: Annotated[
        Path | None, typer.Option("--add", help="Keep this recording, to play it on the page.")
    ] = None,
    delete: Annotated[str, typer.Option("--delete", help="Take the run of this name away.")] = "",
    json: Json = False,
) -> int:
    """List the live runs that are kept; the page plays them, and other verbs take their names."""
    from duet.cli.runs import runs as body

    return body(add, delete, json)


def inspect(file: File, json: Json = False) -> int:
    """Say what a recording holds: manifest, lanes, events, samples, losses, bytes an event."""
    from duet.cli.inspect import inspect as body
    from duet.cli.which import which

    return body(which(file), json)


def replay(file: File, json: Json = False) -> int:
    """Play a recording through the path of a live run, and print the metrics that it gives."""
    from duet.cli.replay import replay as body
    from duet.cli.which import which

    return body(which(file), json)


def compare(
    first: File,
    second: File,
    json: Json = False,
) -> int:
    """Compare two recordings of a lesson: what they differ in, then their figures by arm."""
    from duet.cli.compare import compare as body
    from duet.cli.which import which

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
    from duet.cli.reproduce import reproduce as body
    from duet.cli.which import which

    return body(which(file), out, not no_claims, json)
