# SPDX-License-Identifier: GPL-2.0-or-later
"""Static data of a kernel, out of its vmlinux: what an address holds before anything ran."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HEADERS_AT, COUNTS_AT = 40, 58
"""In the ELF header of 64 bits: offset of the section headers; their size and number."""
NOBITS = 8
TEXT_BYTES = 256


class ElfData:
    """Sections of one ELF file.

    Args:
        image: its bytes.

    Raises:
        ValueError: no ELF file of 64 bits, little endian.
    """

    def __init__(self, image: mmap.mmap) -> None:
        if image[:6] != b"\x7fELF\x02\x01":
            raise ValueError("vmlinux is no ELF file of 64 bits, little endian")
        self._image = image
        (headers,) = struct.unpack_from("<Q", image, HEADERS_AT)
        size, count = struct.unpack_from("<HH", image, COUNTS_AT)
        sections = (
            struct.unpack_from("<IIQQQQ", image, headers + number * size) for number in range(count)
        )
        self._sections = [
            (address, offset, length)
            for _, kind, _, address, offset, length in sections
            if address and kind != NOBITS
        ]

    def bytes(self, address: int, length: int) -> bytes:
        """What stands at an address.

        Raises:
            ValueError: no section holds it.
        """
        for start, offset, size in self._sections:
            if start <= address and address + length <= start + size:
                at = offset + address - start
                return self._image[at : at + length]
        raise ValueError(f"no section of vmlinux holds {length} bytes at {address:#x}")

    def pointer(self, address: int) -> int:
        """The 64-bit number at an address."""
        return int.from_bytes(self.bytes(address, 8), "little")

    def text(self, address: int) -> str:
        """The C string at an address, at most TEXT_BYTES long."""
        raw = b""
        while len(raw) < TEXT_BYTES and (byte := self.bytes(address + len(raw), 1)) != b"\0":
            raw += byte
        return raw.decode("ascii", errors="replace")


@contextmanager
def open_data(vmlinux: Path) -> Iterator[ElfData]:
    """The static data of a vmlinux, while it is open.

    Raises:
        OSError, ValueError: it cannot be read, or is no ELF file.
    """
    with vmlinux.open("rb") as file:
        image = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with image:
        yield ElfData(image)
