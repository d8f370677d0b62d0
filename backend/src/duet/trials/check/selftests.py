# SPDX-License-Identifier: GPL-2.0-or-later
"""Which folders of tools/testing/selftests (Linux 6.1) are about the files of a patch. Pure.

No check runs them: they want the kernel's headers installed, most of them options, modules or a
network that a guest here lacks. A report names them, so that nobody takes its silence for more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

FOLDERS: Mapping[str, tuple[str, ...]] = {
    "mm/": ("vm",),
    "mm/damon/": ("damon",),
    "mm/memcontrol.c": ("cgroup", "vm"),
    "mm/memfd.c": ("memfd",),
    "mm/mincore.c": ("mincore",),
    "mm/shmem.c": ("memfd", "tmpfs"),
    "fs/binfmt": ("exec",),
    "fs/eventpoll.c": ("filesystems",),
    "fs/exec.c": ("exec",),
    "fs/fat/": ("filesystems",),
    "fs/namei.c": ("openat2",),
    "fs/namespace.c": ("mount", "mount_setattr"),
    "fs/open.c": ("openat2",),
    "fs/proc/": ("proc",),
    "fs/splice.c": ("splice",),
    "fs/timerfd.c": ("timers",),
    "ipc/": ("ipc", "mqueue"),
    "kernel/cgroup/": ("cgroup",),
    "kernel/exit.c": ("pidfd",),
    "kernel/fork.c": ("clone3", "pidfd"),
    "kernel/futex/": ("futex",),
    "kernel/kcmp.c": ("kcmp",),
    "kernel/locking/": ("locking",),
    "kernel/pid.c": ("pidfd", "pid_namespace"),
    "kernel/rcu/": ("rcutorture",),
    "kernel/rseq.c": ("rseq",),
    "kernel/sched/": ("sched",),
    "kernel/sched/membarrier.c": ("membarrier",),
    "kernel/signal.c": ("sigaltstack",),
    "kernel/sysctl.c": ("sysctl",),
    "kernel/time/": ("timers",),
    "kernel/trace/": ("ftrace", "user_events"),
    "lib/": ("lib",),
    "arch/x86/": ("x86",),
}
"""Prefix of a path -> folders; the longest that fits counts."""


def about(files: Iterable[str]) -> list[str]:
    """The folders, each once, in the order of the files."""
    found: dict[str, None] = {}
    for name in files:
        prefix = max((one for one in FOLDERS if name.startswith(one)), key=len, default="")
        found |= dict.fromkeys(FOLDERS.get(prefix, ()))
    return list(found)
