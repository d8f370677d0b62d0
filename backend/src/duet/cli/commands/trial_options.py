# SPDX-License-Identifier: GPL-2.0-or-later
"""Options and arguments of the verbs that need no lesson: `try`, `check`, `bisect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Paths = list[Path] | None
Words = list[str] | None
Patches = Annotated[
    Paths,
    typer.Argument(
        help="A patch, an mbox, a saved thread or a folder of patches; each becomes a kernel."
    ),
]
Run = Annotated[
    str,
    typer.Option(
        "--run", help="What each kernel runs: a command line, a program or script, a folder."
    ),
]
TrialBase = Annotated[
    str,
    typer.Option(
        "--base", help="A base of kernel-patches/bases or a linux-*.tar.xz; default: 6.1."
    ),
]
Commits = Annotated[
    Words, typer.Option("--commits", metavar="A..B", help="A range of --repo as one kernel.")
]
With = Annotated[
    Paths,
    typer.Option("--with", help="Patches that every kernel carries: a file or a folder."),
]
Config = Annotated[
    Words,
    typer.Option(
        "--config", help="An option that every kernel has, NAME=y, or a file of such lines."
    ),
]
Repo = Annotated[Path, typer.Option("--repo", help="Repository of --commits.")]
Times = Annotated[int, typer.Option("--times", min=1, max=1000, help="Runs in a row.")]
Vcpus = Annotated[int, typer.Option("--vcpus", min=1, max=8, help="CPUs of each guest.")]
MemoryMb = Annotated[int, typer.Option("--memory-mb", min=128, max=8192, help="MiB of each guest.")]
