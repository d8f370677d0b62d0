# SPDX-License-Identifier: GPL-2.0-or-later
"""Which KUnit suites exercise the files that a patch touches, and the options that build them in.

The suites of Linux 6.1 that this base's configuration can build. Left out are those that make
their checker report on purpose (kasan, kfence, kcsan), those of drivers and the network, which no
guest here has, fprobe, whose option changes task_struct and with it every object, and
time_test_cases, which counts through 160,000 years: four minutes under emulation. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suite:
    """One option and the suites that it builds in.

    Args:
        option: without CONFIG_.
        suites: names as the kernel's console has them.
        files: prefixes of paths.
        needs: further options.
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
"""What suites stand on; allnoconfig turns off the last two, which are on elsewhere."""


def fitting(files: Iterable[str]) -> tuple[Suite, ...]:
    """Those that exercise at least one of these files.

    Args:
        files: paths in the source tree.
    """
    names = tuple(files)
    return tuple(one for one in ALL if any(name.startswith(one.files) for name in names))


def fragment(suites: Iterable[Suite]) -> str:
    """The options that build them in; those without effect on a base are lost without harm."""
    names = [*ALLOWED, *(name for one in suites for name in (*one.needs, one.option))]
    return "".join(f"CONFIG_{name}=y\n" for name in dict.fromkeys(names))
