# SPDX-License-Identifier: GPL-2.0-or-later
"""What one boxed build may use, with its usual value. Usual: one changed file, on two CPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from duet.control_groups import Budget

WALL_S: Final = 600.0
"""From start to end. Usual: 15-30 s, and several minutes for a header that reaches much. Beyond
it the build is ended."""
CPU_S: Final = 300
"""CPU time of each process. Usual: 10 s (the link). Beyond it comes SIGKILL."""
PROCESS_BYTES: Final = 3 << 30
"""Address space of each process. Usual: 0.6 GiB (the link). Beyond it malloc fails."""
MEMORY_BYTES: Final = 6 << 30
"""Of all processes together, with what they write: the tree's changes stand in memory. Usual:
1.5 GiB. Beyond it the kernel ends a process, and the build fails."""
DISK_BYTES: Final = 3 << 30
"""What may be written over the tree. Usual: 0.7 GiB (links with DWARF). Beyond it: no space left on
device."""
SCRATCH_BYTES: Final = 256 << 20
"""Of /tmp. Usual: 5 MiB."""
FILES: Final = 100_000
"""New or changed files of the tree. Usual: 200; after a header 4,000."""
FILE_BYTES: Final = 1 << 30
"""The longest file. Usual: 320 MB (vmlinux.o with DWARF)."""
PROCESSES: Final = 256
"""And threads, at once. Usual: 20."""
DESCRIPTORS: Final = 1024
"""Of each process. Usual: 20."""
OUTPUT_BYTES: Final = 8 << 20
"""What make and its programs print. Usual: 3 KB; 120 KB of a whole kernel. Beyond it the build is
ended."""
LINE_CHARACTERS: Final = 2000
"""Of one line of output; the rest is left out."""
TAIL_LINES: Final = 60
"""Of the output that an error shows."""
RESULT_BYTES: Final = 1 << 30
"""Of one file that is copied out. Usual: 7 MB bzImage, 80 MB vmlinux."""
PROBE_S: Final = 120.0
"""Until the probe has run in a box, on a machine that is busy with other things. Usual: 0.4 s."""


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """The bounds of one build; see the constants."""

    wall_s: float = WALL_S
    cpu_s: int = CPU_S
    process_bytes: int = PROCESS_BYTES
    memory_bytes: int = MEMORY_BYTES
    disk_bytes: int = DISK_BYTES
    scratch_bytes: int = SCRATCH_BYTES
    files: int = FILES
    file_bytes: int = FILE_BYTES
    processes: int = PROCESSES
    output_bytes: int = OUTPUT_BYTES

    def budget(self) -> Budget:
        """Of all processes together."""
        return Budget(self.memory_bytes, self.processes)
