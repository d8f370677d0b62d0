# SPDX-License-Identifier: GPL-2.0-or-later
"""Where paths from global variables end: types alone. Runs where drgn runs."""

from __future__ import annotations

from collections.abc import Sequence

import drgn

from duet.kernels.paths import Step

COUNTER = "percpu_counter"
NUMBERS = (drgn.TypeKind.INT, drgn.TypeKind.BOOL, drgn.TypeKind.ENUM, drgn.TypeKind.POINTER)
RECORDS = (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION)


class WrongPath(Exception):
    """The path does not fit the types; the text says why."""


def end_type(kind: drgn.Type, steps: Sequence[Step]) -> drgn.Type:
    """The type at the end of a path that begins at `kind`.

    Raises:
        WrongPath: a step does not fit.
    """
    for step in steps:
        kind = plain(kind)
        if isinstance(step, int):
            if kind.kind not in (drgn.TypeKind.ARRAY, drgn.TypeKind.POINTER):
                raise WrongPath(f"{kind.type_name()} is no array")
            kind = kind.type
            continue
        if kind.kind == drgn.TypeKind.POINTER:
            kind = plain(kind.type)
        if kind.kind not in RECORDS or not kind.has_member(step):
            raise WrongPath(f"{kind.type_name()} has no field {step}")
        kind = kind.member(step).type
    return kind


def only_member(kind: drgn.Type) -> str | None:
    """The name of a structure's member, if it has one alone: `counter` of atomic_t."""
    names = [member.name for member in kind.members or () if member.name]
    return names[0] if len(names) == 1 else None


def holds_number(kind: drgn.Type) -> bool:
    """Whether a type is a number, is a structure around one, or is a percpu_counter."""
    kind = plain(kind)
    if kind.kind in NUMBERS:
        return True
    if kind.kind not in RECORDS:
        return False
    member = only_member(kind)
    return kind.tag == COUNTER or (member is not None and holds_number(kind.member(member).type))


def plain(kind: drgn.Type) -> drgn.Type:
    """Without typedefs."""
    while kind.kind == drgn.TypeKind.TYPEDEF:
        kind = kind.type
    return kind
