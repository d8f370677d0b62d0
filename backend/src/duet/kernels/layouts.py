# SPDX-License-Identifier: GPL-2.0-or-later
"""Further layouts of a kernel's code: in which order the text of its objects is linked. Pure.

An effect of a patch may be one of addresses: what shares a line, a page or a slot of a predictor
(Mytkowicz et al., Producing Wrong Data Without Doing Anything Obviously Wrong, ASPLOS 2009). The
linker script of a layout names the `.text` of each object in another order, behind a gap. Nothing
else moves: the order of the objects themselves is that of the initcalls, of tables and of data.

A layout is its number: the same number orders the objects of every arm alike, as far as they have
the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from duet.errors import KernelError
from duet.kernels.recipe import KernelKey

MIN_LAYOUTS = 5
"""Fewer relinks say nothing about a spread."""
MAX_LAYOUTS = 30
SCHEME = 1
"""Rises when a number comes to mean another order."""
ARCHIVE = "vmlinux.a"
"""The thin archive of all objects that kbuild links the kernel from (scripts/link-vmlinux.sh)."""
TEXT = ".text .text.fixup"
"""Sections of the objects' code, as include/asm-generic/vmlinux.lds.h names them (TEXT_TEXT)."""
GAP_STEP = 16
"""Bytes: functions are aligned to 16, so that a gap of a part of it would be rounded up."""
PAGE = 4096


def layout_key(key: KernelKey, number: int) -> KernelKey:
    """The name in the store of a layout of a kernel; 0 is the kernel itself."""
    return KernelKey(f"{key}-layout{SCHEME}.{number}") if number else key


def layout_order(names: Iterable[str], number: int) -> list[str]:
    """The objects in the order of a layout; one that is new or gone moves no other."""
    return sorted(names, key=lambda name: _draw(number, name))


def layout_gap(number: int) -> int:
    """Bytes before the first object's code: what follows all objects moves by it, too."""
    return int.from_bytes(_draw(number, "gap")[:4], "big") % PAGE // GAP_STEP * GAP_STEP


def layout_script(script: str, names: Iterable[str], number: int) -> str:
    """The kernel's linker script for a layout.

    Args:
        script: arch/x86/kernel/vmlinux.lds as kbuild made it.
        names: the objects, as `ar t` lists them.

    Raises:
        KernelError: the script does not have the one place where objects' code goes.
    """
    place = f"*({TEXT})"
    if script.count(place) != 1:
        raise KernelError(
            f"wanted to link the kernel in another order, but its linker script names {place} "
            f"{script.count(place)} times.",
            remedy="Leave --layouts out for arms on this base.",
        )
    order = "\n".join(f"{ARCHIVE}:{name}({TEXT})" for name in layout_order(names, number))
    return script.replace(place, f". = . + {layout_gap(number)};\n{order}\n{place}")


def _draw(number: int, name: str) -> bytes:
    """Random, and the same each time."""
    return hashlib.sha256(f"{SCHEME} {number} {name}".encode()).digest()
