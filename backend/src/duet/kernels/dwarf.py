# SPDX-License-Identifier: GPL-2.0-or-later
"""Sizes and offsets of a kernel's structures, from the DWARF of its vmlinux, read by drgn."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from threading import Lock

import drgn

from duet.errors import InfraError, InputError

WHAT = re.compile(
    r"^(?P<ask>sizeof|offsetof) (?P<type>(?:(?:struct|union) )?[A-Za-z_]\w*)"
    r"(?:\.(?P<member>[A-Za-z_][\w.]*))?$"
)
_lock = Lock()


def read(vmlinux: Path, what: str) -> int:
    """A number of bytes; takes half a second for a vmlinux that was not read before.

    Args:
        what: 'sizeof struct dentry', 'sizeof struct dentry.d_iname' (of a member) or
            'offsetof struct dentry.d_lockref'.

    Raises:
        InputError: `what` is none of these, or the kernel has no such type or member.
        InfraError: vmlinux cannot be read or carries no DWARF.
    """
    asked = WHAT.match(what)
    if asked is None or (asked["ask"] == "offsetof" and not asked["member"]):
        raise InputError(
            f"wanted 'sizeof struct NAME' or 'offsetof struct NAME.MEMBER', but '{what:.80}' came.",
            remedy="Correct `dwarf:` of the metric in lesson.yaml.",
        )
    with _lock:  # a drgn program is not for several threads
        program = _program(vmlinux)
        try:
            return _number(program, asked["ask"], asked["type"], asked["member"])
        except (LookupError, TypeError) as error:  # TypeError: a member of no structure
            raise InputError(
                f"'{what}' cannot be answered: the kernel says {error}.",
                remedy="Compare it with the kernel's source, and mind which arms have it.",
            ) from error


def has_function(vmlinux: Path, name: str) -> bool:
    """Whether the kernel's source has a function of that name that was compiled, or inlined.

    Raises:
        InfraError: vmlinux cannot be read or carries no DWARF.
    """
    with _lock:
        try:
            _program(vmlinux).function(name)
        except LookupError:
            return False
    return True


def number_members(vmlinux: Path, name: str) -> tuple[str, ...]:
    """Members of a structure that are integers, booleans, enumerations or pointers, in its order.

    Raises:
        InputError: the kernel has no such structure.
        InfraError: vmlinux cannot be read or carries no DWARF.
    """
    with _lock:
        try:
            members = _program(vmlinux).type(name).members or ()
        except (LookupError, TypeError) as error:
            raise InputError(
                f"the kernel has no '{name}': {error}.",
                remedy="Compare it with the kernel's source.",
            ) from error
        return tuple(one.name for one in members if one.name and _plain(one.type).kind in NUMBERS)


NUMBERS = (
    drgn.TypeKind.INT,
    drgn.TypeKind.BOOL,
    drgn.TypeKind.ENUM,
    drgn.TypeKind.POINTER,
)


def _number(program: drgn.Program, ask: str, name: str, member: str | None) -> int:
    kind = program.type(name)
    if ask == "offsetof":
        return int(drgn.offsetof(kind, str(member)))
    for part in member.split(".") if member else ():
        kind = _plain(kind).member(part).type
    return int(drgn.sizeof(kind))


def _plain(kind: drgn.Type) -> drgn.Type:
    while kind.kind is drgn.TypeKind.TYPEDEF:
        kind = kind.type
    return kind


def _program(vmlinux: Path) -> drgn.Program:
    try:
        stat = vmlinux.stat()
    except OSError as error:
        raise InfraError(
            f"wanted the kernel's vmlinux at {vmlinux}, but it cannot be read: {error.strerror}.",
            remedy="Build the kernel again with ./duet build.",
        ) from error
    return _load(vmlinux, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _load(vmlinux: Path, mtime_ns: int, size: int) -> drgn.Program:
    """A program without memory: only its types. The stat values are there for the cache."""
    program = drgn.Program(drgn.Platform(drgn.Architecture.X86_64))
    module = program.extra_module("vmlinux", create=True)
    try:
        module.try_file(vmlinux, force=True)
    except (OSError, ValueError) as error:
        raise _no_dwarf(vmlinux, str(error)) from error
    if module.wants_debug_file():
        raise _no_dwarf(vmlinux, f"{size} bytes without debug information")
    return program


def _no_dwarf(vmlinux: Path, why: str) -> InfraError:
    return InfraError(
        f"{vmlinux.name} of the kernel {vmlinux.parent.name} has no DWARF: {why}.",
        remedy="Build the kernel again with ./duet build; its config asks for debug information.",
    )
