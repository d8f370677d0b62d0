# SPDX-License-Identifier: GPL-2.0-or-later
"""Where functions lie in a kernel, as the microscope's functions file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from duet.errors import InputError
from duet.lenses.scope.symbols import function_ranges

MAX_FUNCTIONS = 256
"""FUNCTIONS_MAX of vm-images/microscope/functions.h."""


def functions_text(
    vmlinux: Path,
    functions: Sequence[str],
    operation: str | None,
    switch: str | None,
    until: str | None = None,
) -> str:
    """The functions file of a kernel.

    Args:
        vmlinux: the ELF file, with symbols.
        functions: names as in the source; the position is the function's number.
        operation: one of them, whose entry begins an operation and whose return ends it.
        until: another of them, whose return ends it instead.
        switch: where tasks change, `__switch_to_asm`; None: operations that sleep go unnoticed.

    Raises:
        InputError: a function is not there, is only inlined, or is named twice.
        InfraError: vmlinux cannot be read.
    """
    if not 1 <= len(functions) <= MAX_FUNCTIONS:
        raise InputError(
            f"the microscope looks at 1 to {MAX_FUNCTIONS} functions, but {len(functions)} came.",
            remedy="Name those that touch the object in question.",
        )
    for end in (operation, until):
        if end is not None and end not in functions:
            raise InputError(
                f"the operation '{end:.60}' is none of the functions of the microscope.",
                remedy="Add it to the functions, or choose another operation.",
            )
    asked = [(name, name in (operation, until)) for name in functions]
    asked += [(switch, True)] if switch is not None else []
    places = function_ranges(vmlinux, asked)
    taken: dict[int, str] = {}
    lines = ["microscope 1"]
    for name, own in zip(functions, places, strict=False):  # the last is that of `switch`
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
