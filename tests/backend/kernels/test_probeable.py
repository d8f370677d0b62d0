# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions refuse a probe: read from a small vmlinux, a System.map and a config."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import cast

import pytest

from duet.base.errors import InfraError
from duet.kernels.image import KernelImage
from duet.kernels.traceable import Functions, read_functions

TEXT, ENTRY, NOINSTR, INIT, DATA = (0xFFFFFFFF81000000 + 0x100000 * n for n in range(5))
PLACES = [
    (TEXT, "T", "vfs_stat"),
    (TEXT + 0x40, "T", "percpu_counter_add"),  # no hook of ftrace
    (TEXT + 0x80, "t", "show"),
    (TEXT + 0xC0, "t", "show"),
    (TEXT + 0x100, "t", "walk.isra.0"),
    (TEXT + 0x140, "T", "listed"),
    (ENTRY, "T", "__entry_text_start"),
    (ENTRY, "T", "asm_exc"),
    (ENTRY + 0x40, "T", "__entry_text_end"),
    (NOINSTR, "T", "__noinstr_text_start"),
    (NOINSTR, "T", "do_idle"),
    (NOINSTR + 0x40, "T", "__noinstr_text_end"),
    (INIT, "T", "_sinittext"),
    (INIT, "T", "start_kernel"),
    (INIT + 0x40, "T", "_einittext"),
    (DATA, "D", "__start_mcount_loc"),
    (DATA + 0x28, "D", "__stop_mcount_loc"),
    (DATA + 0x28, "D", "__start_kprobe_blacklist"),
    (DATA + 0x30, "D", "__stop_kprobe_blacklist"),
    (DATA + 0x40, "T", "jiffies"),  # as in 7.3, where the letter says nothing
]
HOOKS = (TEXT + 4, TEXT + 0x80, TEXT + 0xC0, TEXT + 0x100, TEXT + 0x140)


CODE, DATA_FLAGS, BOTH = 6, 3, 7
"""Flags of sections: allocated, and executed or written; or all."""


def image_in(folder: Path, config: str = "", data_flags: int = DATA_FLAGS) -> KernelImage:
    text = "".join(f"{address:x} {letter} {name}\n" for address, letter, name in PLACES)
    (folder / "System.map").write_text(text)
    (folder / "config").write_text(config)
    data = struct.pack("<6Q", *HOOKS, TEXT + 0x140)
    data += bytes(0x48 - len(data))
    headers = 64 + len(data)
    elf = bytearray(b"\x7fELF\x02\x01" + bytes(58))
    struct.pack_into("<Q", elf, 40, headers)
    starts = (TEXT, ENTRY, NOINSTR, INIT)
    struct.pack_into("<HH", elf, 58, 64, 2 + len(starts))
    sections = bytes(64)
    for flags, start, length in [
        (data_flags, DATA, len(data)),
        *((CODE, at, 0x200) for at in starts),
    ]:
        sections += struct.pack("<IIQQQQ", 0, 1, flags, start, 64, length) + bytes(24)
    (folder / "vmlinux").write_bytes(bytes(elf) + data + sections)
    return cast(KernelImage, type("Image", (), {"folder": folder}))


@pytest.fixture
def functions(tmp_path: Path) -> Functions:
    return read_functions(image_in(tmp_path))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("percpu_counter_add", "it is built without tracing (notrace), as most of lib/ is"),
        ("show", "there are 2 functions of this name, but a probe needs one"),
        ("walk", "the compiler turned it into walk.isra.0"),
        ("listed", "it is on the blacklist of kprobes"),
        ("asm_exc", "it is entry code, which refuses probes"),
        ("do_idle", "it is noinstr code, which refuses probes"),
        ("start_kernel", "it is __init code, which is freed at the end of boot"),
        ("jiffies", "it is data, not a function"),
        ("vfs_stet", "there is no such function; it may be inlined"),
    ],
)
def test_a_function_that_refuses_says_why(functions: Functions, name: str, why: str) -> None:
    refusal = functions.refusal(name)
    assert refusal is not None and refusal.why == why
    assert refusal.remedy.endswith(".")


def test_others_take_a_probe(functions: Functions) -> None:
    assert functions.refusal("vfs_stat") is None
    assert functions.refusal("walk.isra.0") is None


def test_a_section_that_is_written_holds_no_function(tmp_path: Path) -> None:
    refusal = read_functions(image_in(tmp_path, data_flags=BOTH)).refusal("jiffies")
    assert refusal is not None and refusal.why == "it is data, not a function"


def test_a_kernel_that_allows_notrace_is_believed(tmp_path: Path) -> None:
    image = image_in(tmp_path, "CONFIG_KPROBE_EVENTS_ON_NOTRACE=y\n")
    assert read_functions(image).refusal("percpu_counter_add") is None


def test_a_vmlinux_that_is_cut_off_is_one_sentence(tmp_path: Path) -> None:
    image = image_in(tmp_path)
    path = tmp_path / "vmlinux"
    path.write_bytes(path.read_bytes()[:70])
    with pytest.raises(InfraError, match="cannot read them"):
        read_functions(image)
