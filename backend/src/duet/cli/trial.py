# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of `try`, `check` and `bisect`, and the models of kernels in their output."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InputError
from duet.cli import keys
from duet.cli.keys import key

if TYPE_CHECKING:
    from duet.base.clock import Clock
    from duet.trials.spec import Better

USUAL_VCPUS = 2
Paths = list[Path] | None
Words = list[str] | None
Patches = Annotated[
    Paths,
    typer.Argument(
        help="A patch, an mbox, a saved thread or a folder of patches; each becomes a kernel."
    ),
]
RunOption = Annotated[
    str,
    typer.Option(
        "--run", help="What each kernel runs: a command line, a program or script, or a folder."
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
    typer.Option("--with", help="Patches for every kernel: a file or a folder."),
]
Config = Annotated[
    Words,
    typer.Option("--config", help="An option for every kernel, NAME=y, or a file of such lines."),
]
Repo = Annotated[Path, typer.Option("--repo", help="Repository of --commits.")]
Timeout = Annotated[
    int,
    typer.Option("--timeout", metavar="SECONDS", min=1, max=3400, help="Limit for one --run."),
]
TimesInARow = Annotated[
    int, typer.Option("--times", min=1, max=1000, help="Execute --run this many times in a row.")
]


def _vcpus(number: int) -> int:
    """Check the number of vCPUs against the limit of kernels and guests.

    Warn if the host has fewer CPUs.

    Raises:
        InputError: the number is out of range.
    """
    from duet.cli.output import note
    from duet.guests.limits import MAX_CPUS

    if not 1 <= number <= MAX_CPUS:
        raise InputError(
            f"--vcpus must be 1 to {MAX_CPUS} (NR_CPUS of the kernels), but got {number}.",
            remedy="Choose another number.",
        )
    if number > max(own := len(os.sched_getaffinity(0)), USUAL_VCPUS):
        note(f"{number} vCPUs share {own} CPUs of this machine, so on the wall clock they wait")
    return number


Vcpus = Annotated[
    int, typer.Option("--vcpus", callback=_vcpus, metavar="NUMBER", help="CPUs of each guest.")
]
MemoryMb = Annotated[int, typer.Option("--memory-mb", min=128, max=8192, help="MiB of each guest.")]


def clock_name(text: str) -> Clock:
    """Check that the clock is `wall` or `count`.

    Raises:
        InputError: the text is another word.
    """
    known: dict[str, Clock] = {"wall": "wall", "count": "count"}
    if text not in known:
        raise _not_one_of("--clock", "wall or count", text)
    return known[text]


def better_name(text: str) -> Better:
    """Check that the word is `higher` or `lower`.

    Raises:
        InputError: the text is another word.
    """
    known: dict[str, Better] = {"higher": "higher", "lower": "lower"}
    if text not in known:
        raise _not_one_of("--better", "higher or lower", text)
    return known[text]


def _not_one_of(option: str, words: str, text: str) -> InputError:
    return InputError(
        f"{option} must be {words}, but got '{text:.20}'.", remedy="Choose one of them."
    )


# Models of a trial's kernels.


@dataclass(frozen=True, slots=True)
class TriedPatch:
    """A patch in a kernel."""

    subject: str
    sha256: str = key("of its diff")
    commit: str | None = key("null: the patch names none")
    link: str | None = key("of the mail")


@dataclass(frozen=True, slots=True)
class TriedSource:
    """A kernel's source tree."""

    version: str
    commit: str | None = key("null: no repository")
    describe: str | None = key()
    tree: str = key("git's hash of all files")
    dirty: bool = key()
    changes: str | None = key("sha256 of the diff from the commit to the files")


@dataclass(frozen=True, slots=True)
class TriedArm:
    """One kernel of a trial."""

    arm: str
    about: str
    patches: Sequence[str]
    kernel: str
    key: str
    base: str | None = keys.key("null: the usual one")
    source: TriedSource | None = keys.key("null: the plain source of the base")
    made_of: Sequence[TriedPatch] = keys.key()


@dataclass(frozen=True, slots=True)
class TryResult:
    trial: str
    lesson: str = key("slug")
    folder: str = key("value for DUET_LESSONS")
    command: str = key()
    clock: str = key()
    arms: Sequence[TriedArm] = key()
    functions: Sequence[str] = key()
    events: Sequence[str] = key()
    left_out: Sequence[str] = key(shape="[sentence]")
    recording: str | None = key("path, null with --no-trace")
    elapsed_ms: Mapping[str, float] = key("of the traced run", per="arm")
    measured: str | None = key("path, null with --no-measure")
    verdict: str | None = key()
    saved: str | None = key("path of --save-lesson")
    fields: Sequence[str] = key("that the patches add or move", shape="[struct.member]")
    variables: Sequence[str] = key("global variables whose numbers the x-ray reads")
    watched: Sequence[str] = key("functions, by the microscope")
    shared: Mapping[str, Mapping[str, float]] = key(
        "with --watch: reads, writes and read-modify-writes of lines that CPUs share and write, "
        "for each call of the first watched function",
        per="arm",
    )
    proposed: Sequence[str] = key("events of the subsystem", shape="[argument of --trace]")
    given: str = key("command line that repeats the trial")
    check: str | None = key("command line that checks these kernels; null with --kernel")
    said: Sequence[str] = key("notes about reading and building", shape="[sentence]")
