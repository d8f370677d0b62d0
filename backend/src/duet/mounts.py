# SPDX-License-Identifier: GPL-2.0-or-later
"""Mounts in a mount namespace of its own: nothing of them is left when its processes end.

A confined child gets an empty root (`empty_root`). A box gets a tree, whose changes go into memory
(tmpfs) by overlayfs, so the tree stays as it is. Started as root the box has a user of its own; an
id-mapped mount (mount_setattr(2), Linux 5.19 for overlayfs) shows the tree as that user's.
Otherwise a user namespace gives the right to mount, and the box is the user who started it, without
rights outside.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_RECURSIVE, _PRIVATE, _READ_ONLY, _NO_DEVICES, _NO_SETUID = 0x4000, 0x40000, 1, 4, 2
_AT_CWD: Final = -100
_AT_EMPTY_PATH: Final = 0x1000
_OPEN_TREE_CALL, _MOVE_MOUNT_CALL, _SETATTR_CALL = 428, 429, 442
_CLONE: Final = 1
_PIVOT_ROOT_CALL: Final = 155
_DETACH: Final = 2
_REMOUNT, _BIND = 32, 4096
_ROOT_BYTES, _ROOT_FILES = 1 << 16, 64
_FROM_EMPTY_PATH: Final = 4
_ATTR_READ_ONLY, _ATTR_IDMAP = 1, 0x100000

_libc = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    """struct mount_attr, include/uapi/linux/mount.h."""

    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def separate(*, own_user: bool) -> None:
    """Enter a mount namespace; with `own_user` also a user namespace, as its root.

    Raises:
        OSError: the kernel or a security module does not permit it.
    """
    uid, gid = os.geteuid(), os.getegid()
    _check(_libc.unshare(_NEW_MOUNTS | (_NEW_USER if own_user else 0)), "a namespace")
    if own_user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    _mount("none", Path("/"), None, _RECURSIVE | _PRIVATE)


def empty_root(shown: Mapping[str, Path]) -> None:
    """Give this process, of one thread, a root that holds nothing else and cannot be written.

    Args:
        shown: name in the new root -> a file or folder that appears there, read-only. Sockets in
            such a folder can be connected to.

    Raises:
        OSError: the kernel or a security module does not permit it.
    """
    separate(own_user=False)
    top = Path("/proc")  # a folder of every root below which no file of ours lies
    memory(top, _ROOT_BYTES, _ROOT_FILES)
    for name, source in shown.items():
        place = top / name
        place.mkdir() if source.is_dir() else place.touch()
        show(source, place, None)
    os.chdir(top)
    # pivot_root(2): both roots may be the same folder; the old one then lies over the new one.
    _check(_libc.syscall(ctypes.c_long(_PIVOT_ROOT_CALL), b".", b"."), "another root")
    _check(_libc.umount2(b".", _DETACH), "leaving the root before")
    os.chdir("/")
    _mount("none", Path("/"), None, _REMOUNT | _BIND | _READ_ONLY)


def memory(at: Path, size: int, files: int) -> None:
    """A file system in memory."""
    _mount("box", at, "tmpfs", _NO_DEVICES | _NO_SETUID, f"size={size},nr_inodes={files},mode=755")


def overlay(lower: Path, upper: Path, work: Path, at: Path) -> None:
    """`lower` with what is written going to `upper`."""
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    _mount("box", at, "overlay", _NO_DEVICES | _NO_SETUID, options)


def show(folder: Path, at: Path, uid: int | None) -> None:
    """`folder` at another place, read-only; with `uid` the files of its owner are that user's.

    Raises:
        OSError: the file system of `folder`, or the kernel, has no id-mapped mounts.
    """
    tree = _check(
        _libc.syscall(
            ctypes.c_long(_OPEN_TREE_CALL), _AT_CWD, os.fsencode(folder), _CLONE | os.O_CLOEXEC
        ),
        f"a copy of the mount of {folder}",
    )
    attributes = _Attributes(_ATTR_READ_ONLY, 0, 0, 0)
    if uid is not None:
        owner = folder.stat()
        attributes.attr_set |= _ATTR_IDMAP
        attributes.userns_fd = _mapping(owner.st_uid, owner.st_gid, uid)
    done = _libc.syscall(
        ctypes.c_long(_SETATTR_CALL), tree, b"", _AT_EMPTY_PATH,
        ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes)),
    )  # fmt: skip
    _check(done, "an id-mapped mount (Linux 5.19 or newer, ext4, xfs or btrfs)")
    done = _libc.syscall(
        ctypes.c_long(_MOVE_MOUNT_CALL), tree, b"", _AT_CWD, os.fsencode(at), _FROM_EMPTY_PATH
    )
    _check(done, f"a mount of {folder}")
    os.close(tree)


def _mapping(owner: int, group: int, uid: int) -> int:
    """Descriptor of a user namespace that maps owner and group to `uid`: mount_setattr(2)."""
    ready, begin = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        failed = _libc.unshare(_NEW_USER)
        os.write(ready[1], b"n" if failed else b"y")
        os.read(begin[0], 1)
        os._exit(0)
    try:
        if os.read(ready[0], 1) != b"y":
            raise OSError(1, "a user namespace is not permitted")
        Path(f"/proc/{child}/uid_map").write_text(f"{owner} {uid} 1")
        Path(f"/proc/{child}/gid_map").write_text(f"{group} {uid} 1")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.write(begin[1], b"x")
        os.waitpid(child, 0)
        for end in (*ready, *begin):
            os.close(end)


def _mount(source: str, at: Path, kind: str | None, flags: int, options: str = "") -> None:
    done = _libc.mount(
        source.encode(), os.fsencode(at), kind.encode() if kind else None,
        ctypes.c_ulong(flags), options.encode() or None,
    )  # fmt: skip
    _check(done, f"a mount ({kind or 'private'}) at {at}")


def _check(answer: int, what: str) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what} is refused: {os.strerror(number)}")
    return answer
