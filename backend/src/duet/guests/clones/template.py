# SPDX-License-Identifier: GPL-2.0-or-later
"""Templates: the stored state of a parked guest, and a key made from its inputs."""

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

# Split a plan into lines for the template and lines for each copy. Pure.

AMENDABLE = ("write ", "run ", "deadline_ms ")
"""Lines that RESUME may contain (is_amendment() in vm-images/agent/plan.c)."""
CHECK = "duet-check"
"""Program in the guest that checks the copy (vm-images/root/duet-check)."""


def split_plan(plan: str) -> tuple[str, str]:
    """Split a plan into the template's lines and the lines that each copy gets.

    A workload's knobs affect only the lines for the copies.
    """
    lines = plan.splitlines(keepends=True)
    base = "".join(line for line in lines if not line.startswith(AMENDABLE))
    return base, "".join(line for line in lines if line.startswith(AMENDABLE))


def parked_plan(plan: str) -> str:
    """Return the plan of a template. A plan needs a workload, which a template never starts."""
    return f"{split_plan(plan)[0]}run {CHECK}\n"


def check_amendment() -> str:
    """Return the amendment that makes a copy run CHECK."""
    return f"deadline_ms 20000\nrun {CHECK}\n"


# Memory and disks of a template are memfds, which vanish with this process.

PIECE_BYTES = 64 << 10
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW, _SEAL_WRITE = 0x1, 0x2, 0x4, 0x8


def create_memfd(name: str, size_bytes: int = 0) -> int:
    """Create an empty, sparse, sealable memfd (memfd_create(2)) and return its file descriptor."""
    number = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    if size_bytes:
        os.ftruncate(number, size_bytes)
    return number


def seal_memfd(number: int) -> None:
    """Seal a memfd against all further writes. Only private mappings remain writable.

    Raises:
        OSError: a process has a shared, writable mapping of the memfd (EBUSY).
    """
    fcntl.fcntl(number, fcntl.F_ADD_SEALS, _SEAL_WRITE | _SEAL_GROW | _SEAL_SHRINK | _SEAL_SEAL)


def held_bytes(number: int) -> int:
    """Return the number of bytes of memory that a memfd uses. Holes use no memory."""
    return os.fstat(number).st_blocks * 512


def copy_sparse(source: int, target: int) -> None:
    """Copy a file into an empty file. Blocks of zeros become holes.

    This call blocks for about 10 ms for an empty XFS of 64 MiB, whose log consists of written
    zeros.
    """
    size, at = os.fstat(source).st_size, 0
    os.ftruncate(target, size)
    while at < size:
        try:
            at = os.lseek(source, at, os.SEEK_DATA)
        except OSError:  # with ENXIO the rest of the file is a hole
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
    """Return a hash of everything that a template is made from; None if no template is possible.

    Guests on the count clock always boot, because their boot is repeatable to the instruction.
    Guests whose plan is unknown or is given at boot, such as guests of measure runs, also boot.
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
    """Return values that identify a file's current content, without reading the file."""
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return [str(path)]
    return [str(path), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]


@dataclass(slots=True)
class Template:
    """One parked guest, in sealed memfds.

    Args:
        key: from template_key().
        plan: plan that is set up in the parked guest.
        memory: file descriptor of the guest's memory.
        state: file descriptor of QEMU's migration stream without that memory.
        disks: file descriptors of the guest's scratch disks.
        greeting: bytes of the control port up to HELLO.
        setup: bytes of the control port after PLAN, up to READY.
        made_s: seconds that the boot and the plan took.
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
    """Random bytes that the template's copies have drawn. A repeated value reveals a copy that got
    no new seed."""

    @property
    def held_bytes(self) -> int:
        return sum(held_bytes(number) for number in (self.memory, self.state, *self.disks))

    def close(self) -> None:
        """Close the descriptors. The memory is freed when the last copy has ended."""
        for number in (self.memory, self.state, *self.disks):
            with suppress(OSError):
                os.close(number)


# QEMU whose guest memory is in a file.
#
# The template's QEMU maps the memory file as shared, and each copy maps the file privately. QEMU's
# migration with `x-ignore-shared` saves the state of the machine without its memory
# (docs/devel/migration.rst in QEMU's source). Template and copies must have identical machine
# arguments.

WITHOUT_MEMORY = [{"capability": "x-ignore-shared", "state": True}]
MAKING_NICE = 10


class FileMemoryMachine(QemuMachine):
    """Guest with a file as its memory; the file is given as a file descriptor."""

    memory = -1
    share = "on"

    def memory_args(self) -> list[str]:
        self._descriptors.append(self.memory)
        size, path = self.spec.memory_mib, f"/proc/self/fd/{self.memory}"
        backend = f"memory-backend-file,id=ram,size={size}M,mem-path={path},share={self.share}"
        return ["-object", backend, "-M", "q35,memory-backend=ram", "-m", str(size)]


class ParkedMachine(FileMemoryMachine):
    """Guest from which a template is made. It runs at a low priority."""

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        nice = find_program("nice", "coreutils")
        return [nice, "-n", str(MAKING_NICE), *super().argv(folder, sockets)]
