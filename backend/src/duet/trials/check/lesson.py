# SPDX-License-Identifier: GPL-2.0-or-later
"""The stress of a lesson: its workloads in a loop on a debug kernel, as its `stress:` says."""

from __future__ import annotations

from pathlib import Path
from threading import Event

from duet.guests import GuestRoot
from duet.lessons.load import LessonFolder
from duet.lessons.plan import boot_cmdline
from duet.trials.check.console import BESIDE, Verdict
from duet.trials.check.console import judge as judge_console
from duet.trials.check.machine import boot
from duet.trials.check.program import first_program, turn
from duet.trials.check.table import script


def judge(folder: LessonFolder, console: str) -> Verdict:
    """Read a whole console."""
    return judge_console(console, {**folder.lesson.stress.work, **BESIDE})


def program(folder: LessonFolder, seconds: int) -> str:
    """The first program of the guest: every workload in turn, until the time is over.

    Raises:
        InputError: a knob that the lesson does not have.
    """
    stress = folder.lesson.stress
    turns = [
        line
        for own in stress.turns
        for name in folder.lesson.workloads
        for line in turn(folder, name, own, alone=name in stress.alone)
    ]
    beside = {stress.beside: script(stress.beside)} if stress.beside else {}
    return first_program(turns, beside, seconds)


def run(
    folder: LessonFolder,
    bzimage: Path,
    root: GuestRoot,
    seconds: int,
    stop: Event | None = None,
) -> str:
    """Boot, wait for the end, give the whole console.

    Raises:
        InfraError: QEMU is not installed, or ends with an error.
    """
    return boot(
        bzimage,
        root.image,
        program(folder, seconds),
        seconds=seconds,
        memory_mb=folder.lesson.memory_mb,
        options=boot_cmdline(folder.lesson, folder.check_params({}, "wall")),
        stop=stop,
    )
