# SPDX-License-Identifier: GPL-2.0-or-later
"""Sandbox for processes that read untrusted bytes from guests, files and pages.

Our own Python children call `enter` before they read the first untrusted byte. Third-party programs
(QEMU, ffmpeg, Chromium) are started by the command from `prefix`, which confines them with
setpriv(1), prlimit(1) and unshare(1) from util-linux.

What `enter` guarantees on x86-64 if it reports nothing missing:

- Address space, CPU time, open files and the size of written files are limited. The process writes
  no core file.
- The process has a separate unprivileged user and group, no supplementary groups, empty capability
  sets and an empty bounding set. It cannot gain privileges (PR_SET_NO_NEW_PRIVS).
- It cannot start, trace or signal processes. It cannot mount file systems, load kernel modules, or
  use io_uring or bpf.
- It has no network interfaces and no sockets, except AF_UNIX sockets if `Permits.unix` is set.
- Its root folder contains only what `shown` names (a separate mount namespace).
- It opens files only as `Permits` allows, and then only files that its user may read.
- It cannot be traced (PR_SET_DUMPABLE 0), and dies with its parent (PR_SET_PDEATHSIG).

If the server is not root, the child keeps the server's user, and `enter` reports that. Filter,
limits and the other measures still apply. A refused system call returns EPERM. An allocation beyond
the memory limit raises MemoryError, or crashes a C library that does not check for failure.

A child must import all modules before it calls `enter`. A later import fails with
ModuleNotFoundError or PermissionError, because the child's user may be unable to read the modules'
folder (such as a checkout in /root).
"""

from __future__ import annotations

import contextlib
import ctypes
import encodings.ascii
import encodings.latin_1
import encodings.utf_8
import errno
import linecache
import os
import platform
import resource
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from duet.base.errors import InfraError
from duet.confine import namespaces as mounts

# System-call filter for a process that only computes. The filter refuses calls that computing never
# needs.
#
# The filter is classic BPF, installed by seccomp(2) for all threads of the process. A refused call
# returns EPERM, so a library that tries it sees an error instead of a signal. Calls whose arguments
# are in memory, where a filter cannot see them, return ENOSYS; the C library then uses the older
# call. Numbers: arch/x86/entry/syscalls/syscall_64.tbl. Filters: seccomp(2).

_SECCOMP_CALL: Final = 317
_SET_MODE_FILTER: Final = 1
_TSYNC: Final = 1
_ARCH_X86_64: Final = 0xC000003E
_X32_BIT: Final = 0x40000000
_CLONE_THREAD: Final = 0x00010000
_AF_UNIX: Final = 1
_OPEN, _OPENAT, _CLONE, _SOCKET = 2, 257, 56, 41

PROCESSES: Final = {
    **{"fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "kill": 62, "tkill": 200},
    **{"rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "ptrace": 101, "kcmp": 312},
    **{"process_vm_readv": 310, "process_vm_writev": 311, "process_madvise": 440},
    **{"pidfd_send_signal": 424, "pidfd_open": 434, "pidfd_getfd": 438},
}
SYSTEM: Final = {
    **{"mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272},
    **{"setns": 308, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431},
    **{"fsmount": 432, "fspick": 433, "mount_setattr": 442, "open_by_handle_at": 304},
    **{"init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246},
    **{"kexec_file_load": 320, "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163},
    **{"bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "personality": 135},
    **{"add_key": 248, "request_key": 249, "keyctl": 250, "iopl": 172, "ioperm": 173},
    **{"settimeofday": 164, "clock_settime": 227, "sethostname": 170, "quotactl": 179},
    **{"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427},
    **{"shmget": 29, "shmat": 30, "msgget": 68, "semget": 64, "mq_open": 240},
}
NETWORK: Final = {"bind": 49, "listen": 50, "accept": 43, "accept4": 288, "socketpair": 53}
WRITES: Final = {
    **{"creat": 85, "truncate": 76, "rename": 82, "renameat": 264, "renameat2": 316},
    **{"mkdir": 83, "mkdirat": 258, "rmdir": 84, "unlink": 87, "unlinkat": 263, "link": 86},
    **{"linkat": 265, "symlink": 88, "symlinkat": 266, "mknod": 133, "mknodat": 259},
    **{"chmod": 90, "fchmodat": 268, "chown": 92, "lchown": 94, "fchownat": 260},
    **{"utime": 132, "utimes": 235, "utimensat": 280, "setxattr": 188, "lsetxattr": 189},
}
IN_MEMORY: Final = {"clone3": 435, "openat2": 437}

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW: Final = 0x7FFF0000
_EPERM: Final = 0x00050000 | errno.EPERM
_ENOSYS: Final = 0x00050000 | errno.ENOSYS
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Permits:
    """Permissions of a process, beyond computing and using open descriptors.

    Args:
        reads: open files for reading.
        writes: open files for writing; create, rename and remove files.
        unix: open and connect AF_UNIX sockets; all other sockets stay refused.
        peek: read the memory of the same user's processes (process_vm_readv).
    """

    reads: bool = False
    writes: bool = False
    unix: bool = False
    peek: bool = False


def _load_argument(number: int) -> Instruction:
    """Load the low 32 bits of an argument, which contain all tested flags and socket families."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * number)


def _only_if(call: int, argument: int, test: tuple[int, int], when_true: bool) -> list[Instruction]:
    """Allow `call` if the test of its argument yields `when_true`; otherwise refuse the call."""
    operation, value = test
    allowed, refused = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _EPERM)
    first, second = (allowed, refused) if when_true else (refused, allowed)
    return [(_EQUAL, 0, 4, call), _load_argument(argument), (operation, 0, 1, value), first, second]


def refuse_rules(calls: Mapping[str, int]) -> list[Instruction]:
    """Return the start of a filter; it refuses `calls`, and all calls of other architectures."""
    rules: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH_AT),
        (_EQUAL, 1, 0, _ARCH_X86_64),
        (_RETURN, 0, 0, _EPERM),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, _EPERM),
    ]
    for number in calls.values():
        rules += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _EPERM)]
    for number in IN_MEMORY.values():
        rules += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ENOSYS)]
    return rules


def encode_filter(rules: list[Instruction]) -> bytes:
    """Encode a filter for the kernel and bubblewrap as struct sock_filter (seccomp(2))."""
    return b"".join(struct.pack("<HBBI", *rule) for rule in rules)


def build_filter() -> bytes:
    """Return the filter for builds.

    A build may use programs and files, but no network, mounts, modules or BPF.
    """
    refused = SYSTEM | NETWORK | {"socket": _SOCKET, "ptrace": PROCESSES["ptrace"]}
    return encode_filter([*refuse_rules(refused), (_RETURN, 0, 0, _ALLOW)])


def filter_rules(permits: Permits) -> list[Instruction]:
    refused = PROCESSES | SYSTEM | NETWORK
    if not permits.writes:
        refused |= WRITES
    if not permits.unix:
        refused |= {"socket": _SOCKET, "connect": 42}
    if not (permits.reads or permits.writes):
        refused |= {"open": _OPEN, "openat": _OPENAT}
    if permits.peek:
        del refused["process_vm_readv"]
    rules = refuse_rules(refused)
    # Each of the following blocks of instructions returns if it matches the call. If not, the
    # accumulator still contains the call number after the block.
    rules += _only_if(_CLONE, 0, (_ANY_BIT, _CLONE_THREAD), True)
    if permits.unix:
        rules += _only_if(_SOCKET, 0, (_EQUAL, _AF_UNIX), True)
    if permits.reads and not permits.writes:
        rules += _only_if(_OPEN, 1, (_ANY_BIT, _WRITING), False)
        rules += _only_if(_OPENAT, 2, (_ANY_BIT, _WRITING), False)
    return [*rules, (_RETURN, 0, 0, _ALLOW)]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install_filter(permits: Permits) -> str:
    """Install the filter for `permits` in all threads, irrevocably.

    PR_SET_NO_NEW_PRIVS must be set.

    Returns:
        Why the filter could not be installed; '' if it was.
    """
    if platform.machine() != "x86_64":
        return f"the filter supports x86_64 only, but this machine is {platform.machine()}"
    rules = filter_rules(permits)
    libc = ctypes.CDLL(None, use_errno=True)
    words = _Program(len(rules), encode_filter(rules))
    done = libc.syscall(
        ctypes.c_long(_SECCOMP_CALL),
        ctypes.c_uint(_SET_MODE_FILTER),
        ctypes.c_uint(_TSYNC),
        ctypes.byref(words),
    )
    if done == 0:
        return ""
    why = os.strerror(ctypes.get_errno()) if done < 0 else f"thread {done} cannot take it"
    return f"seccomp(2) failed: {why}"


CHILD_ID: Final = 65519
"""User and group of our own children. Children may share this id, because they cannot signal or
trace each other."""
FIRST_ID: Final = 61184
"""First of the ids that systemd allocates at run time (DynamicUser in systemd.exec(5)). CHILD_ID is
the last. No distribution gives these ids to an account."""
PROBE_S: Final = 5.0
"""Timeout for unshare(1) to create a network namespace. Usual: 5 ms."""

# These modules are imported early because CPython imports them when it prints an error or uses a
# codec. Such an import would fail after `enter`.
_LATE: Final = (encodings.ascii, encodings.latin_1, encodings.utf_8, linecache, traceback)

_PDEATHSIG, _DUMPABLE, _CAPBSET_DROP, _NO_NEW_PRIVS, _CAP_AMBIENT = 1, 4, 24, 38, 47
_AMBIENT_CLEAR_ALL: Final = 4
_NEW_NETWORK: Final = 0x40000000
_NEW_APART: Final = _NEW_NETWORK | 0x08000000 | 0x04000000
"""Flags for new network, IPC and UTS (host name) namespaces; see unshare(2)."""
_CAPSET_CALL: Final = 126
_CAP_VERSION_3: Final = 0x20080522
# Capabilities that the server needs to run a child as another user and to end that child (see
# capabilities(7)).
_NEEDED_CAPS: Final = {"CHOWN": 0, "DAC_OVERRIDE": 1, "KILL": 5, "SETGID": 6, "SETUID": 7}
_SETPCAP: Final = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of a process; None leaves a limit unchanged.

    Args:
        memory_bytes: size of the address space (RLIMIT_AS), including libraries and reserved
            stacks.
        cpu_s: CPU time of all threads together; beyond it the process gets SIGKILL.
        files: open file descriptors.
        file_bytes: size of the largest file that the process may write.
        processes: number of the user's processes and threads; only for a separate user.
    """

    memory_bytes: int | None = None
    cpu_s: int | None = None
    files: int = 64
    file_bytes: int = 0
    processes: int | None = None


def can_change_user() -> bool:
    """Return whether this process can start a child as another user, and can end that child."""
    if os.geteuid() != 0:
        return False
    effective = _status_bits("CapEff")
    return all(effective >> bit & 1 for bit in (*_NEEDED_CAPS.values(), _SETPCAP))


def missing_user() -> str:
    """Return a sentence that says why children keep the server's user; '' if they do not."""
    if can_change_user():
        return ""
    if os.geteuid():
        return f"It runs as the server's own user {os.geteuid()}: only root can give it another."
    names = ", ".join(sorted([*_NEEDED_CAPS, "SETPCAP"]))
    return f"It runs as root: another user needs the capabilities {names}."


def enter(
    limits: Limits,
    permits: Permits | None = None,
    *,
    uid: int = CHILD_ID,
    shown: Mapping[str, Path] | None = None,
) -> list[str]:
    """Confine this process irrevocably; the module's docstring lists the guarantees.

    Call this in a child process, after its last import and before the first untrusted byte.

    Args:
        uid: user and group to change to, if this process is allowed to change them.
        shown: the content of the root folder (see `enter_empty_root` in duet.confine.namespaces);
            None keeps the host's root.

    Returns:
        One sentence for each measure that this host does not permit.

    Raises:
        InfraError: a measure that every host permits has failed, or the parent has ended.
    """
    parent = os.getppid()
    libc = ctypes.CDLL(None, use_errno=True)
    _limit(limits)
    text = missing_user()
    missing = [text] if text else []
    if libc.unshare(_NEW_APART) and libc.unshare(_NEW_NETWORK) and os.geteuid() == 0:
        missing.append("It sees the host's network interfaces: unshare(2) is not permitted.")
    if shown is not None and not text:
        try:
            mounts.enter_empty_root(shown)
        except OSError as error:
            missing.append(f"It has the host's root folder: {error}.")
    if not text:
        _change_user(libc, uid)
    _drop_capabilities(libc)
    _prctl(libc, _NO_NEW_PRIVS, 1)
    _prctl(libc, _DUMPABLE, 0)
    # Set the parent-death signal after the change of user, because that change clears the signal.
    _prctl(libc, _PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise InfraError("the parent of this process has ended.", remedy="Start it again.")
    if why := install_filter(permits or Permits()):
        missing.append(f"System calls are not filtered: {why}.")
    return missing


def prefix(
    limits: Limits,
    *,
    uid: int | None = None,
    groups: Sequence[int] = (),
    network: bool = False,
    death_signal: str = "KILL",
) -> list[str]:
    """Return the command that precedes a third-party program and confines it.

    The command always sets the limits and PR_SET_NO_NEW_PRIVS, disables core files, and lets the
    program die with its parent. With `uid`, it also sets user and group, and empties the capability
    sets and the bounding set. The program must install its own system-call filter (QEMU: -sandbox).

    Args:
        uid: user and group id, from `Identity`; None keeps the user.
        groups: supplementary groups; used only with `uid`.
        network: keep the host's network interfaces. Unix sockets in folders work with both values.
        death_signal: signal that the program gets when its parent dies.

    Raises:
        InfraError: util-linux is not installed.
    """
    words = [_program("prlimit"), "--core=0", f"--nofile={limits.files}"]
    for name, value in (
        ("as", limits.memory_bytes),
        ("cpu", limits.cpu_s),
        ("nproc", limits.processes),
        ("fsize", limits.file_bytes),
    ):
        words += [f"--{name}={value}"] if value is not None else []
    words += ["--"]
    if not network and can_unshare_network():
        words += [_program("unshare"), "--net", "--"]
    words += [_program("setpriv"), "--no-new-privs", "--pdeathsig", death_signal]
    if uid is not None:
        words += ["--reuid", str(uid), "--regid", str(uid)]
        words += ["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"]
        words += ["--inh-caps=-all", "--bounding-set=-all"]
    return [*words, "--"]


class Identity:
    """A lease on a user id that no other process uses. Use as a context manager.

    The lease is the name of an abstract socket (unix(7)), which only one process can bind. The
    kernel releases the name when that process ends, even if it is killed.
    """

    def __init__(self) -> None:
        self._claim: socket.socket | None = None
        self.uid: int | None = None
        """None if this process cannot change users."""

    def __enter__(self) -> Identity:
        """Acquire a free id.

        Raises:
            InfraError: no id is free.
        """
        if not can_change_user():
            return self
        free = sorted(set(range(FIRST_ID, CHILD_ID)) - _used_ids())
        secrets.SystemRandom().shuffle(free)
        self._claim = socket.socket(socket.AF_UNIX)
        for number in free:
            with contextlib.suppress(OSError):
                self._claim.bind(f"\0kernel-duet-uid-{number}")
                self.uid = number
                return self
        self._claim.close()
        raise InfraError(
            f"all user ids from {FIRST_ID} to {CHILD_ID - 1} are in use.",
            remedy="End processes of these users, then try again.",
        )

    def __exit__(self, *exc: object) -> None:
        if self._claim:
            self._claim.close()
        self._claim = self.uid = None


@cache
def can_unshare_network() -> bool:
    """Return whether this process can start a program in a separate network namespace."""
    if os.geteuid():
        return False
    try:
        words = [_program("unshare"), "--net", "--", _program("true")]
        quiet = subprocess.DEVNULL
        done = subprocess.run(words, stdin=quiet, stdout=quiet, stderr=quiet, timeout=PROBE_S)
    except (InfraError, OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _used_ids() -> set[int]:
    """Return the user ids of running processes, including processes of guests that are ending."""
    used = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal():
                used.add(entry.stat().st_uid)
    return used


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise InfraError(
            f"the program {name} is not installed.",
            remedy="Install it: apt-get install util-linux coreutils",
        )
    return found


def _limit(limits: Limits) -> None:
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.files),
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_NPROC, limits.processes),
    ):
        if value is not None:
            _, hard = resource.getrlimit(kind)
            least = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (least, least))


def _change_user(libc: ctypes.CDLL, uid: int) -> None:
    for bit in range(64):
        if libc.prctl(_CAPBSET_DROP, bit, 0, 0, 0):
            break  # the kernel has no capability with this number
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    libc.prctl(_CAP_AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0)
    head = (ctypes.c_uint32 * 2)(_CAP_VERSION_3, 0)
    empty = (ctypes.c_uint32 * 6)()
    if libc.syscall(ctypes.c_long(_CAPSET_CALL), head, empty):
        raise _refused("capset(2)")


def _prctl(libc: ctypes.CDLL, option: int, value: int) -> None:
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise _refused(f"prctl({option})")


def _refused(call: str) -> InfraError:
    why = os.strerror(ctypes.get_errno())
    return InfraError(
        f"a child process cannot be confined: {call} failed: {why}.",
        remedy="Check what forbids it: a container's profile, or a security module.",
    )


def _status_bits(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1], 16)
    return 0
