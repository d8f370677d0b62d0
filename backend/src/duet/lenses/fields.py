# SPDX-License-Identifier: GPL-2.0-or-later
"""The fields of a type, as pahole would print them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import drgn


class Field(NamedTuple):
    """One field: `at` and `size` in bytes from the start of the object; `nested`: 1 for a part of
    the field before it."""

    name: str
    at: int
    size: int
    nested: int = 0


def fields_of(
    kind: drgn.Type,
    opened: Collection[str] = (),
    *,
    base: int = 0,
    prefix: str = "",
    nested: int = 0,
) -> Iterator[Field]:
    """All fields of a struct or union; what has no name is given as its own fields.

    Args:
        opened: names of fields whose parts are listed after them.
    """
    for member in kind.members or ():
        at = base + member.bit_offset // 8
        if member.name is None:
            yield from fields_of(member.type, opened, base=at, prefix=prefix, nested=nested)
            continue
        yield Field(prefix + member.name, at, drgn.sizeof(member.type), nested)
        if member.name in opened:
            inside = f"{member.name}."
            yield from fields_of(member.type, opened, base=at, prefix=inside, nested=1)


def number(raw: bytes, field: Field) -> float:
    """A field's first 8 bytes or fewer, without sign."""
    return float(int.from_bytes(raw[field.at : field.at + min(field.size, 8)], "little"))
