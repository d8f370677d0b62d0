# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a kernel's structures from its vmlinux's DWARF with drgn. Runs only in a child."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import drgn

from duet.base.errors import InfraError, InputError
from duet.kernels.vmlinux import REMEDY
from duet.kernels.vmlinux.ask import Step, split_path

# Find the types at the end of paths that begin at global variables. This requires only types, not
# the memory of a running kernel.

COUNTER = "percpu_counter"
NUMBERS = (drgn.TypeKind.INT, drgn.TypeKind.BOOL, drgn.TypeKind.ENUM, drgn.TypeKind.POINTER)
RECORDS = (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION)


class WrongPath(Exception):
    """A path does not match the kernel's types; the text says why."""


def end_type(kind: drgn.Type, steps: Sequence[Step]) -> drgn.Type:
    """Return the type at the end of a path that begins at type `kind`.

    Raises:
        WrongPath: a step of the path does not match the type before it.
    """
    for step in steps:
        kind = plain(kind)
        if isinstance(step, int):
            if kind.kind not in (drgn.TypeKind.ARRAY, drgn.TypeKind.POINTER):
                raise WrongPath(f"{kind.type_name()} is not an array")
            kind = kind.type
            continue
        if kind.kind == drgn.TypeKind.POINTER:
            kind = plain(kind.type)
        if kind.kind not in RECORDS or not kind.has_member(step):
            raise WrongPath(f"{kind.type_name()} has no field {step}")
        kind = kind.member(step).type
    return kind


def only_member(kind: drgn.Type) -> str | None:
    """Return the name of a structure's only member (`counter` in atomic_t), or None."""
    names = [member.name for member in kind.members or () if member.name]
    return names[0] if len(names) == 1 else None


def holds_number(kind: drgn.Type) -> bool:
    """Whether a type is a number, a structure with a single number, or a percpu_counter."""
    kind = plain(kind)
    if kind.kind in NUMBERS:
        return True
    if kind.kind not in RECORDS:
        return False
    member = only_member(kind)
    return kind.tag == COUNTER or (member is not None and holds_number(kind.member(member).type))


def plain(kind: drgn.Type) -> drgn.Type:
    while kind.kind == drgn.TypeKind.TYPEDEF:
        kind = kind.type
    return kind


COMPARE = "Compare it with the kernel's source, and check which arms have it."


def empty_program() -> drgn.Program:
    """Return a drgn program without memory. Its first use makes drgn import modules."""
    return drgn.Program(drgn.Platform(drgn.Architecture.X86_64))


class Structures:
    """The types of one ELF file.

    Args:
        fd: descriptor of the file, which is duplicated; the caller still owns the original.
        path: path that messages show.

    Raises:
        InfraError: the file has no DWARF, or malformed DWARF.
    """

    def __init__(self, fd: int, path: Path) -> None:
        self._path = path
        self._program = empty_program()
        module = self._program.extra_module("vmlinux", create=True)
        with self._sense():
            module.try_file(path.name, fd=os.dup(fd), force=True)
        if module.wants_debug_file():
            raise self._no_dwarf(f"{os.fstat(fd).st_size} bytes without debug information")

    def number(self, ask: str, name: str, member: str | None) -> int:
        """Return a size or offset in bytes; see duet.kernels.vmlinux.ask.read.

        Raises:
            InputError: the kernel has no such type or member.
            InfraError: malformed DWARF.
        """
        what = f"{ask} {name}" + (f".{member}" if member else "")
        with self._sense(f"'{what}' cannot be answered: the kernel says"):
            kind = self._program.type(name)
            if ask == "offsetof":
                return int(drgn.offsetof(kind, str(member)))
            for part in member.split(".") if member else ():
                kind = plain(kind).member(part).type
            return int(drgn.sizeof(kind))

    def has_function(self, name: str) -> bool:
        """Whether the source has a function of this name, as separate code or only inlined.

        Raises:
            InfraError: malformed DWARF.
        """
        with self._sense():
            try:
                self._program.function(name)
            except LookupError:
                return False
            return True

    def number_members(self, name: str) -> list[str]:
        """Return members that are integers, booleans, enums or pointers, in order.

        Raises:
            InputError: the kernel has no such structure.
            InfraError: malformed DWARF.
        """
        with self._sense(f"the kernel has no '{name}':"):
            members = self._program.type(name).members or ()
            return [one.name for one in members if one.name and plain(one.type).kind in NUMBERS]

    def member_count(self, name: str) -> int:
        """Return the number of a structure's members, of any type.

        Raises:
            InputError: the kernel has no such structure.
            InfraError: malformed DWARF.
        """
        with self._sense(f"the kernel has no '{name}':"):
            return len(self._program.type(name).members or ())

    def number_paths(self, paths: Sequence[str]) -> list[bool]:
        """Return for each path whether it begins at a global variable and ends at a number.

        Raises:
            InfraError: malformed DWARF.
        """
        with self._sense():
            return [self._ends_at_number(path) for path in paths]

    def _ends_at_number(self, path: str) -> bool:
        parts = split_path(path)
        if parts is None:
            return False
        name, steps = parts
        try:
            return holds_number(end_type(self._program.variable(name).type_, steps))
        except (LookupError, WrongPath):
            return False

    @contextmanager
    def _sense(self, absent: str = "") -> Iterator[None]:
        """Translate drgn's exceptions; a plain Exception of drgn means malformed bytes.

        Args:
            absent: start of the sentence about a missing name; "" if the request contains no name.
        """
        try:
            yield
        except (MemoryError, InfraError, InputError):
            raise
        except (LookupError, TypeError, ValueError) as error:
            # A TypeError is a member access on a non-structure. A ValueError is a bit field that
            # does not begin at a byte.
            if not absent:
                raise self._no_dwarf(_line(error)) from error
            raise InputError(f"{absent} {_line(error)}.", remedy=COMPARE) from error
        except Exception as error:
            raise self._no_dwarf(_line(error)) from error

    def _no_dwarf(self, why: str) -> InfraError:
        return InfraError(
            f"{self._path.name} of the kernel {self._path.parent.name} has no DWARF that can be "
            f"read: {why}.",
            remedy=f"{REMEDY[:-1]}, with debug information in its config.",
        )


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__
