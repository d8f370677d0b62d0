# SPDX-License-Identifier: GPL-2.0-or-later
"""A parked guest: what is stored of it, and what it was made from."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from duet.guests.qemu import QemuMachine, kernel_cmdline
from duet.guests.types import GuestSpec
from duet.processes.owned import find_program

# Which lines of a plan a template holds, and which each copy gets by itself. Pure.

AMENDABLE = ("write ", "run ", "deadline_ms ")
"""What the agent takes from RESUME (vm-images/agent/plan.c: is_amendment)."""
CHECK = "duet-check"
"""Its program in the guest says whether a copy is sound; see vm-images/root."""


def split_plan(plan: str) -> tuple[str, str]:
    """(what is set up once, what each copy gets); knobs of a workload change the second alone."""
    lines = plan.splitlines(keepends=True)
    base = "".join(line for line in lines if not line.startswith(AMENDABLE))
    return base, "".join(line for line in lines if line.startswith(AMENDABLE))


def parked_plan(plan: str) -> str:
    """What the template itself is set up with: a plan needs a workload, which never starts."""
    return f"{split_plan(plan)[0]}run {CHECK}\n"


def check_amendment() -> str:
    """The copy that is made to be checked runs this."""
    return f"deadline_ms 20000\nrun {CHECK}\n"


# Memory and disks of a template, as files without a name that end with this process (memfd).

PIECE_BYTES = 64 << 10
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW, _SEAL_WRITE = 0x1, 0x2, 0x4, 0x8


def nameless(name: str, size_bytes: int = 0) -> int:
    """A descriptor of an empty file in memory, sparse, that can be sealed; memfd_create(2)."""
    number = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    if size_bytes:
        os.ftruncate(number, size_bytes)
    return number


def seal(number: int) -> None:
    """Nobody writes to it any more, not even who may open it: private mappings alone remain.

    Raises:
        OSError: somebody has it mapped for writing (EBUSY).
    """
    fcntl.fcntl(number, fcntl.F_ADD_SEALS, _SEAL_WRITE | _SEAL_GROW | _SEAL_SHRINK | _SEAL_SEAL)


def held_bytes(number: int) -> int:
    """Memory that it takes: holes take none."""
    return os.fstat(number).st_blocks * 512


def copy_sparse(source: int, target: int) -> None:
    """Bytes of one file into another that reads as zeros so far; zeros become holes.

    Blocking: some 10 ms for the 64 MiB of an empty XFS, whose log is written as zeros.
    """
    size, at = os.fstat(source).st_size, 0
    os.ftruncate(target, size)
    while at < size:
        try:
            at = os.lseek(source, at, os.SEEK_DATA)
        except OSError:  # ENXIO: the rest is a hole
            return
        end = os.lseek(source, at, os.SEEK_HOLE)
        while at < end:
            piece = os.pread(source, min(PIECE_BYTES, end - at), at)
            if not piece:
                return
            if piece.count(0) != len(piece):
                os.pwrite(target, piece, at)
            at += len(piece)


def template_key(spec: GuestSpec, qemu_version: str) -> str | None:
    """Names a template by everything that it is made from; None where there can be none.

    There is none on the count clock, whose runs repeat a boot to the instruction, and none for a
    guest whose plan is not known or traces nothing: measure runs boot.
    """
    if spec.clock != "wall" or spec.plan is None or spec.boot_plan is not None:
        return None
    made_of = {
        "qemu": qemu_version,
        "kernel": _identity(spec.bzimage),
        "root": _identity(spec.initrd),
        "plugin": _identity(spec.microscope.plugin) if spec.microscope else None,
        "functions": spec.microscope.functions if spec.microscope else None,
        "cmdline": kernel_cmdline(spec, verbose=False),
        "machine": [spec.vcpus, spec.memory_mib, spec.disks_mib],
        "plan": parked_plan(spec.plan),
    }
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:24]


def _identity(path: Path | None) -> list[str | int] | None:
    """A file as it is now: another one at its path is another one."""
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return [str(path)]
    return [str(path), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]


@dataclass(slots=True)
class Template:
    """One parked guest. Its descriptors are files in memory, sealed.

    Args:
        key: see template_key().
        plan: what it was set up with.
        memory: descriptor of the guest's memory.
        state: descriptor of QEMU's migration stream without that memory.
        disks: descriptors of its scratch disks.
        greeting: bytes of the control port up to HELLO.
        setup: bytes of the control port after PLAN, up to READY.
        made_s: how long the boot and the plan took.
    """

    key: str
    plan: str
    memory: int
    state: int
    disks: tuple[int, ...]
    greeting: bytes
    setup: bytes
    made_s: float
    drawn: set[bytes] = field(default_factory=set)
    """Random bytes that its copies drew: a second time the same means that none was reseeded."""

    @property
    def held_bytes(self) -> int:
        return sum(held_bytes(number) for number in (self.memory, self.state, *self.disks))

    def close(self) -> None:
        """Give its memory back, when the last copy has ended."""
        for number in (self.memory, self.state, *self.disks):
            with suppress(OSError):
                os.close(number)


# QEMU whose guest's memory is a file, and the template in the making.
#
# The template's QEMU shares that file, a copy maps it privately. The stream of the rest goes over
# QEMU's migration with `x-ignore-shared`, which leaves the memory out (docs/devel/migration.rst of
# QEMU). All command lines name the same machine.

WITHOUT_MEMORY = [{"capability": "x-ignore-shared", "state": True}]
MAKING_NICE = 10


class FileMemoryMachine(QemuMachine):
    """A guest whose memory is the file behind a descriptor."""

    memory = -1
    share = "on"

    def memory_args(self) -> list[str]:
        self._descriptors.append(self.memory)
        size, path = self.spec.memory_mib, f"/proc/self/fd/{self.memory}"
        backend = f"memory-backend-file,id=ram,size={size}M,mem-path={path},share={self.share}"
        return ["-object", backend, "-M", "q35,memory-backend=ram", "-m", str(size)]


class ParkedMachine(FileMemoryMachine):
    """The guest of a template in the making. Nobody waits for it, so others go first."""

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        nice = find_program("nice", "coreutils")
        return [nice, "-n", str(MAKING_NICE), *super().argv(folder, sockets)]
