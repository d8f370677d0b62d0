# SPDX-License-Identifier: GPL-2.0-or-later
"""A system-call filter for a process that only computes: what it never needs is refused.

Classic BPF, installed by seccomp(2) for all threads of the process. A refused call answers EPERM,
so a library that tries something unneeded sees an error instead of a signal. Calls whose
arguments lie in memory, where a filter cannot see them, answer ENOSYS; the C library then uses
the older call. Numbers: arch/x86/entry/syscalls/syscall_64.tbl. Filters: seccomp(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

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
    """What a process may do beside computing on open descriptors.

    Args:
        reads: open files, for reading.
        writes: open files for writing; create, rename and remove them.
        unix: open and connect sockets of the family AF_UNIX; all other sockets stay refused.
        peek: read the memory of processes of the same user (process_vm_readv).
    """

    reads: bool = False
    writes: bool = False
    unix: bool = False
    peek: bool = False


def _load_argument(number: int) -> Instruction:
    """The low 32 bits; the flags and families looked at have no others."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * number)


def _only_if(call: int, argument: int, test: tuple[int, int], when_true: bool) -> list[Instruction]:
    """`call` is allowed if a test of its argument comes out as `when_true`, else refused."""
    operation, value = test
    allowed, refused = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _EPERM)
    first, second = (allowed, refused) if when_true else (refused, allowed)
    return [(_EQUAL, 0, 4, call), _load_argument(argument), (operation, 0, 1, value), first, second]


def refusing(calls: Mapping[str, int]) -> list[Instruction]:
    """The beginning of a filter: other systems' calls and `calls` are refused, the rest goes on."""
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


def packed(rules: list[Instruction]) -> bytes:
    """As the kernel and bubblewrap take it: struct sock_filter, seccomp(2)."""
    return b"".join(struct.pack("<HBBI", *rule) for rule in rules)


def compiling() -> bytes:
    """A filter for a build: it starts programs and writes files; no network, mounts or kernel."""
    refused = SYSTEM | NETWORK | {"socket": _SOCKET, "ptrace": PROCESSES["ptrace"]}
    return packed([*refusing(refused), (_RETURN, 0, 0, _ALLOW)])


def program(permits: Permits) -> list[Instruction]:
    """The filter for x86-64."""
    refused = PROCESSES | SYSTEM | NETWORK
    if not permits.writes:
        refused |= WRITES
    if not permits.unix:
        refused |= {"socket": _SOCKET, "connect": 42}
    if not (permits.reads or permits.writes):
        refused |= {"open": _OPEN, "openat": _OPENAT}
    if permits.peek:
        del refused["process_vm_readv"]
    rules = refusing(refused)
    # Each of these blocks returns if the call is its own, so the number is still loaded after it.
    rules += _only_if(_CLONE, 0, (_ANY_BIT, _CLONE_THREAD), True)
    if permits.unix:
        rules += _only_if(_SOCKET, 0, (_EQUAL, _AF_UNIX), True)
    if permits.reads and not permits.writes:
        rules += _only_if(_OPEN, 1, (_ANY_BIT, _WRITING), False)
        rules += _only_if(_OPENAT, 2, (_ANY_BIT, _WRITING), False)
    return [*rules, (_RETURN, 0, 0, _ALLOW)]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(permits: Permits) -> str:
    """Refuse, in all threads and from now on, what `permits` does not name.

    PR_SET_NO_NEW_PRIVS must be set.

    Returns:
        An empty text, or why there is no filter.
    """
    if platform.machine() != "x86_64":
        return f"there is no filter for {platform.machine()}"
    rules = program(permits)
    libc = ctypes.CDLL(None, use_errno=True)
    words = _Program(len(rules), packed(rules))
    done = libc.syscall(
        ctypes.c_long(_SECCOMP_CALL),
        ctypes.c_uint(_SET_MODE_FILTER),
        ctypes.c_uint(_TSYNC),
        ctypes.byref(words),
    )
    if done == 0:
        return ""
    why = os.strerror(ctypes.get_errno()) if done < 0 else f"thread {done} cannot take it"
    return f"seccomp(2) answers: {why}"
