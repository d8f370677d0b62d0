# SPDX-License-Identifier: GPL-2.0-or-later
"""Write a pack as one tar file, which is small because xz compresses its kernels in one stream.

Kernels that differ by one patch are nearly identical before they are compressed. So for each
bzImage, the pack stores the uncompressed kernel, and the parts of the bzImage before and after the
compressed kernel. Then xz detects the parts that kernels share. The host compresses each kernel
again with the pack's own lz4, which produces the same bytes.
"""

from __future__ import annotations

import io
import lzma
import struct
import subprocess
import tarfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from duet.base.errors import InfraError
from duet.kernels.image import HEADER_AT, LZ4, PAYLOAD_AT, SECTOR_BYTES, SETUP_SECTS_AT
from duet.plugins.pack.unpack import LZ4_S, PARTS, PAYLOAD
from duet.processes.owned import find_program

LEVELS: Final = ("-9", "-1", "-12")
"""lz4 levels that scripts/Makefile.lib has used."""
FILTERS: Final = [
    {"id": lzma.FILTER_X86},
    {"id": lzma.FILTER_LZMA2, "preset": 2, "dict_size": 160 << 20},
]
"""Size of xz's dictionary. It holds four kernels. Unpacking needs that much memory."""
AT_ONCE: Final = ("measure", "README", "pack.json", "unpack.py", "libexec/python3", "python/")
"""Files outside the payload. Python can start with only these files and its libraries."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a bzImage: its head, its uncompressed kernel, and its tail after the compressed
    kernel."""

    head: bytes
    body: bytes
    tail: bytes
    level: str


def split_kernel(bzimage: bytes) -> Parts | None:
    """Split a bzImage that is compressed with lz4. Return None if its parts would not reproduce the
    same bytes.

    Source: Documentation/arch/x86/boot.rst (payload_offset), scripts/Makefile.lib (cmd_lz4).

    Raises:
        InfraError: lz4 is not installed.
    """
    if bzimage[HEADER_AT : HEADER_AT + 4] != b"HdrS":
        return None
    offset, length = struct.unpack_from("<II", bzimage, PAYLOAD_AT)
    begin = ((bzimage[SETUP_SECTS_AT] or 4) + 1) * SECTOR_BYTES + offset
    packed = bzimage[begin : begin + length]
    if not packed.startswith(LZ4):
        return None
    body = _lz4(["-d", "-c"], packed[:-4])  # the last 4 bytes contain the unpacked length
    for level in LEVELS:
        again = _lz4(["-l", level, "-c"], body)
        if body and packed.startswith(again):
            tail = bzimage[begin + len(again) :]
            return Parts(bzimage[:begin], body, tail, level)
    return None


def _lz4(words: list[str], given: bytes) -> bytes:
    program = find_program("lz4", "lz4")
    try:
        done = subprocess.run([program, *words], input=given, capture_output=True, timeout=LZ4_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise InfraError(
            f"lz4 failed to compress or unpack a kernel ({type(error).__name__}).",
            remedy="Run: ./setup.sh kernels.",
        ) from error
    return done.stdout


def write_archive(folder: Path, target: Path, libraries: Collection[str]) -> None:
    """Write a pack folder as a tar file. The top folder in the archive has the archive's name.

    Args:
        libraries: paths of the libraries that Python needs, relative to the folder.

    Raises:
        OSError: for example, the disk is full.
    """
    payload = folder.parent / PAYLOAD
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    first = sorted(n for n in names if n in libraries or n.startswith(AT_ONCE))
    # The other files are sorted by name, so that the bodies of the kernels are adjacent.
    rest = sorted(set(names) - set(first), key=lambda name: (name.rpartition("/")[2], name))
    try:
        _write_payload(folder, rest, payload)
        with tarfile.open(target, "w") as archive:
            for name in first:
                archive.add(folder / name, f"{target.stem}/{name}")
            archive.add(payload, f"{target.stem}/{PAYLOAD}")
    finally:
        payload.unlink(missing_ok=True)


def _write_payload(folder: Path, names: Iterable[str], payload: Path) -> None:
    with (
        lzma.open(payload, "wb", format=lzma.FORMAT_XZ, filters=FILTERS) as packed,
        tarfile.open(fileobj=packed, mode="w|") as archive,
    ):
        for name in names:
            path = folder / name
            parts = split_kernel(path.read_bytes()) if path.name == "bzImage" else None
            if parts is None:
                archive.add(path, name)
                continue
            place = f"{name.rpartition('/')[0]}/{PARTS}"
            for part, content in (
                ("head", parts.head),
                ("body", parts.body),
                ("tail", parts.tail),
                ("level", parts.level.encode()),
            ):
                entry = tarfile.TarInfo(f"{place}/{part}")
                entry.size, entry.mode = len(content), 0o644
                archive.addfile(entry, io.BytesIO(content))
