# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU whose guest's memory is a file, and the template in the making.

The template's QEMU shares that file, a copy maps it privately. The stream of the rest goes over
QEMU's migration with `x-ignore-shared`, which leaves the memory out (docs/devel/migration.rst of
QEMU). All command lines name the same machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from duet.guests.qemu import QemuMachine
from duet.processes.owned import find_program

WITHOUT_MEMORY = [{"capability": "x-ignore-shared", "state": True}]
MAKING_NICE = 10


class FileMemoryMachine(QemuMachine):
    """A guest whose memory is the file behind a descriptor."""

    memory = -1
    share = "on"

    def memory_args(self) -> list[str]:
        """See QemuMachine.memory_args()."""
        self._descriptors.append(self.memory)
        size, path = self.spec.memory_mib, f"/proc/self/fd/{self.memory}"
        backend = f"memory-backend-file,id=ram,size={size}M,mem-path={path},share={self.share}"
        return ["-object", backend, "-M", "q35,memory-backend=ram", "-m", str(size)]


class ParkedMachine(FileMemoryMachine):
    """The guest of a template in the making. Nobody waits for it, so others go first."""

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        """See Machine.argv()."""
        nice = find_program("nice", "coreutils")
        return [nice, "-n", str(MAKING_NICE), *super().argv(folder, sockets)]
