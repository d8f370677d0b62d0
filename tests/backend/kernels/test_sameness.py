# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether two kernels are one: small programs, compiled as kernels are."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import cast

import pytest

from duet.kernels.image import KernelImage, SameKernel, refuse_one, same_kernel

SOURCE = """
struct bug_entry { signed int bug_addr_disp, file_disp; unsigned short line, flags; };
#define WARN(flags) do { static struct bug_entry entry \\
	__attribute__((section("__bug_table"), used)) = { 1, 2, __LINE__, flags }; } while (0)
volatile int counter = 1;
void _start(void) { WARN(1); for (;;) counter += 2; }
"""


def kernel(folder: Path, name: str, source: str, *flags: str) -> KernelImage:
    place = folder / name
    place.mkdir()
    (place / "kernel.c").write_text(source)
    usual = ["-g", "-O1", "-nostdlib", "-static", "-no-pie", "-fno-pic", "-ffreestanding"]
    command = ["gcc", *usual, "-Wl,--build-id", *flags, "-o", "vmlinux", "kernel.c"]
    subprocess.run(command, cwd=place, check=True, timeout=60)
    fields = {"folder": place, "vmlinux": place / "vmlinux", "key": name}
    return cast(KernelImage, type("Image", (), fields))


def test_kernels_that_run_the_same_are_one(tmp_path: Path) -> None:
    stock = kernel(tmp_path, "stock", SOURCE)
    for name, source, same in [
        ("equal", SOURCE, True),
        ("comment", SOURCE.replace("volatile", "/* moves\n all lines */\nvolatile"), True),
        ("code", SOURCE.replace("+= 2", "+= 3"), False),
        ("data", SOURCE.replace("counter = 1", "counter = 2"), False),
        ("flags", SOURCE.replace("WARN(1)", "WARN(3)"), False),
        ("bss", SOURCE.replace("int counter = 1;", "int counter = 1, more[64];"), False),
    ]:
        assert same_kernel(stock, kernel(tmp_path, name, source)) is same, name


def test_the_build_id_alone_decides_where_there_is_nothing_else(tmp_path: Path) -> None:
    stock = kernel(tmp_path, "stock", SOURCE)
    cut = kernel(tmp_path, "cut", SOURCE.replace("+= 2", "+= 3"))
    cut.vmlinux.write_bytes(b"no kernel")
    assert not same_kernel(stock, cut)
    cut.vmlinux.write_bytes(stock.vmlinux.read_bytes())
    assert same_kernel(stock, cut)


def test_one_kernel_is_not_measured_unless_it_was_meant_so(tmp_path: Path) -> None:
    stock, comment = kernel(tmp_path, "stock", SOURCE), kernel(tmp_path, "comment", "\n" + SOURCE)
    code = kernel(tmp_path, "code", SOURCE.replace("+= 2", "+= 3"))
    wanted = r"^both kernels \(a, b\) are the same build, because the differences"
    with pytest.raises(SameKernel, match=wanted):
        refuse_one({"a": stock, "b": comment})
    with pytest.raises(SameKernel, match=r"^all 3 kernels \(a, b, c\)"):
        refuse_one({"a": stock, "b": comment, "c": comment})
    refuse_one({"a": stock, "b": comment, "c": code})
    refuse_one({"a": stock, "b": stock})
    refuse_one({"a": stock})
