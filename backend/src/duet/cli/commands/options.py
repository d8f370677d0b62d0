# SPDX-License-Identifier: GPL-2.0-or-later
"""Options and arguments that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


def first_lesson() -> str:
    """Slug of the first lesson there is."""
    from duet.lessons.load import slugs

    return slugs()[0]


Lesson = Annotated[str, typer.Argument(help="Slug: the name of its folder, NN-name.")]
FirstLesson = Annotated[
    str,
    typer.Argument(
        default_factory=first_lesson, show_default=False, help="Slug; default: the first lesson."
    ),
]
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
UNCUT = 1000
"""Characters of a verb's first sentence, which click cuts off at the end of one line."""


class Verbs(TyperGroup):
    """Lists verbs with their whole first sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """See click.Group; a sentence that is longer than a line goes on below."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, verb.get_short_help_str(UNCUT))
            for name, verb in found
            if verb is not None and not verb.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


Clock = Annotated[str, typer.Option("--clock", help="wall or count; default: the lesson's.")]
