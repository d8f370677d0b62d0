# SPDX-License-Identifier: GPL-2.0-or-later
"""Query vmlinux files from the server, through one child process per file.

A child indexes the DWARF once (0.1-0.5 s). Each later query takes a millisecond. Idle children end.
"""

from __future__ import annotations

import os
import re
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from duet.base import budgets
from duet.base.errors import DuetError, InfraError, InputError
from duet.confine import Child, ChildLimits, ReplyReader
from duet.confine.messages import BadReply, as_text
from duet.kernels.vmlinux import REMEDY

SERVICE: Final = "vmlinux"

Taken = TypeVar("Taken")
_Key = tuple[str, int, int]
"""Path, mtime and size, so that a new build under the same path counts as another file."""


def ask(vmlinux: Path, request: dict[str, object], take: Callable[[ReplyReader], Taken]) -> Taken:
    """Query a kernel's vmlinux. Blocks for at most budgets.REQUEST_WAIT_S.

    Args:
        request: see service.VmlinuxService.
        take: function that extracts the answer from the reply, and checks the answer's shape.

    Raises:
        InputError: the kernel lacks the requested name, or the request is malformed.
        InfraError: the file cannot be read, or the child died while reading it.
    """
    child = READERS.child_of(vmlinux)
    reply = child.call({**request, "file": str(vmlinux)})
    try:
        return take(reply)
    except BadReply as error:
        raise child.reject_reply(error) from error


class Readers:
    """Thread-safe pool of children, indexed by the file that each reads.

    An evicted child ends after its last request.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[_Key, tuple[Child, float]] = OrderedDict()
        """The float is the time of the child's last request."""
        self._timer: threading.Timer | None = None

    def child_of(self, vmlinux: Path) -> Child:
        """Return a child that has this file open; start a child if necessary.

        Raises:
            InfraError: the file cannot be opened, or no child can be started.
        """
        fd, key = _opened(vmlinux)
        try:
            with self._lock:
                found = self._open.pop(key, None)
                if found is not None and found[0].usable:
                    child = found[0]
                else:
                    child = Child(SERVICE, _terms(vmlinux, key[2]), (fd,))
                self._open[key] = child, time.monotonic()
                while len(self._open) > budgets.VMLINUX_READERS:
                    self._open.popitem(last=False)
                self._look_later()
                return child
        finally:
            os.close(fd)

    def end(self) -> None:
        with self._lock:
            self._open.clear()

    def _look_later(self) -> None:
        if self._timer is None and self._open:
            self._timer = threading.Timer(budgets.VMLINUX_IDLE_S, self._expire)
            self._timer.daemon = True
            self._timer.start()

    def _expire(self) -> None:
        with self._lock:
            self._timer = None
            last = time.monotonic() - budgets.VMLINUX_IDLE_S
            for key in [key for key, (_, asked) in self._open.items() if asked <= last]:
                del self._open[key]
            self._look_later()


READERS: Final = Readers()


def _terms(vmlinux: Path, size: int) -> ChildLimits:
    return ChildLimits(
        f"the vmlinux of the kernel {vmlinux.absolute().parent.name}",
        blame=InfraError,
        remedy=REMEDY,
        memory_bytes=budgets.CHILD_MEMORY_BYTES + size,
        reply_bytes=0,
    )


def _opened(vmlinux: Path) -> tuple[int, _Key]:
    """Open a plain file within the size limit; the caller closes the descriptor."""
    try:
        # Without O_NONBLOCK, opening a pipe that has no writer would block forever.
        fd = os.open(vmlinux, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable(vmlinux, error.strerror or str(error)) from error
    status = os.fstat(fd)
    why = ""
    if not stat.S_ISREG(status.st_mode):
        why = "it is not a plain file"
    elif status.st_size > budgets.VMLINUX_BYTES:
        why = f"it has {status.st_size:,} bytes, but at most {budgets.VMLINUX_BYTES:,} are allowed"
    if why:
        os.close(fd)
        raise _unreadable(vmlinux, why)
    return fd, (str(vmlinux.absolute()), status.st_mtime_ns, status.st_size)


def _unreadable(vmlinux: Path, why: str) -> DuetError:
    return InfraError(
        f"wanted the kernel's vmlinux at {vmlinux}, but it cannot be read: {why}.", remedy=REMEDY
    )


# Read sizes and offsets of a kernel's structures from the DWARF in its vmlinux.
#
# drgn reads the DWARF in a confined child (duet.kernels.vmlinux), whose answers are checked. All of
# these functions block.


WHAT = re.compile(
    r"^(?P<ask>sizeof|offsetof) (?P<type>(?:(?:struct|union) )?[A-Za-z_]\w*)"
    r"(?:\.(?P<member>[A-Za-z_][\w.]*(?:\[\d{1,6}\][\w.]*)*))?$"
)
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
MOST_MEMBERS: Final = 4096
"""Largest number of members in a structure. Usual number: under 300."""


def read(vmlinux: Path, what: str) -> int:
    """Return a size or offset in bytes; the first query of a vmlinux takes half a second.

    Args:
        what: 'sizeof struct dentry', 'sizeof struct dentry.d_iname' or 'offsetof struct
            dentry.d_lockref'.

    Raises:
        InputError: `what` does not have this form, or the kernel has no such type or member.
        InfraError: vmlinux cannot be read or has no DWARF.
    """
    asked = WHAT.match(what)
    if asked is None or (asked["ask"] == "offsetof" and not asked["member"]):
        raise InputError(
            f"wanted 'sizeof struct NAME' or 'offsetof struct NAME.MEMBER', but got '{what:.80}'.",
            remedy="Correct `dwarf:` of the metric in lesson.yaml.",
        )
    return ask(vmlinux, {"do": "number", **asked.groupdict()}, lambda r: r.integer("answer"))


def has_function(vmlinux: Path, name: str) -> bool:
    """Whether the kernel has a function of this name, as separate code or only inlined.

    Raises:
        InfraError: vmlinux cannot be read or has no DWARF.
    """
    return ask(vmlinux, {"do": "has_function", "name": name}, lambda r: r.flag("answer"))


def number_members(vmlinux: Path, name: str) -> tuple[str, ...]:
    """Return a structure's members that are integers, booleans, enums or pointers, in order.

    Raises:
        InputError: the kernel has no such structure.
        InfraError: vmlinux cannot be read or has no DWARF.
    """
    return ask(vmlinux, {"do": "members", "name": name}, _members)


def member_count(vmlinux: Path, name: str) -> int:
    """Return the number of a structure's members, of any type.

    Raises:
        InputError: the kernel has no such structure.
        InfraError: vmlinux cannot be read or has no DWARF.
    """
    return ask(vmlinux, {"do": "member_count", "name": name}, lambda r: r.integer("answer"))


def number_paths(vmlinux: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Return only the paths that begin at a global variable and end at a number.

    An example of such a path is `rcu_state.gp_seq`.

    Raises:
        InfraError: vmlinux cannot be read or has no DWARF.
    """

    def take(reply: ReplyReader) -> tuple[str, ...]:
        found = reply.tree.get("answer")
        if not isinstance(found, list) or len(found) != len(paths):
            raise BadReply("the reply contains no list of answers")
        return tuple(path for path, ends in zip(paths, found, strict=True) if ends is True)

    return ask(vmlinux, {"do": "paths", "paths": list(paths)}, take)


def _members(reply: ReplyReader) -> tuple[str, ...]:
    found = reply.tree.get("answer")
    if not isinstance(found, list) or len(found) > MOST_MEMBERS:
        raise BadReply("the reply contains no list of members")
    if not all(_NAME.fullmatch(as_text(name)) for name in found):
        raise BadReply("a member's name")
    return tuple(found)


# Paths that begin at a global variable, in C syntax, such as `rcu_state.gp_seq` or
# `vm_node_stat[3]`. Pure.

PATH = re.compile(
    r"^(?P<name>[A-Za-z_]\w*)(?P<steps>(?:(?:\.|->)[A-Za-z_]\w*|\[\d+\])*)$", re.ASCII
)
STEP = re.compile(r"(?:\.|->)([A-Za-z_]\w*)|\[(\d+)\]", re.ASCII)

Step = str | int
"""A field name, or an array index."""


def split_path(of: str) -> tuple[str, list[Step]] | None:
    """Split a path into the variable's name and its steps; return None if it is malformed."""
    match = PATH.match(of)
    if match is None:
        return None
    return match["name"], [name or int(index) for name, index in STEP.findall(match["steps"])]
