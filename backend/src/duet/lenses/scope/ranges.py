# SPDX-License-Identifier: GPL-2.0-or-later
"""Where functions lie in a kernel, as the microscope's functions file.

GCC cuts functions up: NAME.part.N, NAME.constprop.N, NAME.isra.N and NAME.cold are parts of NAME.
A function that was inlined everywhere has no code of its own; its accesses are its callers'.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

from duet.errors import InfraError, InputError
from duet.kernels.dwarf import has_function
from duet.lenses.scope.symbols import Parts, read_functions

MAX_FUNCTIONS = 256
"""FUNCTIONS_MAX of vm-images/microscope/functions.h."""
SUFFIX = re.compile(r"(?:\.(?:part|constprop|isra|cold|lto_priv)(?:\.\d+)?)+$")
ENTERED = re.compile(r"(?:\.(?:constprop|isra|lto_priv)(?:\.\d+)?)*$")
"""A clone that is called instead of the function; a `.part` is only its second half."""


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
    parts = read_functions(vmlinux)
    taken: dict[int, str] = {}
    lines = ["microscope 1"]
    for name in functions:
        for low, high in _ranges(vmlinux, parts, name, name in (operation, until)):
            if low in taken:
                raise _twice(name, taken[low])
            taken[low] = name
            lines.append(f"function {name} {low:x} {high:x}")
    if operation is not None:
        lines.append(f"operation {operation}")
    if until is not None:
        lines.append(f"until {until}")
    if switch is not None:
        lines.append(f"switch {_ranges(vmlinux, parts, switch, True)[0][0]:x}")
    return "\n".join(lines) + "\n"


def _ranges(vmlinux: Path, parts: Parts, name: str, entered: bool) -> list[tuple[int, int]]:
    """The function's parts, its entry first."""
    symbols = sorted(s for s in parts if s.startswith(name) and SUFFIX.sub("", s) == name)
    # The function itself, then clones that are called in its place, then the rest.
    symbols.sort(key=lambda s: (s != name, not ENTERED.fullmatch(s[len(name) :])))
    for symbol in symbols:
        if len(parts[symbol]) > 1:
            raise InputError(
                f"this kernel has {len(parts[symbol])} functions called '{symbol}', in different "
                "files, so the microscope cannot tell which one is meant.",
                remedy="Leave it out, and look at its callers.",
            )
    if not symbols or (entered and not ENTERED.fullmatch(symbols[0][len(name) :])):
        raise _absent(vmlinux, parts, name)
    return [place for symbol in symbols for place in parts[symbol]]


def _absent(vmlinux: Path, parts: Parts, name: str) -> InputError:
    known = {SUFFIX.sub("", symbol) for symbol in parts} - {name}
    near = [k for k in known if name in k or (k in name and len(k) > 3)]
    near = difflib.get_close_matches(name, near or known, n=3, cutoff=0.5)
    remedy = f"Near names: {', '.join(sorted(near))}." if near else "Look into its System.map."
    if _is_inlined(vmlinux, name):
        return InputError(
            f"the function '{name:.60}' has no entry of its own in this kernel: the compiler "
            "inlined it.",
            remedy=f"Name the functions that call it. {remedy}",
        )
    return InputError(f"this kernel has no function '{name:.60}'.", remedy=remedy)


def _is_inlined(vmlinux: Path, name: str) -> bool:
    try:
        return has_function(vmlinux, name)
    except InfraError:  # no DWARF; the answer is only a better sentence
        return False


def _twice(name: str, other: str) -> InputError:
    also = "twice" if name == other else f"also as '{other}', which is the same code"
    return InputError(
        f"the microscope was given the function '{name}' {also}.", remedy="Leave one of them out."
    )
