# SPDX-License-Identifier: GPL-2.0-or-later
"""Choose stress that exercises a patch's files: stress-ng stressors and scripts. Pure.

The scripts are in the folder `stress`, and each defines a shell function `beside`. If the prefixes
of several ROWS match a file's path, the row with the longest prefix applies to the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "stress"


@dataclass(frozen=True, slots=True)
class Row:
    """Stress for the files below a path.

    Args:
        stressors: stress-ng options. Each string contains the options of one stress-ng call.
        scripts: names of scripts that run in parallel to stress-ng.
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
"""Stressors for files that the whole kernel uses."""
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
    """Stress that a check runs in addition to the user's command.

    Args:
        prefixes: prefixes of the rows that apply.
        unmatched: files that no row exercises.
    """

    prefixes: tuple[str, ...]
    stressors: tuple[str, ...]
    scripts: tuple[str, ...]
    unmatched: tuple[str, ...] = ()


def plan(files: Iterable[str], rows: tuple[Row, ...] = ROWS) -> Plan:
    """Return the stress for these files, without duplicates.

    Args:
        files: paths in the source tree. Only C files, assembler files and headers count.
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
    return (SCRIPTS / f"{name}.sh").read_text(encoding="utf-8")


# Find folders in tools/testing/selftests (Linux 6.1) that test a patch's files. Pure.
#
# `duet check` does not run these selftests, because they need installed kernel headers, and most
# need options, modules or a network that guests lack. The report lists them, because a check does
# not replace them.

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
"""Folders by path prefix. The longest matching prefix applies."""


def about(files: Iterable[str]) -> list[str]:
    """Return the selftest folders for the files, in order and without duplicates."""
    found: dict[str, None] = {}
    for name in files:
        prefix = max((one for one in FOLDERS if name.startswith(one)), key=len, default="")
        found |= dict.fromkeys(FOLDERS.get(prefix, ()))
    return list(found)


# Find KUnit suites that exercise a patch's files, and the options that build them in. Pure.
#
# The list contains the Linux 6.1 suites that this base's configuration can build. Some suites are
# left out. The suites kasan, kfence and kcsan trigger reports on purpose. Driver and network suites
# test devices that guests lack. The option of the fprobe suite changes task_struct, so every object
# would be compiled again. The suite time_test_cases counts through 160,000 years, which takes four
# minutes under emulation.


@dataclass(frozen=True, slots=True)
class Suite:
    """A config option, and the KUnit suites that the option enables.

    Args:
        option: name of the option without CONFIG_.
        suites: suite names as the kernel prints them.
        files: path prefixes of the files that the suites exercise.
        needs: further options on which the option depends.
    """

    option: str
    suites: tuple[str, ...]
    files: tuple[str, ...]
    needs: tuple[str, ...] = ()


ALL = (
    Suite("EXT4_KUNIT_TESTS", ("ext4_inode_test",), ("fs/ext4/inode", "fs/ext4/ext4.h")),
    Suite("FAT_KUNIT_TEST", ("fat_test",), ("fs/fat/",), ("MSDOS_FS",)),
    Suite("BINFMT_ELF_KUNIT_TEST", ("binfmt_elf",), ("fs/binfmt_elf.c",)),
    Suite(
        "SLUB_KUNIT_TEST",
        ("slub_test",),
        ("mm/slub.c", "mm/slab", "include/linux/slab.h", "include/linux/slub_def.h"),
    ),
    Suite("DAMON_KUNIT_TEST", ("damon",), ("mm/damon/", "include/linux/damon.h"), ("DAMON",)),
    Suite("LIST_KUNIT_TEST", ("list-kunit-test", "hlist"), ("include/linux/list.h", "lib/list_d")),
    Suite("TEST_LIST_SORT", ("list_sort",), ("lib/list_sort.c", "include/linux/list_sort.h")),
    Suite("TEST_SORT", ("lib_sort",), ("lib/sort.c", "include/linux/sort.h")),
    Suite("HASH_KUNIT_TEST", ("hash",), ("include/linux/hash.h", "include/linux/stringhash.h")),
    Suite("CMDLINE_KUNIT_TEST", ("cmdline",), ("lib/cmdline.c",)),
    Suite("RESOURCE_KUNIT_TEST", ("resource",), ("kernel/resource.c", "include/linux/ioport.h")),
    Suite("SYSCTL_KUNIT_TEST", ("sysctl_test",), ("kernel/sysctl.c", "include/linux/sysctl.h")),
    Suite("BITFIELD_KUNIT", ("bitfields",), ("include/linux/bitfield.h",)),
    Suite("BITS_TEST", ("bits-test",), ("include/linux/bits.h", "include/vdso/bits.h")),
    Suite("LINEAR_RANGES_TEST", ("linear-ranges-test",), ("lib/linear_ranges.c",)),
    Suite(
        "MEMCPY_KUNIT_TEST",
        ("memcpy",),
        ("lib/string.c", "arch/x86/lib/mem", "include/linux/fortify-string.h"),
    ),
    Suite("OVERFLOW_KUNIT_TEST", ("overflow",), ("include/linux/overflow.h",)),
    Suite("IS_SIGNED_TYPE_KUNIT_TEST", ("is_signed_type",), ("include/linux/compiler.h",)),
    Suite(
        "CPUMASK_KUNIT_TEST",
        ("cpumask",),
        ("lib/cpumask.c", "include/linux/cpumask.h", "lib/find_bit.c", "include/linux/find.h"),
    ),
    Suite("KPROBES_SANITY_TEST", ("kprobes_test",), ("kernel/kprobes.c", "arch/x86/kernel/kpro")),
    Suite("HW_BREAKPOINT_KUNIT_TEST", ("hw_breakpoint",), ("kernel/events/hw_breakpoint.c",)),
    Suite("DRIVER_PE_KUNIT_TEST", ("property-entry",), ("drivers/base/property.c",)),
)

ALLOWED = ("KUNIT", "KUNIT_DEFAULT_ENABLED", "RUNTIME_TESTING_MENU")
"""Options that suites depend on. allnoconfig turns off the last two."""


def fitting(files: Iterable[str]) -> tuple[Suite, ...]:
    """Return the suites that exercise at least one of these files.

    Args:
        files: paths in the source tree.
    """
    names = tuple(files)
    return tuple(one for one in ALL if any(name.startswith(one.files) for name in names))


def fragment(suites: Iterable[Suite]) -> str:
    """Return a config fragment that enables the suites. Some bases lack some of its options."""
    names = [*ALLOWED, *(name for one in suites for name in (*one.needs, one.option))]
    return "".join(f"CONFIG_{name}=y\n" for name in dict.fromkeys(names))
