# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes a file out of a box: no link is followed, and size and first bytes are looked at before."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

HEAD_BYTES = 1024
_X86_64 = 62


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that a build makes.

    Args:
        name: relative to the tree.
        to: where it is copied; nothing is there yet.
        kind: "vmlinux" (64-bit ELF of x86), "bzImage", "object" (any ELF) or "text".
        most_bytes: its longest.
    """

    name: str
    to: str
    kind: str
    most_bytes: int


class BadResult(Exception):
    """The sentence says what is wrong with it."""


def take(top: Path, wanted: Wanted) -> int:
    """Copy a result out of the tree at `top`; returns its bytes. All processes must have ended.

    Raises:
        BadResult: it is missing, no plain file, reached by a link, too large, or of another kind.
    """
    source = _open(top, wanted.name)
    try:
        about = os.fstat(source)
        if not stat.S_ISREG(about.st_mode):
            raise BadResult(f"{wanted.name} is no plain file")
        if not 0 < about.st_size <= wanted.most_bytes:
            raise BadResult(
                f"{wanted.name} has {about.st_size:,} bytes, and 1 to {wanted.most_bytes:,} are"
                " taken"
            )
        if not is_kind(os.pread(source, HEAD_BYTES, 0), wanted.kind):
            raise BadResult(f"{wanted.name} does not begin as {_WORDS[wanted.kind]} does")
        left = about.st_size
        with Path(wanted.to).open("xb") as out:
            while left and (sent := os.sendfile(out.fileno(), source, None, left)):
                left -= sent
        return about.st_size
    finally:
        os.close(source)


def is_kind(head: bytes, kind: str) -> bool:
    """Whether a file begins as one of this kind.

    elf(5); Documentation/x86/boot.rst: 0x55AA at 0x1fe and "HdrS" at 0x202.
    """
    if kind == "bzImage":
        return head[0x1FE:0x200] == b"\x55\xaa" and head[0x202:0x206] == b"HdrS"
    if kind in ("vmlinux", "object"):
        elf = head[:7] == b"\x7fELF\x02\x01\x01" and head[18:20] == _X86_64.to_bytes(2, "little")
        return elf and (kind == "object" or head[16:18] in (b"\x02\x00", b"\x03\x00"))
    return kind == "text" and b"\0" not in head


_WORDS = {
    "bzImage": "a bzImage",
    "vmlinux": "an ELF program for x86-64",
    "object": "an ELF object for x86-64",
    "text": "a text",
}


def _open(top: Path, name: str) -> int:
    """A descriptor, part by part, so that no link is followed."""
    *folders, last = name.split("/")
    at = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folders:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        return os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    except OSError as error:
        why = "is missing" if isinstance(error, FileNotFoundError) else "is no plain file"
        raise BadResult(f"{name} {why}") from None
    finally:
        os.close(at)
