# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's types and addresses, for probes. A missing type or address raises a LensError."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

import drgn

from duet.base.errors import InfraError
from duet.lenses.memory import Gone, Memory


class LensError(InfraError):
    """The lens cannot read, because the DWARF, a field or the object is missing."""

    code = "lens"


class Kernel:
    """DWARF and symbols of the running kernel."""

    def __init__(self, program: drgn.Program) -> None:
        self._program = program

    @property
    def program(self) -> drgn.Program:
        return self._program

    def offset(self, kind: str, member: str) -> int:
        """Return the offset of `member` (which may be `a.b`) in `kind`, in bytes.

        Raises:
            LensError: this kernel has no such member.
        """
        try:
            return int(drgn.offsetof(self._program.type(kind), member))
        except (LookupError, TypeError) as error:
            raise _missing(f"{kind} has no field {member}", kind) from error

    def has(self, kind: str, member: str) -> bool:
        """Return whether the structure has that member in this kernel."""
        try:
            drgn.offsetof(self._program.type(kind), member)
        except (LookupError, TypeError):
            return False
        return True

    def size(self, kind: str) -> int:
        """Return sizeof(kind).

        Raises:
            LensError: this kernel has no such type.
        """
        return int(drgn.sizeof(self.type(kind)))

    def type(self, kind: str) -> drgn.Type:
        """Return the DWARF type of that name.

        Raises:
            LensError: this kernel has no such type.
        """
        try:
            return self._program.type(kind)
        except LookupError as error:
            raise _missing(f"there is no type {kind}", kind) from error

    def address(self, symbol: str) -> int:
        """Return the address of a variable.

        Raises:
            LensError: this kernel has no such variable.
        """
        found = self.find(symbol)
        if found is None:
            raise _missing(f"there is no variable {symbol}", symbol)
        return found

    def find(self, symbol: str) -> int | None:
        """Return the address of a variable, or None if this kernel does not have it."""
        try:
            return int(self._program.symbol(symbol).address)
        except LookupError:
            return None

    def first(self, *places: Callable[[drgn.Program], drgn.Object]) -> int:
        """Return the address of the first of these variables that this kernel has.

        Each function in `places` returns a variable or a part of a variable.

        Raises:
            LensError: the kernel has none of the variables. The sentence names the last variable.
        """
        missing = "no variable was named"
        for place in places:
            try:
                address = place(self._program).address_
            except (LookupError, AttributeError) as error:
                missing = " ".join(str(error).split())
                continue
            if address is not None:
                return int(address)
            missing = "the variable has no address"
        raise _missing(missing.rstrip("."), "it")

    def symbol_at(self, address: int) -> str:
        """Return the name of the function at an address, or the address as text."""
        try:
            return str(self._program.symbol(address).name)
        except LookupError:
            return f"{address:#x}"


def _missing(what: str, name: str) -> LensError:
    return LensError(
        f"this kernel lacks what the probe reads: {what}.",
        remedy=f"Look {name} up in this arm's source; the probe knows kernel 6.1.",
    )


# The fields of a type, as pahole prints them.


class Field(NamedTuple):
    """A field.

    `at` is its offset in the object and `size` its size, in bytes. `nested` is 1 if the field is a
    part of the field before it.
    """

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
    """Yield all fields of a struct or union, with the members of its anonymous members.

    Args:
        opened: names of fields whose parts are also yielded, after the field itself.
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
    """Return the field's first 8 bytes (or all, if there are fewer) as an unsigned number."""
    return float(int.from_bytes(raw[field.at : field.at + min(field.size, 8)], "little"))


# Finds superblocks by the name of their filesystem type (super_blocks, fs/super.c).

MAX_SUPERBLOCKS = 16384
TRIES = 3


class Superblocks:
    """Finds superblocks by walking the list. Offsets are resolved once."""

    def __init__(self, kernel: Kernel, memory: Memory) -> None:
        kind = "struct super_block"
        self._memory = memory
        self._head = kernel.address("super_blocks")
        self._list = kernel.offset(kind, "s_list")
        self._type = kernel.offset(kind, "s_type")
        self._info = kernel.offset(kind, "s_fs_info")
        self._root = kernel.offset(kind, "s_root")
        self._id = kernel.offset(kind, "s_id")
        self._bytes = max(self._list, self._type, self._info, self._root, self._id) + 32
        self._name = kernel.offset("struct file_system_type", "name")

    def of(self, filesystem: str) -> list[tuple[int, int, int]]:
        """Return (super_block, s_fs_info, s_root) of each mount of that filesystem, in mount order.

        Raises:
            Gone: the list changes too fast or cannot be read.
        """
        for last in range(TRIES):
            try:
                return self._find(filesystem)
            except Gone:
                if last == TRIES - 1:
                    raise
        raise AssertionError

    def _find(self, filesystem: str) -> list[tuple[int, int, int]]:
        memory, found, names = self._memory, [], dict[int, str]()
        for address, raw in memory.list(self._head, self._list, self._bytes, MAX_SUPERBLOCKS):
            kind, info, root = (
                struct.unpack_from("<Q", raw, at)[0] for at in (self._type, self._info, self._root)
            )
            if kind not in names:
                names[kind] = memory.text(memory.u64(kind + self._name)) if kind else ""
            if names[kind] == filesystem and root:
                found.append((address, info, root))
        return found
