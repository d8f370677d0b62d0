# SPDX-License-Identifier: GPL-2.0-or-later
"""Options and arguments of the verbs that need no lesson: `try`, `check`, `bisect`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

USUAL_VCPUS = 2
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
Timeout = Annotated[
    int,
    typer.Option(
        "--timeout", metavar="SECONDS", min=1, max=3400, help="After which --run has failed."
    ),
]
Times = Annotated[int, typer.Option("--times", min=1, max=1000, help="Runs in a row.")]


def _vcpus(number: int) -> int:
    """As many as kernels and ports of guests have; this machine may have fewer CPUs.

    Raises:
        InputError: no guest has so many.
    """
    from duet.base.errors import InputError
    from duet.cli.output import note
    from duet.guests.limits import MAX_CPUS

    if not 1 <= number <= MAX_CPUS:
        raise InputError(
            f"--vcpus wants 1 to {MAX_CPUS}, which is NR_CPUS of the kernels, but {number} came.",
            remedy="Choose another number.",
        )
    if number > max(own := len(os.sched_getaffinity(0)), USUAL_VCPUS):
        note(f"{number} vCPUs share {own} CPUs of this machine: on the wall clock they wait")
    return number


Vcpus = Annotated[
    int, typer.Option("--vcpus", callback=_vcpus, metavar="NUMBER", help="CPUs of each guest.")
]
MemoryMb = Annotated[int, typer.Option("--memory-mb", min=128, max=8192, help="MiB of each guest.")]
