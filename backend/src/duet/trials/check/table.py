# SPDX-License-Identifier: GPL-2.0-or-later
"""What exercises the files that a patch touches: stressors of stress-ng, and scripts. Pure.

The scripts lie in the folder `stress`; each has a function `beside`. A file is matched by the
longest prefix of its path.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "stress"


@dataclass(frozen=True, slots=True)
class Row:
    """What exercises the files below a path.

    Args:
        stressors: options of stress-ng, a turn each.
        scripts: by name; each runs beside everything else.
    """

    prefix: str
    stressors: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()


TASKS = "--fork 2 --clone 1 --switch 1"
NAMES = "--dentry 1 --dentries 500 --rename 1 --symlink 1 --link 1"
MEMORY = "--vm 2 --vm-bytes 48m --mmap 1 --mmap-bytes 32m"
FAULTS = "--mremap 1 --mremap-bytes 16m --madvise 1 --fault 1 --mlock 1"
LOCKS = "--futex 2 --mutex 1 --sem 1"
TIMERS = "--timer 1 --timerfd 1 --itimer 1 --nanosleep 1"
COMMON = (TASKS, NAMES, MEMORY)
"""For what everything uses."""
ROWS = (
    Row("mm/", (MEMORY, FAULTS, TASKS), ("mounts",)),
    Row("mm/shmem.c", (MEMORY, "--memfd 1 --shm 1 --ramfs 2"), ("mounts",)),
    Row("mm/slab", (*COMMON, FAULTS), ("names",)),
    Row("mm/slub.c", (*COMMON, FAULTS), ("names",)),
    Row("fs/", (NAMES, "--dir 1 --open 1 --flock 1 --fcntl 1"), ("mounts", "names")),
    Row("fs/super.c", ("--ramfs 2",), ("mounts",)),
    Row("fs/namespace.c", ("--ramfs 2 --clone 1",), ("mounts",)),
    Row("fs/dcache.c", (NAMES,), ("names", "mounts")),
    Row("fs/namei.c", (NAMES, "--dir 1 --open 1"), ("names",)),
    Row("fs/inode.c", (NAMES, "--dir 1 --open 1"), ("inodes", "names")),
    Row("fs/locks.c", ("--flock 1 --fcntl 1 --lockf 1",)),
    Row("fs/pipe.c", ("--pipe 2 --splice 1 --tee 1",)),
    Row("fs/splice.c", ("--pipe 1 --splice 2 --tee 1",)),
    Row("fs/eventfd.c", ("--eventfd 2",)),
    Row("fs/timerfd.c", ("--timerfd 2",)),
    Row("fs/notify/", ("--inotify 2", NAMES)),
    Row("fs/xfs/", (), ("inodes",)),
    Row("fs/ext4/", (), ("extents",)),
    Row("fs/jbd2/", (), ("extents",)),
    Row("block/", (), ("inodes", "extents")),
    Row("drivers/block/", (), ("inodes", "extents")),
    Row("kernel/", (TASKS, LOCKS, "--signal 1 --sigq 1")),
    Row("kernel/rcu/", (TASKS, "--membarrier 1", NAMES), ("mounts", "names")),
    Row("kernel/sched/", (TASKS, "--yield 2 --schedpolicy 1", LOCKS)),
    Row("kernel/locking/", (LOCKS, TASKS, NAMES), ("mounts",)),
    Row("kernel/futex/", (LOCKS,)),
    Row("kernel/time/", (TIMERS, "--hrtimers 1")),
    Row("kernel/signal.c", ("--signal 1 --sigq 1", TASKS)),
    Row("ipc/", ("--msg 1 --sem-sysv 1 --shm-sysv 1",)),
    Row("lib/", COMMON, ("names",)),
    Row("include/", COMMON, ("names", "mounts")),
    Row("arch/x86/", (*COMMON, FAULTS, "--signal 1 --sigq 1")),
    Row("init/", (TASKS,)),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a check runs besides the command.

    Args:
        prefixes: of the rows that were used.
        unmatched: files that no row exercises.
    """

    prefixes: tuple[str, ...]
    stressors: tuple[str, ...]
    scripts: tuple[str, ...]
    unmatched: tuple[str, ...] = ()


def plan(files: Iterable[str], rows: tuple[Row, ...] = ROWS) -> Plan:
    """What fits these files, without anything twice.

    Args:
        files: paths in the source tree; documentation and build files are left out.
    """
    used: dict[Row, None] = {}
    unmatched = []
    for name in (name for name in files if name.endswith((".c", ".h", ".S"))):
        fitting = [row for row in rows if name.startswith(row.prefix)]
        if fitting:
            used[max(fitting, key=lambda row: len(row.prefix))] = None
        else:
            unmatched.append(name)
    return Plan(
        tuple(row.prefix for row in used),
        tuple(dict.fromkeys(text for row in used for text in row.stressors)),
        tuple(dict.fromkeys(name for row in used for name in row.scripts)),
        tuple(unmatched),
    )


def script(name: str) -> str:
    """The text of a script."""
    return (SCRIPTS / f"{name}.sh").read_text(encoding="utf-8")
