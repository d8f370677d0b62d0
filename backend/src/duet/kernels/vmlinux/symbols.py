# SPDX-License-Identifier: GPL-2.0-or-later
"""Read names, addresses and sizes of functions and variables from a vmlinux's symbol table.

This takes 0.1 s. System.map contains no sizes, and drgn does not report the parts into which GCC
splits a function. This module runs only in a child.
"""

from __future__ import annotations

import difflib
import mmap
import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from duet.base.errors import InfraError, InputError
from duet.kernels.vmlinux import REMEDY

_SYMBOL = np.dtype(
    [
        *(("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2")),
        *(("value", "<u8"), ("size", "<u8")),
    ]
)
"""Elf64_Sym; see elf(5)."""
_SECTION = np.dtype(
    [
        *(("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8")),
        *(("offset", "<u8"), ("size", "<u8"), ("link", "<u4"), ("info", "<u4")),
        *(("align", "<u8"), ("entry", "<u8")),
    ]
)
"""Elf64_Shdr; see elf(5)."""
_SYMTAB = 2
OBJECT, FUNCTION = 1, 2
KERNEL = 1 << 63
"""Lowest kernel address. Smaller symbol values are offsets of per-CPU variables."""
_LAST = (1 << 64) - 1

Parts = dict[str, tuple[tuple[int, int], ...]]
"""Symbol name -> sorted (start, end) of each function or variable with that name."""


def read_symbols(fd: int, kind: int, path: Path) -> Parts:
    """Read the symbols of all functions, or of all variables, of an ELF file.

    Args:
        kind: FUNCTION or OBJECT.
        path: path that messages show.

    Raises:
        InfraError: the file cannot be read, or has no symbols.
    """
    try:
        return _read(fd, kind)
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise InfraError(
            f"the symbols of {path} cannot be read: {error}.", remedy=REMEDY
        ) from error


def names_at(variables: Parts, addresses: Iterable[int]) -> list[tuple[int, str]]:
    """Return (address, variable name) for addresses in variables; see lenses.scope.symbols."""
    places = sorted(
        (low, high, name) for name, own in variables.items() for low, high in own if low >= KERNEL
    )
    found = []
    for address in addresses:
        at = bisect_right(places, address, key=lambda place: place[0]) - 1
        if at >= 0 and address < places[at][1]:
            low, _, name = places[at]
            found.append((address, f"{name}+{address - low:#x}" if address > low else name))
    return found


def ranges_of(variables: Parts, name: str) -> tuple[tuple[int, int], ...]:
    """Return the address ranges of all variables with this name; see lenses.scope.symbols.

    Raises:
        InputError: the kernel has no such variable, or it is a per-CPU variable.
    """
    found = tuple(place for place in variables.get(name, ()) if place[0] >= KERNEL)
    if found:
        return found
    if name in variables:
        raise InputError(
            f"'{name:.60}' is a per-CPU variable, so it has no single address.",
            remedy="Name a global or static variable of the kernel.",
        )
    near = difflib.get_close_matches(name, variables, n=3, cutoff=0.6)
    remedy = f"Near names: {', '.join(sorted(near))}." if near else "Look into its System.map."
    raise InputError(f"this kernel has no variable '{name:.60}'.", remedy=remedy)


def _read(fd: int, kind: int) -> Parts:
    """Parse header, sections and symbols; see elf(5)."""
    with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as image:
        if image[:6] != b"\x7fELF\x02\x01":
            raise ValueError("not a 64-bit little-endian ELF file")
        (offset,) = struct.unpack_from("<Q", image, 40)
        (count,) = struct.unpack_from("<H", image, 60)
        sections = np.frombuffer(image[offset : offset + count * _SECTION.itemsize], _SECTION)
        tables = sections[sections["type"] == _SYMTAB]
        if not len(tables):
            raise ValueError("the file has no symbol table")
        table, strings = tables[0], sections[tables[0]["link"]]
        names = _slice(image, strings)
        symbols = np.frombuffer(_slice(image, table), _SYMBOL)
    wanted = symbols[(symbols["info"] & 15 == kind) & (symbols["section"] != 0)]
    wanted = wanted[wanted["size"] > 0]
    found: dict[str, set[tuple[int, int]]] = {}
    for at, value, length in zip(
        wanted["name"].tolist(), wanted["value"].tolist(), wanted["size"].tolist(), strict=True
    ):
        if value + length > _LAST:
            raise ValueError(f"a symbol of {length} bytes begins at {value:#x}")
        name = names[at : names.index(b"\0", at)].decode()
        found.setdefault(name, set()).add((value, value + length))
    return {name: tuple(sorted(places)) for name, places in found.items()}


def _slice(image: mmap.mmap, section: np.void) -> bytes:
    begin = int(section["offset"])
    return image[begin : begin + int(section["size"])]


# Find the address ranges of a source function in the kernel. This runs only in a child.
#
# GCC splits functions: NAME.part.N, NAME.constprop.N, NAME.isra.N and NAME.cold are parts of NAME.
# A function that is inlined everywhere has no code of its own, so its accesses count as accesses of
# its callers.


SUFFIX = re.compile(r"(?:\.(?:part|constprop|isra|cold|lto_priv)(?:\.\d+)?)+$")
ENTERED = re.compile(r"(?:\.(?:constprop|isra|lto_priv)(?:\.\d+)?)*$")
"""Suffix of a clone that is called instead of the function. A `.part` is only the function's second
half."""


def places_of(
    parts: Parts, name: str, entered: bool, is_inlined: Callable[[str], bool]
) -> list[tuple[int, int]]:
    """Return the address ranges of a function's parts, starting with its entry point.

    Args:
        entered: whether an entry point is required; if True, parts without an entry point are not
            enough.
        is_inlined: function that returns whether the source has this function; called if no symbol
            has this name.

    Raises:
        InputError: the function is missing, exists only inlined, or shares its name with others.
    """
    symbols = sorted(s for s in parts if s.startswith(name) and SUFFIX.sub("", s) == name)
    # Order: first the function itself, then clones that are called instead of the function, then
    # other parts.
    symbols.sort(key=lambda s: (s != name, not ENTERED.fullmatch(s[len(name) :])))
    for symbol in symbols:
        if len(parts[symbol]) > 1:
            raise InputError(
                f"this kernel has {len(parts[symbol])} functions called '{symbol}', in different "
                "files, so the microscope cannot tell them apart.",
                remedy="Instead, name the functions that call this function.",
            )
    if not symbols or (entered and not ENTERED.fullmatch(symbols[0][len(name) :])):
        raise _absent(parts, name, is_inlined)
    return [place for symbol in symbols for place in parts[symbol]]


def _absent(parts: Parts, name: str, is_inlined: Callable[[str], bool]) -> InputError:
    known = {SUFFIX.sub("", symbol) for symbol in parts} - {name}
    near = [k for k in known if name in k or (k in name and len(k) > 3)]
    near = difflib.get_close_matches(name, near or known, n=3, cutoff=0.5)
    remedy = f"Near names: {', '.join(sorted(near))}." if near else "Look into its System.map."
    if _known(is_inlined, name):
        return InputError(
            f"the function '{name:.60}' has no entry point in this kernel: the compiler inlined "
            "it.",
            remedy=f"Name the functions that call it. {remedy}",
        )
    return InputError(f"this kernel has no function '{name:.60}'.", remedy=remedy)


def _known(is_inlined: Callable[[str], bool], name: str) -> bool:
    try:
        return is_inlined(name)
    except InfraError:  # without DWARF, only the error text is less precise
        return False
