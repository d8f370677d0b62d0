# SPDX-License-Identifier: GPL-2.0-or-later
"""Where functions and variables of a kernel lie, by the symbols of its vmlinux.

They are read in a confined child (duet.kernels.vmlinux); answers are checked. All of this blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from duet.confined import Reply
from duet.confined.replies import Odd, text, whole
from duet.kernels.vmlinux.ask import ask

MOST_PLACES: Final = 16_384
"""Parts of all functions that are asked for, or variables of one name. Usual: under 100."""
LAST: Final = (1 << 64) - 1

Range = tuple[int, int]
"""First byte and end."""


def function_ranges(vmlinux: Path, functions: Sequence[tuple[str, bool]]) -> list[list[Range]]:
    """Of each function its parts, the entry first.

    Args:
        functions: name as in the source, and whether it must have an entry of its own.

    Raises:
        InputError: one is not there, is only inlined, or several have its name.
        InfraError: the file cannot be read, or has no symbols.
    """

    def take(reply: Reply) -> list[list[Range]]:
        found: list[list[Range]] = [[] for _ in functions]
        for number, *place in reply.rows("answer", 3, MOST_PLACES):
            found[whole(number, 0, len(found) - 1)].append(_range(place))
        if not all(found):
            raise Odd("a function without a place")
        return found

    return ask(vmlinux, {"do": "functions", "functions": [list(f) for f in functions]}, take)


def static_names(vmlinux: Path, addresses: Iterable[int]) -> dict[int, str]:
    """Address -> name of the global or static variable that lies there, for those that have one.

    A name gets the byte's offset in it, unless that is 0: `files_stat+0x8`.

    Raises:
        InfraError: the file cannot be read, or has no symbols.
    """
    asked = sorted(set(addresses))

    def take(reply: Reply) -> dict[int, str]:
        rows = reply.rows("answer", 2, len(asked))
        return {whole(address, 0, LAST): text(name) for address, name in rows}

    return ask(vmlinux, {"do": "names", "addresses": asked}, take)


def variable_ranges(vmlinux: Path, name: str) -> tuple[Range, ...]:
    """Where the global or static variable of this name lies: (first byte, end), by address.

    Several files may have a static variable of one name: then there are several ranges.

    Raises:
        InputError: the kernel has no such variable, or each CPU has one of its own.
        InfraError: the file cannot be read, or has no symbols.
    """

    def take(reply: Reply) -> tuple[Range, ...]:
        return tuple(_range(place) for place in reply.rows("answer", 2, MOST_PLACES))

    return ask(vmlinux, {"do": "variable", "name": name}, take)


def _range(place: Sequence[object]) -> Range:
    low, high = (whole(end, 0, LAST) for end in place)
    if low >= high:
        raise Odd("a place that ends before it begins")
    return low, high
