# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages between the server and its children: a head, a body, and blobs behind it.

Head: body length u32, number of blobs u32, then one u64 length per blob. The reader states what
it accepts before it allocates anything.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgpack

_HEAD: Final = struct.Struct("<II")
_LENGTH: Final = struct.Struct("<Q")
PIECE_BYTES: Final = 1 << 20
"""Written or read by one system call, at most."""
MOST_BLOBS: Final = 4096

Blob = bytes | bytearray | memoryview


class Closed(Exception):
    """The other side is gone."""


class Oversized(Exception):
    """A message exceeds what its reader accepts."""


def send(write: Callable[[memoryview], int], body: bytes, blobs: Sequence[Blob] = ()) -> None:
    """Write one message.

    Args:
        write: writes a part and returns its length.
    """
    lengths = b"".join(_LENGTH.pack(len(blob)) for blob in blobs)
    for part in (_HEAD.pack(len(body), len(blobs)) + lengths + body, *blobs):
        view = memoryview(part)
        while view:
            view = view[write(view[:PIECE_BYTES]) :]


def receive(
    read: Callable[[memoryview], int], most_body: int, most_blobs_bytes: int
) -> tuple[bytes, list[bytearray]]:
    """Read one message.

    Args:
        read: fills a part of the buffer and returns its length; 0 is the end.
        most_body: bytes of the body.
        most_blobs_bytes: bytes of all blobs together.

    Raises:
        Closed: the other side is gone.
        Oversized: the head announces more than is accepted.
    """
    body_bytes, count = _HEAD.unpack(_whole(read, _HEAD.size))
    if body_bytes > most_body or count > MOST_BLOBS:
        raise Oversized(f"a body of {body_bytes} bytes and {count} blobs")
    lengths = [n for (n,) in _LENGTH.iter_unpack(_whole(read, count * _LENGTH.size))]
    if sum(lengths) > most_blobs_bytes:
        raise Oversized(f"blobs of {sum(lengths)} bytes")
    return bytes(_whole(read, body_bytes)), [_whole(read, length) for length in lengths]


def _whole(read: Callable[[memoryview], int], length: int) -> bytearray:
    buffer = bytearray(length)
    view = memoryview(buffer)
    while view:
        came = read(view[:PIECE_BYTES])
        if not came:
            raise Closed
        view = view[came:]
    return buffer


def of_descriptor(fd: int) -> tuple[Callable[[memoryview], int], Callable[[memoryview], int]]:
    """(read, write) of a stream socket's descriptor, blocking."""
    return lambda view: os.readv(fd, [view]), lambda view: os.write(fd, view)


# A child's reply, checked field by field: whoever broke into the child chose every byte of it.

BODY_BYTES: Final = 8 << 20
MOST_ITEMS: Final = 1 << 18


class Odd(Exception):
    """A reply is not what its request asks for."""


class Reply:
    """The map and the blobs of a reply, read by the type that is expected.

    Raises (each method):
        Odd: the field is missing, or is something else.
    """

    def __init__(self, tree: dict[str, Any], blobs: list[bytearray]) -> None:
        self.tree = tree
        self._blobs = iter(blobs)

    @staticmethod
    def unpack(body: bytes, blobs: list[bytearray]) -> Reply:
        """From the bytes that came."""
        try:
            tree = msgpack.unpackb(
                body, max_array_len=MOST_ITEMS, max_map_len=MOST_ITEMS, max_str_len=1 << 20
            )
        except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
            raise Odd("no map") from error
        if not isinstance(tree, dict):
            raise Odd("no map")
        return Reply(tree, blobs)

    def blob(self) -> bytearray:
        """The next blob."""
        found = next(self._blobs, None)
        if found is None:
            raise Odd("too few blobs")
        return found

    def whole(self, name: str, low: int = 0, high: int = (1 << 63) - 1) -> int:
        """A whole number from `low` to `high`."""
        return whole(self.tree.get(name), low, high)

    def maybe_whole(self, name: str, low: int = 0, high: int = (1 << 63) - 1) -> int | None:
        """A whole number from `low` to `high`; None if it is missing."""
        found = self.tree.get(name)
        return None if found is None else whole(found, low, high)

    def flag(self, name: str) -> bool:
        """True or false."""
        return self.tree.get(name) is True

    def rows(self, name: str, width: int, most: int) -> list[list[Any]]:
        """A list of at most `most` lists of `width` cells each."""
        found = self.tree.get(name)
        if not isinstance(found, list) or len(found) > most:
            raise Odd(f"no list {name}")
        if not all(isinstance(row, list) and len(row) == width for row in found):
            raise Odd(f"a row of {name}")
        return found

    def map(self, name: str, most: int = 4096) -> dict[str, Any]:
        """A map whose keys are texts."""
        found = self.tree.get(name)
        if not isinstance(found, dict) or len(found) > most:
            raise Odd(f"no map {name}")
        return {text(key): value for key, value in found.items()}


def whole(found: object, low: int = 0, high: int = (1 << 63) - 1) -> int:
    """A whole number in bounds."""
    if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
        raise Odd("a whole number")
    return found


def number(found: object) -> float:
    """A finite number."""
    if not isinstance(found, float | int) or isinstance(found, bool) or not math.isfinite(found):
        raise Odd("a number")
    return float(found)


def text(found: object, most: int = 1000) -> str:
    """A text of at most so many characters."""
    if not isinstance(found, str) or len(found) > most:
        raise Odd("a text")
    return found


def one_of(found: object, choices: Iterable[str]) -> str:
    """One of the texts."""
    for choice in choices:
        if found == choice:
            return choice
    raise Odd("a known word")
