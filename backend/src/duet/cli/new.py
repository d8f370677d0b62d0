# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet new`: starts a lesson."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit


@dataclass(frozen=True, slots=True)
class NewResult:
    lesson: str = key("slug")
    folder: str = key()
    patches: str = key()
    program: str = key()
    known: bool = key("bool")


KEYS = keys_text(NewResult)


def new(
    slug: Annotated[str, typer.Argument(help="Name of the lesson, e.g. 06-my-question.")],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--in", help="Folder for lessons/ and kernel-patches/; default: this checkout."
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Start a lesson from a small template that runs as it is."""
    from duet.lessons.author import next_steps, start

    made = start(slug, folder)
    if as_json:
        emit(
            NewResult(
                lesson=made.slug,
                folder=str(made.place.folder),
                patches=str(made.place.patch_dir),
                program=made.program,
                known=made.known,
            )
        )
    else:
        print(next_steps(made))
    return 0
