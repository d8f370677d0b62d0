# SPDX-License-Identifier: GPL-2.0-or-later
"""Read static data of a kernel from vmlinux: the content of an address before boot."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEADERS_AT, COUNTS_AT = 40, 58
"""Offsets in the ELF64 header: that of e_shoff, and that of e_shentsize, e_shnum and e_shstrndx."""
NOTE, NOBITS = 7, 8
"""Section types; see elf(5)."""
WRITE, ALLOC, EXECUTE = 1, 2, 4
"""Section flags; see elf(5)."""
TEXT_BYTES = 256


@dataclass(frozen=True, slots=True)
class Section:
    """One section header.

    Args:
        name: "" if the file has no section names.
        offset: where the section's content begins in the file.
    """

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int

    @property
    def loaded(self) -> bool:
        """Whether the section is loaded into memory when the kernel runs."""
        return bool(self.flags & ALLOC)

    @property
    def code(self) -> bool:
        """Whether the section contains functions: it is executable, but not writable."""
        return bool(self.flags & EXECUTE) and not self.flags & WRITE


class ElfData:
    """Sections of one ELF file.

    Args:
        image: the whole file.

    Raises:
        ValueError: the image is not a 64-bit little-endian ELF file.
    """

    def __init__(self, image: mmap.mmap) -> None:
        if image[:6] != b"\x7fELF\x02\x01":
            raise ValueError("vmlinux is not a 64-bit little-endian ELF file")
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
        """Return a section's bytes, or b"" for .bss."""
        if section.kind == NOBITS:
            return b""
        return self._image[section.offset : section.offset + section.size]

    def are_code(self, addresses: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return for each address whether it is in a section that contains code."""
        import numpy as np  # slow: most users of this module read a few bytes

        found = np.zeros(len(addresses), np.bool_)
        for one in self._code:
            # An address below the section wraps around, and is then larger than the size.
            found |= addresses - np.uint64(one.address) < one.size
        return found

    def holds(self, address: int, length: int) -> bool:
        """Whether the method `bytes` can return data for this range."""
        return any(
            one.address <= address and address + length <= one.address + one.size
            for one in self._held
            if not one.code
        )

    def bytes(self, address: int, length: int) -> bytes:
        """Read static data at an address.

        Raises:
            ValueError: no section covers the range.
        """
        for one in self._held:
            if one.address <= address and address + length <= one.address + one.size:
                at = one.offset + address - one.address
                return self._image[at : at + length]
        raise ValueError(f"no section of vmlinux holds {length} bytes at {address:#x}")

    def pointer(self, address: int) -> int:
        """Read the 64-bit number at an address."""
        return int.from_bytes(self.bytes(address, 8), "little")

    def text(self, address: int) -> str:
        """Read the C string at an address, up to a length of TEXT_BYTES."""
        raw = b""
        while len(raw) < TEXT_BYTES and (byte := self.bytes(address + len(raw), 1)) != b"\0":
            raw += byte
        return raw.decode("ascii", errors="replace")


@contextmanager
def open_data(vmlinux: Path) -> Iterator[ElfData]:
    """Map a vmlinux while the context is open.

    Raises:
        OSError, ValueError: the file cannot be read, or is not an ELF file.
    """
    with vmlinux.open("rb") as file:
        image = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with image:
        yield ElfData(image)
