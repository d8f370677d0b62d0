# SPDX-License-Identifier: GPL-2.0-or-later
"""Options and arguments that several verbs share, and the words that were typed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


def first_lesson() -> str:
    """Slug of the first lesson there is."""
    from duet.lessons.load import slugs

    return slugs()[0]


Slug = Annotated[str, typer.Argument(help="Slug: the name of its folder, NN-name.")]
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
ClockOption = Annotated[str, typer.Option("--clock", help="wall or count; default: the lesson's.")]


# What was typed, for reports that say how to get them again.

_WORDS: ContextVar[tuple[str, ...]] = ContextVar("words", default=())


@contextmanager
def typed(words: Sequence[str]) -> Iterator[None]:
    """While this lasts, typed_line() is of these words."""
    token = _WORDS.set(tuple(words))
    try:
        yield
    finally:
        _WORDS.reset(token)


def typed_line() -> str:
    """The command line, quoted for a shell; "" outside a call of main()."""
    words = _WORDS.get()
    return shlex.join(["./duet", *words]) if words else ""
