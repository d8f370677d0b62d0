# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet drgn`: opens a drgn shell on a running lane."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import InfraError, InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit

if TYPE_CHECKING:
    from duet.guests.lanes_file import LaneInfo


@dataclass(frozen=True, slots=True)
class DrgnLane:
    """A running lane."""

    lane: str
    pid: int


@dataclass(frozen=True, slots=True)
class DrgnResult:
    lanes: Sequence[DrgnLane] = key("the running lanes; --json opens no shell")


KEYS = keys_text(DrgnResult)


def drgn(
    lane: Annotated[
        str | None,
        typer.Argument(help="ARM, LESSON/ARM or a pid; optional when only one lane runs."),
    ] = None,
    script: Annotated[
        Path | None, typer.Option("--script", exists=True, help="Run this script, open no shell.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Open a drgn shell on a running lane. Lanes run in `duet serve`, `run` and `xray`."""
    from duet.guests.lanes_file import running

    if as_json:
        emit(DrgnResult([DrgnLane(lane_name(one), one.pid) for one in running()]))
        return 0
    info = find_lane(lane, running())
    program = Path(sys.executable).with_name("drgn")
    if not program.exists():
        raise InfraError("drgn is not installed for this Python.", remedy="Run ./setup.sh page.")
    words = [str(program), "-q", "--qemu", info.socket, "-s", info.vmlinux]
    words += [str(script)] if script else []
    if script is None and sys.stdin.isatty():
        print(f"drgn on {lane_name(info)}; `prog` is its kernel. The guest keeps running.")
    sys.stdout.flush()
    # drgn runs as a child process, not through exec. So the guest's socket is always released when
    # drgn ends.
    return subprocess.run(words, env=os.environ, check=False).returncode


START = "Start one with ./duet run, or a live run of ./duet serve, and leave it running."


def lane_name(info: LaneInfo) -> str:
    """Return a lane's name for the command line."""
    return f"{info.lesson}/{info.arm}" if info.lesson else info.arm


def find_lane(wanted: str | None, lanes: list[LaneInfo]) -> LaneInfo:
    """Return the lane that a name means: ARM, LESSON/ARM or a pid.

    LESSON may be the start of a slug.

    Raises:
        InputError: no lane is running, several lanes match, or no lane has that name.
    """
    if not lanes:
        raise InputError("no guest of this user is running.", remedy=START)
    names = ", ".join(f"{lane_name(one)} (pid {one.pid})" for one in lanes)
    if wanted is None:
        if len(lanes) == 1:
            return lanes[0]
        raise InputError(f"{len(lanes)} lanes are running.", remedy=f"Name one of: {names}.")
    lesson, slash, arm = wanted.rpartition("/")
    found = [
        one
        for one in lanes
        if str(one.pid) == wanted
        or (one.arm == arm and (not slash or one.lesson.startswith(lesson)))
    ]
    if not found:
        raise InputError(f"no lane '{wanted:.80}' is running.", remedy=f"Choose from: {names}.")
    if len(found) > 1:
        several = ", ".join(f"{lane_name(one)} (pid {one.pid})" for one in found)
        raise InputError(
            f"'{wanted:.80}' names {len(found)} running lanes.",
            remedy=f"Give the pid: {several}.",
        )
    return found[0]
