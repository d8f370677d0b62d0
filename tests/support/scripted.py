# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine whose process is a few lines of Python instead of QEMU, for the ways it can end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from duet.guests.machine import Machine, MachineGuest
from duet.guests.types import Accel, GuestSpec

PRELUDE = """
import os, signal, socket, sys, time
def connect(path):
    port = socket.socket(socket.AF_UNIX)
    port.connect(path)
    return port
ctl, cpus, verbose = sys.argv[1], sys.argv[2:-1], sys.argv[-1] == "True"
"""

SPEAK = "port = connect(ctl); port.sendall(b'hello')\n"


def spec(**changes: object) -> GuestSpec:
    """A spec that names no real files."""
    known: dict[str, object] = {"arm": "srcu", "bzimage": Path("/nowhere"), "initrd": None}
    return GuestSpec(**(known | changes))  # type: ignore[arg-type]


class ScriptedMachine(Machine):
    """Runs `script` with the socket paths as its words."""

    script = SPEAK

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        words = [str(path) for path in sockets.values()]
        return [sys.executable, "-c", PRELUDE + self.script, *words, str(self.verbose)]


class ScriptedGuest(MachineGuest):
    """A guest that boots ScriptedMachines."""

    kind = "scripted"
    deadline_s = 240.0

    def __init__(self, script: str, deadline_s: float = 240.0, **changes: object) -> None:
        super().__init__(spec(**changes))
        self.script = script
        self.deadline_s = deadline_s
        self.machines: list[ScriptedMachine] = []

    async def prepare(self) -> tuple[Accel, str]:
        return Accel.TCG, "0"

    def machine(self, accel: Accel, verbose: bool) -> Machine:
        made = ScriptedMachine(self.spec, accel, verbose)
        made.script = self.script
        self.machines.append(made)
        return made
