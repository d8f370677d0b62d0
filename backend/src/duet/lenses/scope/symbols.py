# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions and variables of a vmlinux, out of its symbol table: names, starts, sizes. 0.1 s.

System.map has no sizes, and drgn no names of the parts into which GCC cuts a function.
"""

from __future__ import annotations

import difflib
import mmap
import struct
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np

from duet.errors import InfraError, InputError

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
_OBJECT, _FUNC = 1, 2
KERNEL = 1 << 63
"""Symbols below are offsets of per-CPU variables, not addresses."""

Parts = dict[str, tuple[tuple[int, int], ...]]
"""Symbol -> (start, end) of each function that is called so, by address."""


def read_functions(vmlinux: Path) -> Parts:
    """All functions of an ELF file.

    Raises:
        InfraError: it cannot be read, or has no symbols.
    """
    return _read_kind(vmlinux, _FUNC)


def static_names(vmlinux: Path, addresses: Iterable[int]) -> dict[int, str]:
    """Address -> name of the global or static variable that lies there, for those that have one.

    A name gets the byte's offset in it, unless that is 0: `files_stat+0x8`.

    Raises:
        InfraError: the file cannot be read, or has no symbols.
    """
    parts = _read_kind(vmlinux, _OBJECT)
    places = sorted(
        (low, high, name) for name, own in parts.items() for low, high in own if low >= KERNEL
    )
    found: dict[int, str] = {}
    for address in addresses:
        at = bisect_right(places, address, key=lambda place: place[0]) - 1
        if at >= 0 and address < places[at][1]:
            low, _, name = places[at]
            found[address] = f"{name}+{address - low:#x}" if address > low else name
    return found


def variable_ranges(vmlinux: Path, name: str) -> tuple[tuple[int, int], ...]:
    """Where the global or static variable of this name lies: (first byte, end), by address.

    Several files may have a static variable of one name: then there are several ranges.

    Raises:
        InputError: the kernel has no such variable, or each CPU has one of its own.
        InfraError: the file cannot be read, or has no symbols.
    """
    parts = _read_kind(vmlinux, _OBJECT)
    found = tuple(place for place in parts.get(name, ()) if place[0] >= KERNEL)
    if found:
        return found
    if name in parts:
        raise InputError(
            f"'{name:.60}' is a per-CPU variable, so it has no line of its own.",
            remedy="Name a global or static variable of the kernel.",
        )
    near = difflib.get_close_matches(name, parts, n=3, cutoff=0.6)
    remedy = f"Near names: {', '.join(sorted(near))}." if near else "Look into its System.map."
    raise InputError(f"this kernel has no variable '{name:.60}'.", remedy=remedy)


def _read_kind(vmlinux: Path, kind: int) -> Parts:
    try:
        stat = vmlinux.stat()
        return _read(vmlinux, kind, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise InfraError(
            f"the symbols of {vmlinux} cannot be read: {error}.",
            remedy="Build the kernel again with ./duet build.",
        ) from error


@lru_cache(maxsize=8)
def _read(vmlinux: Path, kind: int, mtime_ns: int, size: int) -> Parts:
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
    wanted = symbols[(symbols["info"] & 15 == kind) & (symbols["section"] != 0)]
    wanted = wanted[wanted["size"] > 0]
    found: dict[str, set[tuple[int, int]]] = {}
    for at, value, length in zip(
        wanted["name"].tolist(), wanted["value"].tolist(), wanted["size"].tolist(), strict=True
    ):
        name = names[at : names.index(b"\0", at)].decode()
        found.setdefault(name, set()).add((value, value + length))
    return {name: tuple(sorted(places)) for name, places in found.items()}
