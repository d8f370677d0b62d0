# SPDX-License-Identifier: GPL-2.0-or-later
"""Options and arguments that several verbs share, and the command line as typed."""

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
    from duet.lessons.load import slugs

    return slugs()[0]


Slug = Annotated[str, typer.Argument(help="Slug: the name of the lesson's folder, NN-name.")]
FirstLesson = Annotated[
    str,
    typer.Argument(
        default_factory=first_lesson, show_default=False, help="Slug; default: the first lesson."
    ),
]
MaybeLesson = Annotated[str | None, typer.Argument(help="Slug; default: all lessons.")]
Source = Annotated[
    Path | None,
    typer.Option("--source", help="Kernel source: a linux-*.tar.*, or a folder with it unpacked."),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        help="Base of arms that name no base: one of kernel-patches/bases, or a folder with a "
        "base.yaml. Also $DUET_BASE.",
    ),
]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="Set a knob, NAME=NUMBER; repeatable.")
]
Arms = Annotated[str, typer.Option("--arms", help="Arms, separated by commas; default: all.")]
Workload = Annotated[str, typer.Option("--workload", help="Default: the lesson's first.")]
File = Annotated[str, typer.Argument(help="A .duet file, a run of ./duet runs, or LESSON/NAME.")]
ClockOption = Annotated[str, typer.Option("--clock", help="wall or count; default: the lesson's.")]


# The command line as typed. Reports quote it, so that readers can reproduce a result.

_WORDS: ContextVar[tuple[str, ...]] = ContextVar("words", default=())


@contextmanager
def typed(words: Sequence[str]) -> Iterator[None]:
    """Within the block, let typed_line() return these words."""
    token = _WORDS.set(tuple(words))
    try:
        yield
    finally:
        _WORDS.reset(token)


def typed_line() -> str:
    """Return the command line, quoted for a shell, or "" outside a call of main()."""
    words = _WORDS.get()
    return shlex.join(["./duet", *words]) if words else ""
