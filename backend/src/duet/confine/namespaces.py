# SPDX-License-Identifier: GPL-2.0-or-later
"""Run third-party programs in separate mount, PID, network, IPC and UTS namespaces (bubblewrap).

The program sees the host's /usr and some other files read-only, one writable folder, and a /proc
with only its own processes. Killing bubblewrap kills all processes inside. On the command line, the
arguments from `namespace_prefix` come before those from `duet.confine.sandbox.prefix`, which sets
user, capabilities and limits.

A program that runs as another user also needs `pid_namespace_prefix` at the front. bubblewrap drops
all capabilities. So if bubblewrap dies, the kernel does not send the parent-death signal to a
process of another user. With `pid_namespace_prefix`, bubblewrap is the first process of a PID
namespace. If bubblewrap then dies, the kernel kills all processes in the namespace.

If bubblewrap is missing or the host refuses namespaces, `missing_namespaces` says why, and programs
start with `prefix` alone.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

SYSTEM_FOLDERS: Final = ("/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
"""Folders outside /usr that programs need; on Debian 12 they are links into /usr."""
SYSTEM_FILES: Final = ("/etc/alternatives", "/etc/ld.so.cache")
SCRATCH_BYTES: Final = 4 << 20
"""Default size of a program's /tmp. QEMU writes nothing there."""
PROBE_S: Final = 5.0
"""Timeout for bubblewrap to start a program. Usual: 10 ms."""


def system_words() -> list[str]:
    """Return bubblewrap arguments that show the host's programs and libraries, read-only."""
    words = ["--ro-bind", "/usr", "/usr"]
    for folder in SYSTEM_FOLDERS:
        if Path(folder).is_symlink():
            words += ["--symlink", str(Path(folder).readlink()), folder]
        elif Path(folder).is_dir():
            words += ["--ro-bind", folder, folder]
    words += _passable([Path(file) for file in SYSTEM_FILES])
    for file in SYSTEM_FILES:
        words += ["--ro-bind-try", file, file]
    return words


def _passable(paths: Sequence[Path]) -> list[str]:
    """Return bubblewrap arguments that create the parent folders of paths with mode 0755.

    By default, bubblewrap creates parent folders that only root can enter.
    """
    above = {folder for path in paths for folder in path.parents if folder != Path("/")}
    there = [Path(name) for name in ("/usr", "/dev", "/proc", *SYSTEM_FOLDERS)]
    words = []
    for folder in sorted(above - {Path("/tmp")}):
        if not any(folder.is_relative_to(one) for one in there):
            words += ["--perms", "0755", "--dir", str(folder)]
    return words


def namespace_prefix(
    folder: Path,
    *,
    readable: Sequence[Path] = (),
    devices: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    scratch_bytes: int = SCRATCH_BYTES,
    first: bool = True,
) -> list[str]:
    """Return the bubblewrap command that precedes `duet.confine.sandbox.prefix`.

    Args:
        folder: working directory; the only folder of the host that the program may write to.
        readable: other files and folders, shown read-only at the same paths.
        devices: host devices that the program may open, in addition to /dev/null and the like.
        environment: the program's environment variables, in addition to PATH.
        scratch_bytes: size of /tmp and size of /dev/shm.
        first: make the program pid 1 of its PID namespace. Use False for a program with child
            processes, because pid 1 must reap orphans.
    """
    words = ["bwrap", "--die-with-parent", *(("--as-pid-1",) if first else ())]
    words += ["--clearenv", "--setenv", "PATH", os.defpath + ":/usr/sbin:/sbin"]
    for name, value in (environment or {}).items():
        words += ["--setenv", name, value]
    words += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    words += system_words()
    words += ["--proc", "/proc", "--dev", "/dev"]
    for scratch in ("/tmp", "/dev/shm"):
        words += ["--perms", "1777", "--size", str(scratch_bytes), "--tmpfs", scratch]
    words += _passable([*readable, folder])
    for path in readable:
        words += ["--ro-bind", str(path), str(path)]
    for path in devices:
        words += ["--dev-bind-try", str(path), str(path)]
    words += ["--bind", str(folder), str(folder), "--chdir", str(folder)]
    words += ["--remount-ro", "/", "--remount-ro", "/dev"]
    return [*words, "--"]


def pid_namespace_prefix(*, proc: bool = False) -> list[str]:
    """Return the unshare(1) command that gives a program a separate PID namespace.

    The list is empty unless this process is root and namespaces are available. When unshare ends,
    all processes in the namespace end.

    Args:
        proc: mount the new namespace's /proc, in which bubblewrap (0.12) looks for its child.
    """
    return [] if missing_namespaces() else _pids(proc)


def _pids(proc: bool) -> list[str]:
    if os.geteuid():
        return []
    return ["unshare", "--pid", "--fork", "--kill-child", *(["--mount-proc"] if proc else []), "--"]


def continue_in_pid_namespace() -> None:
    """Continue as the first process of a new PID namespace, like a program of pid_namespace_prefix.

    This function returns only in a child of this process, which dies with this process. This
    process waits for the child, and exits with the child's exit code. If this process is not root,
    or may not create namespaces, there is no child, and the function returns in this process.
    """
    if os.geteuid() or _libc.unshare(_NEW_PIDS):
        return
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
    _libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def outside_system(program: str) -> list[Path]:
    """Return the folders to show for a program installed outside /usr; [] for other programs."""
    found = shutil.which(program)
    path = Path(found).resolve() if found else None
    return [] if path is None or path.is_relative_to("/usr") else [path.parent.parent]


def program_pid(launched: int) -> int:
    """Return the host's pid of the program that bubblewrap runs; 0 if it has not started.

    Args:
        launched: pid of the command that begins with `pid_namespace_prefix` and `namespace_prefix`.
    """
    pid = launched
    for _ in ("unshare", "bwrap") if pid_namespace_prefix() else ("bwrap",):
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return 0
        if not children:
            return 0
        pid = int(children[0])
    return pid


def exit_code(returncode: int) -> int:
    """Return a program's exit code, or the negative signal number.

    bubblewrap exits with 128 plus the signal number.
    """
    return 128 - returncode if returncode > 128 else returncode


@cache
def missing_namespaces() -> str:
    """Return why programs cannot get namespaces, without a full stop; '' if they can get them."""
    if shutil.which("bwrap") is None:
        return "the package bubblewrap is not installed"
    words = [*_pids(True), *namespace_prefix(Path("/tmp")), "true"]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_S, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"bubblewrap cannot be started: {error}".rstrip(".")
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return "" if done.returncode == 0 else f"bubblewrap is refused: {(lines or ['no reason'])[-1]}"


# Mounts in a separate mount namespace, which disappear when its processes end.
#
# A confined child gets an empty root (`enter_empty_root`). A box gets a source tree; overlayfs
# stores changes in a tmpfs, so the tree itself stays unchanged. If the server is root, the box has
# a separate user. An id-mapped mount (mount_setattr(2), Linux 5.19 for overlayfs) makes this user
# the tree's owner. If the server is not root, a user namespace grants the right to mount; the box
# then runs as the server's user.

_NEW_USER, _NEW_MOUNTS, _NEW_PIDS = 0x10000000, 0x00020000, 0x20000000
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

_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""

_libc = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    """struct mount_attr, include/uapi/linux/mount.h."""

    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def enter_mount_namespace(*, own_user: bool) -> None:
    """Enter a new mount namespace and, with `own_user`, also a new user namespace as root user.

    Raises:
        OSError: the kernel or a security module does not permit this.
    """
    uid, gid = os.geteuid(), os.getegid()
    _check(_libc.unshare(_NEW_MOUNTS | (_NEW_USER if own_user else 0)), "a namespace")
    if own_user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    _mount("none", Path("/"), None, _RECURSIVE | _PRIVATE)


def enter_empty_root(shown: Mapping[str, Path]) -> None:
    """Give this single-threaded process a read-only root that contains only `shown`.

    Args:
        shown: maps a name in the new root to the file or folder that appears there, read-only.
            Sockets in a read-only folder still accept connections.

    Raises:
        OSError: the kernel or a security module does not permit this.
    """
    enter_mount_namespace(own_user=False)
    top = Path("/proc")  # every root has /proc, which contains none of our files
    mount_tmpfs(top, _ROOT_BYTES, _ROOT_FILES)
    for name, source in shown.items():
        place = top / name
        place.mkdir() if source.is_dir() else place.touch()
        bind_read_only(source, place, None)
    os.chdir(top)
    # Both arguments of pivot_root(2) may be the same folder. The old root is then mounted over the
    # new root.
    _check(_libc.syscall(ctypes.c_long(_PIVOT_ROOT_CALL), b".", b"."), "another root")
    _check(_libc.umount2(b".", _DETACH), "leaving the root before")
    os.chdir("/")
    _mount("none", Path("/"), None, _REMOUNT | _BIND | _READ_ONLY)


def mount_tmpfs(at: Path, size: int, files: int) -> None:
    """Mount a tmpfs of `size` bytes and at most `files` inodes."""
    _mount("box", at, "tmpfs", _NO_DEVICES | _NO_SETUID, f"size={size},nr_inodes={files},mode=755")


def mount_overlay(lower: Path, upper: Path, work: Path, at: Path) -> None:
    """Mount `lower` at `at` with overlayfs; all writes go to `upper`."""
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    _mount("box", at, "overlay", _NO_DEVICES | _NO_SETUID, options)


def bind_read_only(folder: Path, at: Path, uid: int | None) -> None:
    """Bind `folder` read-only at `at`.

    Args:
        uid: the new mount shows this user as owner of all files that belong to the owner of
            `folder`; None shows the original owner.

    Raises:
        OSError: the kernel or the file system of `folder` does not support id-mapped mounts.
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
    """Return a file descriptor of a user namespace that maps owner and group to `uid`.

    Source: mount_setattr(2).
    """
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
        raise OSError(number, f"{what} was refused: {os.strerror(number)}")
    return answer
