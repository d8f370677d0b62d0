# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's clock in kernels that keep it differently: read from small programs with DWARF."""

from __future__ import annotations

import subprocess
from pathlib import Path

import drgn
import pytest

from duet.lenses.clock import GuestClock
from duet.lenses.kernel import Kernel, LensError
from duet.lenses.memory import Memory

# include/linux/timekeeper_internal.h and kernel/time/timekeeping.c, as far as they are read.
TYPES = """
typedef unsigned long long u64; typedef long long ktime_t;
typedef struct { struct { unsigned sequence; } seqcount; %s } seqcount_raw_spinlock_t;
struct tk_read_base { void *clock; u64 mask, cycle_last; unsigned mult, shift; u64 xtime_nsec;
	ktime_t base; u64 base_real; };
struct timekeeper { %s struct tk_read_base tkr_mono; struct tk_read_base tkr_raw; };
#define NOW { .tkr_mono = { .shift = 8, .xtime_nsec = 5 << 8, .base = 1000000 } }
#define USED __attribute__((aligned(64), used))
unsigned long tick_nsec = 4000000;
void _start(void) { for (;;) ; }
"""
OLD = TYPES % ("", "") + (
    "static struct { seqcount_raw_spinlock_t seq; struct timekeeper timekeeper; }"
    " tk_core USED = { .timekeeper = NOW };\n"
)
DATA = "struct tk_data { seqcount_raw_spinlock_t seq; struct timekeeper timekeeper, shadow; };\n"
SHADOWED = (
    TYPES % ("long lockdep;", "u64 cache_line;")
    + DATA
    + ("static struct tk_data USED tk_core = { .timekeeper = NOW };\n")
)  # 6.13 to 6.16
ARRAY = (
    TYPES % ("", "")
    + DATA
    + (
        "enum timekeeper_ids { TIMEKEEPER_AUX, TIMEKEEPER_CORE, TIMEKEEPERS_MAX };\n"
        "static struct tk_data USED timekeeper_data[TIMEKEEPERS_MAX] ="
        " { [TIMEKEEPER_CORE] = { .timekeeper = NOW } };\n"
        "enum timekeeper_ids used = TIMEKEEPER_CORE;\n"
    )
)  # since 6.17


def kernel_of(folder: Path, source: str) -> drgn.Program:
    """A program that reads the memory of an ELF file as if it ran."""
    text, made = folder / "kernel.c", folder / "kernel"
    text.write_text(source)
    flags = ["-g", "-O1", "-nostdlib", "-static", "-no-pie", "-fno-pic", "-ffreestanding"]
    subprocess.run(["gcc", *flags, "-o", made, text], check=True, timeout=60)
    program = drgn.Program(drgn.Platform(drgn.Architecture.X86_64))
    module = program.extra_module("kernel", create=True)
    module.address_range = (0x400000, 0x600000)
    module.try_file(made, force=True)
    headers = subprocess.run(
        ["readelf", "-lW", made], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    content = made.read_bytes()
    for line in headers.splitlines():
        if line.split()[:1] == ["LOAD"]:
            offset, address, _, size = (int(word, 16) for word in line.split()[1:5])
            segment = content[offset : offset + size]
            program.add_memory_segment(
                address, size, lambda _a, count, at, _p, segment=segment: segment[at : at + count]
            )
    return program


@pytest.mark.parametrize("source", [OLD, SHADOWED, ARRAY], ids=["5.10", "6.13", "6.17"])
def test_the_clock_is_found_however_a_kernel_keeps_it(tmp_path: Path, source: str) -> None:
    program = kernel_of(tmp_path, source)
    clock = GuestClock(Kernel(program), Memory(program))
    assert clock.read().at_least_ns == 1_000_005
    assert clock.tick_ns == 4_000_000


def test_a_kernel_that_keeps_its_time_elsewhere_is_one_sentence(tmp_path: Path) -> None:
    program = kernel_of(tmp_path, TYPES % ("", "") + "struct timekeeper used = NOW;\n")
    with pytest.raises(LensError, match="tk_core"):
        GuestClock(Kernel(program), Memory(program))
