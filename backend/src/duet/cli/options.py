# SPDX-License-Identifier: GPL-2.0-or-later
"""Options and arguments that several verbs share, and the command line as typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated

import typer

from duet.base.errors import InputError
from duet.base.settings import runs_dir

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


def first_lesson() -> str:
    from duet.lessons.folders import slugs

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


# Recordings named on the command line. These functions import what they need, so that the help of a
# verb and small recordings are shown without delay.

OF_LESSON = re.compile(r"^(?:recorded:)?(\d{2}-[a-z0-9-]+)[/:]([A-Za-z0-9._-]+)$")
SAVED = "run-"
"""Prefix of saved runs' names."""
REMEDY = "Name a .duet file, a run of ./duet runs, or LESSON/NAME of a lesson's recording."


def find_recording(text: str) -> Path:
    """Return the path of the recording that an argument of the command line names.

    This function does not check that the file exists or is a recording.

    Raises:
        InputError: the argument is not the name of a file, a saved run or a lesson's recording.
    """
    path = Path(text)
    if path.exists() or path.suffix == ".duet":
        return path
    name = text.removeprefix("kept:").rpartition(":")[2]
    if name.startswith(SAVED):
        from duet.server.archive import NAME, ArchiveFolder

        if NAME.match(name):
            return ArchiveFolder(runs_dir(), 0, 0).path(name)
    if found := OF_LESSON.match(text):
        return lesson_recording(found[1], found[2])
    raise InputError(f"'{text:.80}' is not a recording.", remedy=REMEDY)


def lesson_recording(slug: str, name: str) -> Path:
    """Return the file of a lesson's recording.

    Raises:
        InputError: the lesson or the recording does not exist.
    """
    from duet.lessons.folders import places

    if slug not in (lessons := places()):
        from duet.lessons.load import load

        load(slug)  # raises the error
    known = lessons[slug].bundles()
    if name not in known:
        raise InputError(
            f"lesson {slug} has no recording '{name:.60}'.",
            remedy=f"Choose from: {', '.join(known) or 'none'}.",
        )
    return known[name]
