# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a bzImage unpacks to the vmlinux of its build: what boots is what is read and reported.

A stale step between the two is seen by nothing else: the kernel boots, and is another arm's. ccache
once gave back an older piggy.o, since two kernels were the same length when compressed and it did
not see what `.incbin` brings (see ccache.py).

A visitor's change chose every byte of the file. So what it unpacks to is bounded, few places are
tried, and the programs that unpack have a user and limits of their own (sandbox.prefix).
"""

from __future__ import annotations

import bz2
import lzma
import mmap
import os
import select
import struct
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from duet.budgets import KERNEL_PLACES, UNPACKED_KERNEL_BYTES
from duet.errors import InfraError
from duet.processes.owned import find_program
from duet.sandbox import Identity, Limits, prefix

BUILD_ID_NOTE = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
"""Head of the ELF note NT_GNU_BUILD_ID; ld writes 20 bytes after it, a digest of what it linked."""
BUILD_ID_BYTES = 20
LZ4 = b"\x02\x21\x4c\x18"
"""Magic of lz4's legacy frame, with which CONFIG_KERNEL_LZ4 compresses (scripts/Makefile.lib)."""
ZSTD = b"\x28\xb5\x2f\xfd"
HEADER_AT, SETUP_SECTS_AT, PAYLOAD_AT = 0x202, 0x1F1, 0x248
"""Places in the setup header: its magic, the number of sectors before the kernel, and offset and
length of the compressed kernel."""
SECTOR_BYTES = 512
UNPACK_S = 60.0
LIMITS = Limits(memory_bytes=1 << 30, cpu_s=30)
"""Of lz4 and zstd, which write to a pipe alone. Usual: 0.1 s, 20 MB."""
PART_BYTES = 1 << 20


def is_payload(bzimage: Path, vmlinux: Path) -> bool:
    """Whether `bzimage` holds the kernel of `vmlinux`, by the linker's build IDs.

    Raises:
        InfraError: lz4 is missing or does not end.
    """
    wanted = build_ids(vmlinux)
    return bool(wanted) and any(wanted <= _notes(kernel) for kernel in kernels(bzimage))


def build_ids(vmlinux: Path) -> set[bytes]:
    """Digests of the kernel and of the vDSOs that it carries; none of a file that is no kernel."""
    with vmlinux.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        return _notes(whole)


def _notes(whole: bytes | mmap.mmap) -> set[bytes]:
    found = set()
    at = whole.find(BUILD_ID_NOTE)
    while at >= 0:
        begin = at + len(BUILD_ID_NOTE)
        found.add(bytes(whole[begin : begin + BUILD_ID_BYTES]))
        at = whole.find(BUILD_ID_NOTE, begin)
    return found


def kernels(bzimage: Path) -> Iterator[bytes]:
    """The file itself, then what its places unpack to that look like a compressed kernel.

    At most KERNEL_PLACES are tried, and of each UNPACKED_KERNEL_BYTES are looked at.

    Raises:
        InfraError: see is_payload.
    """
    whole = bzimage.read_bytes()
    yield whole
    if packed := _payload(whole):
        yield _unpacked(packed)
    at = whole.find(LZ4)
    for _ in range(KERNEL_PLACES):
        if at < 0:
            return
        yield _piped(["lz4", "-dcf"], whole[at:])
        at = whole.find(LZ4, at + 1)


def _payload(whole: bytes) -> bytes:
    """The compressed kernel, by the setup header (Documentation/arch/x86/boot.rst); b"": none."""
    if whole[HEADER_AT : HEADER_AT + 4] != b"HdrS":
        return b""
    sectors = whole[SETUP_SECTS_AT] or 4
    offset, length = struct.unpack_from("<II", whole, PAYLOAD_AT)
    begin = (sectors + 1) * SECTOR_BYTES + offset
    return whole[begin : begin + length]


def _unpacked(packed: bytes) -> bytes:
    """By the magic of what compressed it; b"" where it is none of scripts/Makefile.lib but lzo."""
    if packed.startswith(LZ4):
        return b""  # kernels() looks for these everywhere
    if packed.startswith(ZSTD):
        return _piped(["zstd", "-dcqf"], packed)
    try:
        if packed.startswith(b"\x1f\x8b"):
            return zlib.decompressobj(wbits=31).decompress(packed, UNPACKED_KERNEL_BYTES)
        if packed.startswith(b"BZh"):
            return bz2.BZ2Decompressor().decompress(packed, UNPACKED_KERNEL_BYTES)
        if packed.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
            unpacker = lzma.LZMADecompressor(memlimit=LIMITS.memory_bytes)
            return unpacker.decompress(packed, UNPACKED_KERNEL_BYTES)
    except (zlib.error, OSError, EOFError, lzma.LZMAError):
        pass
    return b""


def _piped(command: list[str], packed: bytes) -> bytes:
    """What a program of the package of its name writes, up to UNPACKED_KERNEL_BYTES; then it ends.

    What follows the payload is no frame: the tool complains, and has written the kernel by then.
    """
    try:
        with tempfile.TemporaryFile() as file, Identity() as identity:
            file.write(packed)
            file.seek(0)
            program = find_program(command[0], command[0])
            words = [*prefix(LIMITS, uid=identity.uid), program, *command[1:]]
            with subprocess.Popen(
                words, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
            ) as running:
                assert running.stdout is not None
                try:
                    return _read(running.stdout, time.monotonic() + UNPACK_S)
                finally:
                    running.kill()
    except (OSError, TimeoutError) as error:
        raise InfraError(
            f"a kernel is looked into with {command[0]}, which failed ({type(error).__name__}).",
            remedy="Run: ./setup.sh kernels.",
        ) from error


def _read(pipe: IO[bytes], until: float) -> bytes:
    found = bytearray()
    while len(found) < UNPACKED_KERNEL_BYTES:
        ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise TimeoutError
        part = os.read(pipe.fileno(), min(PART_BYTES, UNPACKED_KERNEL_BYTES - len(found)))
        if not part:
            break
        found += part
    return bytes(found)
