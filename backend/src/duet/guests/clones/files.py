# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory and disks of a template, as files without a name that end with this process (memfd)."""

from __future__ import annotations

import fcntl
import os

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
