# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of the microscope's operations: how many, why some broke off, why there is none."""

from __future__ import annotations

from collections.abc import Mapping

from duet.errors import InfraError
from duet.lenses.scope import Cells
from duet.session.events import MicroscopeRequest

BROKEN = {
    "ops_slept": "slept or were preempted",
    "ops_left": "left by a jump to another function (a tail call), which returns in its place",
    "ops_again": "entered again before their end (recursion, an interrupt, an indirect jump)",
}
"""Why an operation is not whole: the count's name, and words."""


def broken_words(counts: Mapping[str, int]) -> str:
    """How many operations broke off, by reason (keys of BROKEN); empty if none did."""
    return ", ".join(f"{counts[why]:,} {words}" for why, words in BROKEN.items() if counts[why])


def broken_by(cells: Cells) -> dict[str, int]:
    """The same as counts."""
    return {why: getattr(cells, why) for why in BROKEN}


def operation_words(operation: str, until: str) -> str:
    """'open()' or 'open() to close()'; empty where there is none."""
    ends = [f"{end}()" for end in (operation, until) if end]
    return " to ".join(dict.fromkeys(ends))


def no_operation(microscope: MicroscopeRequest, cells: Cells) -> InfraError | None:
    """Why nothing can be given per operation, and what to do; None if it can, or was not asked."""
    name, last = f"{microscope.operation}()", f"{microscope.until or microscope.operation}()"
    if not microscope.operation or (cells.ops_touching if microscope.aim else cells.ops_ended):
        return None
    if not cells.ops_begun:
        why = f"{name} was not called"
        remedy = "Choose a function that the workload calls."
    elif cells.ops_ended:
        why = f"none of {cells.ops_ended:,} calls of {name} touched the watched object"
        remedy = "Choose a function that touches it."
    else:
        words = broken_words(broken_by(cells))
        seen = "return" if last == name else f"go on to the return of {last}"
        why = f"of {cells.ops_begun:,} calls of {name} none was seen to {seen}"
        why += f": {words}" if words else ""
        remedy = f"Let the operation end with another function, such as the caller of {last}."
    return InfraError(f"nothing is given per operation: {why}.", remedy=remedy)


def operations_line(tree: Mapping[str, object]) -> str:
    """A sentence of the table's head, from its documented keys."""
    counts = tree["broken_by"]
    assert isinstance(counts, dict)
    words = broken_words(counts)
    broken = f"; {tree['ops_broken']:,} more broken off: {words}" if words else ""
    return (
        f"{tree['ops']:,} operations{broken}. The column outside has what no operation did: "
        f"{tree['outside']:,} accesses in all."
    )
