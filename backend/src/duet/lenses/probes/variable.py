# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a global variable, or an object that is reached from one, with its fields.

`of` is the variable's name, then a path as in C: `nr_files`, `rcu_state.gp_seq`,
`init_task.mm->mm_count`, `vm_node_stat[3]`. A per-CPU variable is read on every CPU.

Rows are the fields by offset, or an array's elements (the first 256), or the variable itself.
Columns: offset i4, size i4, line i2 (number of the 64-byte line), value f8 (the row's number, or 0
if the row is not a number), nested u1 (always 0). Texts: the rows' names. Further columns are
`bytes` u1, the raw object, and for a per-CPU variable `cpu_value` f8, one value per CPU. Fields and
bytes of a per-CPU variable are CPU 0's. Facts: found (1, or 0 if a pointer on the path is NULL),
size (bytes), address48 (the low 48 bits of the address), cpus (number of copies; 0 if the variable
is not per-CPU). If the variable is a number, there is also the fact `value`. A number is an
integer, a pointer, an enum, a structure that wraps one of these (atomic_t, refcount_t), or a
percpu_counter, whose value includes all CPUs' shares. For a per-CPU variable, `value` is the sum
over CPUs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import drgn
import numpy as np

from duet.base.errors import InputError
from duet.kernels.vmlinux.ask import split_path
from duet.kernels.vmlinux.structures import (
    COUNTER,
    NUMBERS,
    RECORDS,
    WrongPath,
    end_type,
    only_member,
    plain,
)
from duet.lenses.clock import cpu_offsets, wrapped
from duet.lenses.kernel import Field, Kernel, LensError, fields_of
from duet.lenses.memory import Gone, Memory
from duet.lenses.records import Reading

TITLE = "a global variable"
LINE = 64
MOST_ELEMENTS = 256
MOST_BYTES = 1 << 16


class Probe:
    """Finds the variable once, and follows the path for each sample."""

    def __init__(self, kernel: Kernel, memory: Memory, of: str = "") -> None:
        parts = split_path(of)
        if parts is None:
            raise InputError(
                f"the probe `variable` needs a variable's name and a path, not '{of:.60}'.",
                remedy="Give the variable with `of` (--of), e.g. nr_files or rcu_state.gp_seq.",
            )
        self._of = of
        self._program, self._memory = kernel.program, memory
        name, self._steps = parts
        kernel.address(name)  # this raises an error if the symbol is missing
        self._root = self._variable(name)
        first, last = kernel.find("__per_cpu_start"), kernel.find("__per_cpu_end")
        at = int(self._root.address_ or 0)
        self._offsets = cpu_offsets(kernel, memory)
        self._per_cpu = first is not None and last is not None and first <= at < last
        kind = self._walked(self._root.type_)
        self._size = drgn.sizeof(kind)
        self._fields = list(_rows(kind, of))

    def sample(self) -> Reading:
        copies = [copy for copy in map(self._reach, self._roots()) if copy is not None]
        if not copies:
            return self._reading(None, [], b"")
        raws = [self._memory.read(_address(copy), self._size) for copy in copies]
        live = [
            drgn.Object.from_bytes_(self._program, copy.type_, raw)
            for copy, raw in zip(copies, raws, strict=True)
        ]
        numbers = [self._number(one) for one in live]
        return self._reading(copies[0], numbers, raws[0])

    def _variable(self, name: str) -> drgn.Object:
        try:
            return self._program.variable(name)
        except LookupError:
            raise LensError(
                f"this kernel has the symbol {name}, but not its type.",
                remedy="Name a variable that is defined in C, not in assembler.",
            ) from None

    def _walked(self, kind: drgn.Type) -> drgn.Type:
        """Return the type at the end of the path.

        Raises:
            LensError: the path does not fit the types.
        """
        try:
            kind = end_type(kind, self._steps)
        except WrongPath as error:
            raise self._lost(str(error)) from None
        if plain(kind).kind == drgn.TypeKind.VOID or not 0 < drgn.sizeof(kind) <= MOST_BYTES:
            raise self._lost(f"{kind.type_name()} has no size, or more than {MOST_BYTES} bytes")
        return kind

    def _lost(self, why: str) -> LensError:
        return LensError(
            f"the probe variable cannot read {self._of}: {why}.",
            remedy="Look the variable up in this arm's source, or with ./duet drgn.",
        )

    def _roots(self) -> Iterator[drgn.Object]:
        if not self._per_cpu:
            yield self._root
            return
        for offset in self._offsets:
            address = wrapped(_address(self._root) + offset)
            yield drgn.Object(self._program, self._root.type_, address=address)

    def _reach(self, found: drgn.Object) -> drgn.Object | None:
        """Return the object at the end of the path, or None if a pointer on the path is NULL."""
        try:
            for step in self._steps:
                if plain(found.type_).kind == drgn.TypeKind.POINTER and not found.value_():
                    return None
                found = found[step] if isinstance(step, int) else found.member_(step)
            return found
        except drgn.FaultError as error:
            raise Gone(str(error)) from error

    def _number(self, found: drgn.Object) -> float | None:
        """Return the value of an object that is a number or wraps a number; otherwise None."""
        kind = plain(found.type_)
        if kind.kind in NUMBERS:
            return float(int(found.value_()))
        if kind.kind not in RECORDS:
            return None
        if kind.tag == COUNTER:
            shares = int(found.counters.value_())
            return float(int(found.count.value_()) + sum(self._shares(shares)))
        member = only_member(kind)
        return None if member is None else self._number(found.member_(member))

    def _shares(self, base: int) -> Iterator[int]:
        """Return the amounts that the CPUs have not yet added to a percpu_counter (s32)."""
        for offset in self._offsets if base else ():
            yield struct.unpack("<i", self._memory.once(wrapped(base + offset), 4))[0]

    def _reading(
        self, first: drgn.Object | None, numbers: list[float | None], raw: bytes
    ) -> Reading:
        facts = {"found": float(first is not None), "size": float(self._size)}
        known = [one for one in numbers if one is not None]
        values = np.zeros(len(self._fields), "<f8")
        columns = {}
        if first is not None:
            facts["address48"] = float(_address(first) & (1 << 48) - 1)
            facts["cpus"] = float(len(numbers) if self._per_cpu else 0)
            values[:] = [self._value(first.type_, raw, field) for field in self._fields]
            if known:
                facts["value"] = sum(known)
                if self._per_cpu:
                    columns["cpu_value"] = np.array(known, "<f8")
        at = np.array([field.at for field in self._fields], "<i4")
        return Reading(
            n=len(self._fields),
            columns={
                "offset": at,
                "size": np.array([field.size for field in self._fields], "<i4"),
                "line": (at // LINE).astype("<i2"),
                "value": values,
                "nested": np.zeros(len(self._fields), "u1"),
                "bytes": np.frombuffer(raw, "u1"),
                **columns,
            },
            facts=facts,
            texts=tuple(field.name for field in self._fields),
        )

    def _value(self, kind: drgn.Type, raw: bytes, field: Field) -> float:
        """Return one row's number, from the bytes read, or 0 if the row is not a number."""
        whole = drgn.Object.from_bytes_(self._program, kind, raw)
        bare = plain(kind)
        if bare.kind in RECORDS:
            return self._number(whole.member_(field.name)) or 0.0
        if bare.kind == drgn.TypeKind.ARRAY:
            return self._number(whole[field.at // field.size]) or 0.0
        return self._number(whole) or 0.0


def _rows(kind: drgn.Type, name: str) -> Iterator[Field]:
    bare = plain(kind)
    if bare.kind in RECORDS:
        yield from fields_of(bare)
    elif bare.kind == drgn.TypeKind.ARRAY and bare.length:
        size = drgn.sizeof(bare.type)
        for index in range(min(bare.length, MOST_ELEMENTS)):
            yield Field(f"[{index}]", index * size, size)
    else:
        yield Field(name, 0, drgn.sizeof(kind))


def _address(found: drgn.Object) -> int:
    """Return the address of an object.

    Raises:
        Gone: the object is a bit field, or a value without an address.
    """
    if found.address_ is None:
        raise Gone("the object has no address")
    return int(found.address_)
