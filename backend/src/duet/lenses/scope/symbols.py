# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses of a kernel's functions and variables, from the symbols of its vmlinux.

A confined child process reads the vmlinux (duet.kernels.vmlinux), and its answers are checked. All
functions here block.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from duet.base.errors import InputError
from duet.confine import ReplyReader
from duet.confine.messages import BadReply, as_integer, as_text
from duet.kernels.vmlinux.ask import ask

MOST_PLACES: Final = 16_384
"""Maximum number of function ranges in one answer, and of variables with the same name. Usual:
under 100.
"""
LAST: Final = (1 << 64) - 1

Range = tuple[int, int]
"""Address of the first byte, and of the byte after the last."""


def function_ranges(vmlinux: Path, functions: Sequence[tuple[str, bool]]) -> list[list[Range]]:
    """Return the address ranges of each function; the first range contains the entry.

    Args:
        functions: name of each function as in the source, and whether it must have an entry.

    Raises:
        InputError: a function is missing, exists only inlined, or has the same name as another.
        InfraError: the file cannot be read, or has no symbols.
    """

    def take(reply: ReplyReader) -> list[list[Range]]:
        found: list[list[Range]] = [[] for _ in functions]
        for number, *place in reply.rows("answer", 3, MOST_PLACES):
            found[as_integer(number, 0, len(found) - 1)].append(_range(place))
        if not all(found):
            raise BadReply("a function without an address range")
        return found

    return ask(vmlinux, {"do": "functions", "functions": [list(f) for f in functions]}, take)


def static_names(vmlinux: Path, addresses: Iterable[int]) -> dict[int, str]:
    """Map each address to the global or static variable there. Omit addresses outside variables.

    A name includes the byte's offset unless it is 0: `files_stat+0x8`.

    Raises:
        InfraError: the file cannot be read, or has no symbols.
    """
    asked = sorted(set(addresses))

    def take(reply: ReplyReader) -> dict[int, str]:
        rows = reply.rows("answer", 2, len(asked))
        return {as_integer(address, 0, LAST): as_text(name) for address, name in rows}

    return ask(vmlinux, {"do": "names", "addresses": asked}, take)


def variable_ranges(vmlinux: Path, name: str) -> tuple[Range, ...]:
    """Return the ranges of the global or static variables of this name, sorted by address.

    Several files may have a static variable of the same name.

    Raises:
        InputError: the kernel has no such variable, or the variable is per-CPU.
        InfraError: the file cannot be read, or has no symbols.
    """

    def take(reply: ReplyReader) -> tuple[Range, ...]:
        return tuple(_range(place) for place in reply.rows("answer", 2, MOST_PLACES))

    return ask(vmlinux, {"do": "variable", "name": name}, take)


def _range(place: Sequence[object]) -> Range:
    low, high = (as_integer(end, 0, LAST) for end in place)
    if low >= high:
        raise BadReply("a range that ends before it begins")
    return low, high


# The microscope's functions file, which lists the address ranges of functions in a kernel.


MAX_FUNCTIONS = 256
"""The same number as FUNCTIONS_MAX in vm-images/microscope/functions.h."""


def functions_text(
    vmlinux: Path,
    functions: Sequence[str],
    operation: str | None,
    switch: str | None,
    until: str | None = None,
) -> str:
    """Return a kernel's functions file.

    Args:
        vmlinux: the ELF file, with symbols.
        functions: names as in the source; a function's position in the list is its number.
        operation: the one of these functions whose entry begins an operation and whose return ends
            it.
        until: another of these functions, whose return ends the operation instead.
        switch: the function that switches tasks, `__switch_to_asm`; if None, operations that sleep
            are not detected.

    Raises:
        InputError: a function is missing, exists only inlined, or is named twice.
        InfraError: vmlinux cannot be read.
    """
    if not 1 <= len(functions) <= MAX_FUNCTIONS:
        raise InputError(
            f"the microscope takes 1 to {MAX_FUNCTIONS} functions, not {len(functions)}.",
            remedy="Name the functions that access the watched object.",
        )
    for end in (operation, until):
        if end is not None and end not in functions:
            raise InputError(
                f"the operation '{end:.60}' is not among the microscope's functions.",
                remedy="Add the operation to the functions, or choose another operation.",
            )
    asked = [(name, name in (operation, until)) for name in functions]
    asked += [(switch, True)] if switch is not None else []
    places = function_ranges(vmlinux, asked)
    taken: dict[int, str] = {}
    lines = ["microscope 1"]
    for name, own in zip(functions, places, strict=False):  # the last range is that of `switch`
        for low, high in own:
            if low in taken:
                raise _twice(name, taken[low])
            taken[low] = name
            lines.append(f"function {name} {low:x} {high:x}")
    if operation is not None:
        lines.append(f"operation {operation}")
    if until is not None:
        lines.append(f"until {until}")
    if switch is not None:
        lines.append(f"switch {places[-1][0][0]:x}")
    return "\n".join(lines) + "\n"


def _twice(name: str, other: str) -> InputError:
    also = "twice" if name == other else f"also as '{other}', which is the same code"
    return InputError(
        f"the microscope was given the function '{name}' {also}.", remedy="Leave one of them out."
    )
