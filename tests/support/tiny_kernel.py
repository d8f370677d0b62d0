# SPDX-License-Identifier: GPL-2.0-or-later
"""Test helper: programs of some bytes that a real QEMU boots in place of a kernel (multiboot)."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Literal

AFTERWARDS = {
    "stays": "",
    "floods": "jmp start",
    "ends": "movw $0xcf9, %dx; movb $6, %al; outb %al, %dx",
}
SOURCE = """
.code32
.long 0x1badb002, 0x10000, -(0x1badb002 + 0x10000)
.long 0x100000, 0x100000, 0, 0, start
start:
	movl $text, %esi
	movw $0x3f8, %dx
again:
	lodsb
	testb %al, %al
	jz said
	outb %al, %dx
	jmp again
said:
	AFTERWARDS
	cli
stay:
	hlt
	jmp stay
text: .string "TEXT"
"""


def tiny_kernel(
    folder: Path, afterwards: Literal["stays", "floods", "ends"], text: str = "hello\\n"
) -> Path:
    """A kernel that writes a text to the serial line, then stays, says it for ever, or ends.

    Args:
        text: as the assembler takes it.
    """
    source, made, kernel = folder / "tiny.s", folder / "tiny.o", folder / f"tiny-{afterwards}"
    source.write_text(SOURCE.replace("AFTERWARDS", AFTERWARDS[afterwards]).replace("TEXT", text))
    flat = ["-m", "elf_i386", "--oformat", "binary", "-Ttext", "0x100000", "-e", "0x100020"]
    for command in (["as", "--32", "-o", made, source], ["ld", *flat, "-o", kernel, made]):
        subprocess.run(command, check=True, timeout=60)
    return kernel
