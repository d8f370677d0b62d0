# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of a vmlinux, out of its symbol table: names, starts and sizes. Takes 0.1 s.

System.map has no sizes, and drgn no names of the parts into which GCC cuts a function.
"""

from __future__ import annotations

import mmap
import struct
from functools import lru_cache
from pathlib import Path

import numpy as np

from duet.errors import InfraError

_SYMBOL = np.dtype(
    [
        *(("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")),
        *(("value", "<u8"), ("size", "<u8")),
    ]
)
"""Elf64_Sym of elf(5)."""
_SECTION = np.dtype(
    [
        *(("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8")),
        *(("offset", "<u8"), ("size", "<u8"), ("link", "<u4"), ("info", "<u4")),
        *(("align", "<u8"), ("entry", "<u8")),
    ]
)
"""Elf64_Shdr."""
_SYMTAB = 2
_FUNC = 2

Parts = dict[str, tuple[tuple[int, int], ...]]
"""Symbol -> (start, end) of each function that is called so, by address."""


def read_functions(vmlinux: Path) -> Parts:
    """All functions of an ELF file.

    Raises:
        InfraError: it cannot be read, or has no symbols.
    """
    try:
        stat = vmlinux.stat()
        return _read(vmlinux, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise InfraError(
            f"The symbols of {vmlinux} cannot be read: {error}.",
            remedy="Build the kernel again with ./duet build.",
        ) from error


@lru_cache(maxsize=8)
def _read(vmlinux: Path, mtime_ns: int, size: int) -> Parts:
    """Header, sections, symbols; see elf(5). The stat values are there for the cache."""
    with vmlinux.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        if image[:6] != b"\x7fELF\x02\x01":
            raise ValueError("it is no ELF file of 64 bits, little endian")
        (offset,) = struct.unpack_from("<Q", image, 40)
        (count,) = struct.unpack_from("<H", image, 60)
        sections = np.frombuffer(image[offset : offset + count * _SECTION.itemsize], _SECTION)
        tables = sections[sections["type"] == _SYMTAB]
        if not len(tables):
            raise ValueError("it has no symbol table")
        table, strings = tables[0], sections[tables[0]["link"]]
        names = image[int(strings["offset"]) : int(strings["offset"] + strings["size"])]
        symbols = np.frombuffer(
            image[int(table["offset"]) : int(table["offset"] + table["size"])], _SYMBOL
        )
    wanted = symbols[(symbols["info"] & 15 == _FUNC) & (symbols["section"] != 0)]
    wanted = wanted[wanted["size"] > 0]
    found: dict[str, set[tuple[int, int]]] = {}
    for at, value, length in zip(
        wanted["name"].tolist(), wanted["value"].tolist(), wanted["size"].tolist(), strict=True
    ):
        name = names[at : names.index(b"\0", at)].decode()
        found.setdefault(name, set()).add((value, value + length))
    return {name: tuple(sorted(places)) for name, places in found.items()}
