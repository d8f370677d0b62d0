# SPDX-License-Identifier: GPL-2.0-or-later
"""The verb that writes a recording for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duet.cli.commands.options import Json
from duet.cli.results.keys import keys_text
from duet.cli.results.recordings import ExportResult

EXPORT_KEYS = keys_text(ExportResult)


def export(
    run: Annotated[
        str,
        typer.Argument(
            help="A .duet file, a run of ./duet runs, or LESSON/NAME; for a site or pdf also "
            "LESSON, with all of its recordings."
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(help="A file (pdf, pictures, perfetto) or a folder (site, trace.dat, csv)."),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="site: a folder that plays in any browser without a server; pdf: the "
            "slides of present mode, one a page; png, svg, gif, webm: pictures for slides; "
            "perfetto: one trace for its viewer; trace.dat: one file per lane, for trace-cmd; "
            "csv: one file per table and per kind of event.",
        ),
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    step: Annotated[str, typer.Option("--step", help="Picture: a step of the lesson.")] = "",
    at: Annotated[float | None, typer.Option("--at", help="Picture: its moment, ms.")] = None,
    from_ms: Annotated[
        float | None, typer.Option("--from", help="Film: begins here, ms of guest time.")
    ] = None,
    to_ms: Annotated[float | None, typer.Option("--to-ms", help="Film: ends here.")] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.2, help="Film: takes so long; default: 5.")
    ] = None,
    arms: Annotated[str, typer.Option("--arms", help="Pictures: lanes, with commas.")] = "",
    size: Annotated[str, typer.Option("--size", help="Pictures: default 1280x720.")] = "",
    theme: Annotated[str, typer.Option("--theme", help="Pictures: light or dark.")] = "",
    json: Json = False,
) -> int:
    """Write a recording as a page of its own, as pictures, or for other programs."""
    from duet.cli.export import export as body
    from duet.cli.export import read_shot
    from duet.cli.output import split_names

    shot = read_shot((step, at, from_ms, to_ms, seconds), split_names(arms), size, theme)
    return body(run, to, out, force, shot, json)
