# SPDX-License-Identifier: GPL-2.0-or-later
"""stream.bin of a lane: records behind one another."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from duet.bundle import limits
from duet.bundle.record import LENS, Record
from duet.errors import InputError

HEAD = struct.Struct("<QhHI")
"""host_ns u64, stream i16, pad u16, length u32."""


def pack_stream(records: Iterable[Record]) -> bytes:
    """Records as bytes; long ones are split, which a byte stream does not notice."""
    parts: list[bytes] = []
    for host_ns, stream, payload in records:
        for at in range(0, len(payload), limits.RECORD_BYTES):
            piece = payload[at : at + limits.RECORD_BYTES]
            parts += (HEAD.pack(host_ns, stream, 0, len(piece)), piece)
    return b"".join(parts)


def read_stream(file: BinaryIO, size: int, name: str) -> Iterator[Record]:
    """The records of a lane, read one by one.

    Args:
        size: bytes from where the file stands to its lane's end.

    Raises:
        InputError: a record is cut off or has an impossible head; names the byte.
    """
    for host_ns, number, length in _heads(file, size, name):
        yield Record(host_ns, number, file.read(length))


def check_stream(file: BinaryIO, size: int, name: str) -> None:
    """Look at all heads.

    Raises:
        InputError: as for `read_stream`.
    """
    for _, _, length in _heads(file, size, name):
        file.seek(length, io.SEEK_CUR)


def _heads(file: BinaryIO, size: int, name: str) -> Iterator[tuple[int, int, int]]:
    """Per record: host time, stream and length of its payload, where the file stands then."""
    at = 0
    while at < size:
        start = at + HEAD.size
        if size < start:
            raise _broken(name, at, f"a record head lacks {start - size} bytes")
        host_ns, number, _, length = HEAD.unpack(file.read(HEAD.size))
        if not LENS <= number < limits.STREAMS:
            raise _broken(name, at, f"there is no stream {number}")
        if length > limits.RECORD_BYTES:
            raise _broken(name, at, f"a record of {length} bytes is too long")
        at = start + length
        if at > size:
            raise _broken(name, start - HEAD.size, f"a record lacks {at - size} of {length} bytes")
        yield host_ns, number, length


def _broken(name: str, at: int, what: str) -> InputError:
    return InputError(
        f"{name} of the recording is broken at byte {at}: {what}.",
        remedy="Get the file anew, or record it again.",
    )
