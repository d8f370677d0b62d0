# SPDX-License-Identifier: GPL-2.0-or-later
"""Options and arguments that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Lesson = Annotated[str, typer.Argument(help="Slug: the name of its folder, NN-name.")]
MaybeLesson = Annotated[str | None, typer.Argument(help="Slug; all lessons when left out.")]
Source = Annotated[
    Path | None,
    typer.Option("--source", help="A linux-*.tar.*, or a folder with one unpacked, to build from."),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        help="Base of arms that name none: one of kernel-patches/bases, or a folder with a "
        "base.yaml. Also $DUET_BASE.",
    ),
]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="A knob, NAME=NUMBER; may be repeated.")
]
Arms = Annotated[str, typer.Option("--arms", help="Names with commas; default: all arms.")]
Workload = Annotated[str, typer.Option("--workload", help="Default: the lesson's first.")]
File = Annotated[
    str, typer.Argument(help="A .duet file, a run of ./duet runs, or LESSON/NAME of a recording.")
]
Clock = Annotated[str, typer.Option("--clock", help="wall or count; default: the lesson's.")]
