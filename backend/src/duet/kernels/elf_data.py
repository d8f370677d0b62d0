# SPDX-License-Identifier: GPL-2.0-or-later
"""Static data of a kernel, out of its vmlinux: what an address holds before anything ran."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HEADERS_AT, COUNTS_AT = 40, 58
"""In the ELF header of 64 bits: offset of the section headers; their size, number, and which of
them holds their names."""
NOTE, NOBITS = 7, 8
"""Kinds of sections."""
WRITE, ALLOC, EXECUTE = 1, 2, 4
"""Flags of a section; elf(5)."""
TEXT_BYTES = 256


@dataclass(frozen=True, slots=True)
class Section:
    """One section.

    Args:
        name: "" where the file has no names.
        offset: of its content in the file.
    """

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int

    @property
    def loaded(self) -> bool:
        """Whether it is part of the kernel that runs."""
        return bool(self.flags & ALLOC)

    @property
    def code(self) -> bool:
        """Whether functions lie in it. One that can be written, too, holds variables."""
        return bool(self.flags & EXECUTE) and not self.flags & WRITE


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
        size, count, names = struct.unpack_from("<HHH", image, COUNTS_AT)
        found = [
            struct.unpack_from("<IIQQQQ", image, headers + number * size) for number in range(count)
        ]
        texts = found[names][4] if 0 < names < count else None
        self.sections = [
            Section(self._name(texts, name), kind, flags, address, offset, length)
            for name, kind, flags, address, offset, length in found
        ]
        self._held = [one for one in self.sections if one.address and one.kind != NOBITS]
        self._code = [one for one in self.sections if one.address and one.code]

    def _name(self, texts: int | None, at: int) -> str:
        if texts is None:
            return ""
        end = self._image.find(b"\0", texts + at)
        return self._image[texts + at : end].decode("ascii", errors="replace")

    def content(self, section: Section) -> bytes:
        """What a section holds in the file; nothing of .bss."""
        if section.kind == NOBITS:
            return b""
        return self._image[section.offset : section.offset + section.size]

    def is_code(self, address: int) -> bool:
        """Whether a function may lie there."""
        return any(0 <= address - one.address < one.size for one in self._code)

    def holds(self, address: int, length: int) -> bool:
        """Whether `bytes` would give data there."""
        return any(
            one.address <= address and address + length <= one.address + one.size
            for one in self._held
            if not one.code
        )

    def bytes(self, address: int, length: int) -> bytes:
        """What stands at an address.

        Raises:
            ValueError: no section holds it.
        """
        for one in self._held:
            if one.address <= address and address + length <= one.address + one.size:
                at = one.offset + address - one.address
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
