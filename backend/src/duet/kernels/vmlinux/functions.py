# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a kernel has the functions of its source. Runs in a child alone.

GCC cuts functions up: NAME.part.N, NAME.constprop.N, NAME.isra.N and NAME.cold are parts of NAME.
A function that was inlined everywhere has no code of its own; its accesses are its callers'.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable

from duet.errors import InfraError, InputError
from duet.kernels.vmlinux.symbols import Parts

SUFFIX = re.compile(r"(?:\.(?:part|constprop|isra|cold|lto_priv)(?:\.\d+)?)+$")
ENTERED = re.compile(r"(?:\.(?:constprop|isra|lto_priv)(?:\.\d+)?)*$")
"""A clone that is called instead of the function; a `.part` is only its second half."""


def places_of(
    parts: Parts, name: str, entered: bool, is_inlined: Callable[[str], bool]
) -> list[tuple[int, int]]:
    """The function's parts, its entry first.

    Args:
        entered: it must have an entry of its own.
        is_inlined: whether the source has a function of this name; asked of one that is absent.

    Raises:
        InputError: it is not there, is only inlined, or several have this name.
    """
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
        raise _absent(parts, name, is_inlined)
    return [place for symbol in symbols for place in parts[symbol]]


def _absent(parts: Parts, name: str, is_inlined: Callable[[str], bool]) -> InputError:
    known = {SUFFIX.sub("", symbol) for symbol in parts} - {name}
    near = [k for k in known if name in k or (k in name and len(k) > 3)]
    near = difflib.get_close_matches(name, near or known, n=3, cutoff=0.5)
    remedy = f"Near names: {', '.join(sorted(near))}." if near else "Look into its System.map."
    if _known(is_inlined, name):
        return InputError(
            f"the function '{name:.60}' has no entry of its own in this kernel: the compiler "
            "inlined it.",
            remedy=f"Name the functions that call it. {remedy}",
        )
    return InputError(f"this kernel has no function '{name:.60}'.", remedy=remedy)


def _known(is_inlined: Callable[[str], bool], name: str) -> bool:
    try:
        return is_inlined(name)
    except InfraError:  # no DWARF; the answer is only a better sentence
        return False
