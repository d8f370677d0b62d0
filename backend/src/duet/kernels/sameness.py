# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether two built kernels are one: the same code and data, whatever their debug information says.

A comment moves lines, so the build ID (a digest of DWARF, too) differs, and so does the line that
each WARN_ON() leaves in __bug_table. Neither is run.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from duet.errors import DuetError, InputError
from duet.kernels import dwarf
from duet.kernels.elf_data import NOTE, open_data
from duet.kernels.image import KernelImage
from duet.kernels.payload import build_ids

ANOTHER = "Name a patch that changes what is compiled."
BUGS = "__bug_table"
"""The section of struct bug_entry of each WARN_ON (include/asm-generic/bug.h)."""


class SameKernel(InputError):
    """Kernels that were to be compared are one, so nothing is measured."""

    code = "same-kernel"


def refuse_one(images: Mapping[str, KernelImage]) -> None:
    """Before a measurement: is there anything to compare?

    Arms that are equal on purpose, of equal inputs, may be measured.

    Args:
        images: arm -> its kernel, in order.

    Raises:
        SameKernel: the inputs differ, and the kernels are one.
    """
    first, *others = images.values()
    if others and all(one.key != first.key and same_kernel(first, one) for one in others):
        who = "both kernels" if len(others) == 1 else f"all {len(images)} kernels"
        raise SameKernel(
            f"{who} ({', '.join(images)}) are the same build, because what differs in their"
            " sources is not compiled.",
            remedy=ANOTHER,
        )


def same_kernel(one: KernelImage, other: KernelImage) -> bool:
    """Whether nothing that runs differs; False where a file cannot be read."""
    if one.key == other.key:
        return True
    try:
        ids = build_ids(one.vmlinux)
        return (ids != set() and ids == build_ids(other.vmlinux)) or (
            _digest(one.vmlinux) == _digest(other.vmlinux)
        )
    except (OSError, ValueError, IndexError, struct.error):
        return False


@lru_cache(maxsize=32)
def _digest(vmlinux: Path) -> str:
    """Of all that is loaded: names, addresses, contents; of .bss the size."""
    digest = hashlib.sha256()
    with open_data(vmlinux) as data:
        loaded = [section for section in data.sections if section.loaded]
        if not loaded:
            raise ValueError("vmlinux has no section that is loaded")
        for section in loaded:
            if section.kind == NOTE:
                continue  # the build ID
            digest.update(f"{section.name} {section.address} {section.size}\n".encode())
            content = data.content(section)
            if section.name == BUGS:
                content = _without_lines(content, vmlinux)
            digest.update(content)
    return digest.hexdigest()


def _without_lines(table: bytes, vmlinux: Path) -> bytes:
    """__bug_table with zeros for the lines; as it is where DWARF does not know its entries."""
    try:
        size = dwarf.read(vmlinux, "sizeof struct bug_entry")
        at = dwarf.read(vmlinux, "offsetof struct bug_entry.line")
    except DuetError:
        return table
    if size <= 0 or len(table) % size:
        return table
    masked = bytearray(table)
    for start in range(at, len(masked), size):
        masked[start : start + 2] = b"\0\0"
    return bytes(masked)
