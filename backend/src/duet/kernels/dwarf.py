# SPDX-License-Identifier: GPL-2.0-or-later
"""Sizes and offsets of a kernel's structures, from the DWARF of its vmlinux.

drgn reads it in a confined child (duet.kernels.vmlinux); answers are checked. All of this blocks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from duet.confined import Reply
from duet.confined.replies import Odd, text
from duet.errors import InputError
from duet.kernels.vmlinux.ask import ask

WHAT = re.compile(
    r"^(?P<ask>sizeof|offsetof) (?P<type>(?:(?:struct|union) )?[A-Za-z_]\w*)"
    r"(?:\.(?P<member>[A-Za-z_][\w.]*))?$"
)
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
MOST_MEMBERS: Final = 4096
"""Of one structure. Usual: under 300."""


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
    return ask(vmlinux, {"do": "number", **asked.groupdict()}, lambda r: r.whole("answer"))


def has_function(vmlinux: Path, name: str) -> bool:
    """Whether the kernel's source has a function of that name that was compiled, or inlined.

    Raises:
        InfraError: vmlinux cannot be read or carries no DWARF.
    """
    return ask(vmlinux, {"do": "has_function", "name": name}, lambda r: r.flag("answer"))


def number_members(vmlinux: Path, name: str) -> tuple[str, ...]:
    """Members of a structure that are integers, booleans, enumerations or pointers, in its order.

    Raises:
        InputError: the kernel has no such structure.
        InfraError: vmlinux cannot be read or carries no DWARF.
    """
    return ask(vmlinux, {"do": "members", "name": name}, _members)


def member_count(vmlinux: Path, name: str) -> int:
    """How many members a structure has, of any kind.

    Raises:
        InputError: the kernel has no such structure.
        InfraError: vmlinux cannot be read or carries no DWARF.
    """
    return ask(vmlinux, {"do": "member_count", "name": name}, lambda r: r.whole("answer"))


def number_paths(vmlinux: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Those of these paths from global variables that end at a number, e.g. `rcu_state.gp_seq`.

    Raises:
        InfraError: vmlinux cannot be read or carries no DWARF.
    """

    def take(reply: Reply) -> tuple[str, ...]:
        found = reply.tree.get("answer")
        if not isinstance(found, list) or len(found) != len(paths):
            raise Odd("no list of answers")
        return tuple(path for path, ends in zip(paths, found, strict=True) if ends is True)

    return ask(vmlinux, {"do": "paths", "paths": list(paths)}, take)


def _members(reply: Reply) -> tuple[str, ...]:
    found = reply.tree.get("answer")
    if not isinstance(found, list) or len(found) > MOST_MEMBERS:
        raise Odd("no list of members")
    if not all(_NAME.fullmatch(text(name)) for name in found):
        raise Odd("a member's name")
    return tuple(found)
