# SPDX-License-Identifier: GPL-2.0-or-later
"""A request to a child or its reply: a body, and blobs behind it that nobody copies.

A message is a frame (duet.base.frames) whose payload is the number of blobs (u32), the length of
each (u64) and the body; the bytes of the blobs follow the frame. The reader states what it accepts
before it allocates anything. A reply's body is a map of msgpack, which `Reply` reads by the
types that are expected: whoever broke into the child chose every byte of it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgpack

from duet.base.frames import (
    MESSAGE,
    BadFrame,
    Transfer,
    pack_frame,
    read_all,
    read_frame,
    write_all,
)

_COUNT: Final = struct.Struct("<I")
_LENGTH: Final = struct.Struct("<Q")
MOST_BLOBS: Final = 4096
BODY_BYTES: Final = 8 << 20
"""Of a reply."""
MOST_ITEMS: Final = 1 << 18
"""Of one list or map in it."""
TEXT_BYTES: Final = 1 << 20

Blob = bytes | bytearray | memoryview


def send(write: Transfer, body: bytes, blobs: Sequence[Blob] = ()) -> None:
    """Write one message."""
    lengths = b"".join(_LENGTH.pack(len(blob)) for blob in blobs)
    write_all(write, pack_frame(MESSAGE, _COUNT.pack(len(blobs)), lengths, body), *blobs)


def receive(
    read: Transfer, most_body: int, most_blobs_bytes: int
) -> tuple[memoryview, list[bytearray]]:
    """Wait for one message; its body and blobs.

    Args:
        most_body: bytes of the body.
        most_blobs_bytes: bytes of all blobs together.

    Raises:
        Closed: the other side is gone.
        BadFrame: it is none, or announces more than is accepted.
    """
    kind, payload = read_frame(read, _COUNT.size + MOST_BLOBS * _LENGTH.size + most_body)
    count = int.from_bytes(payload[: _COUNT.size], "little")
    body_at = _COUNT.size + count * _LENGTH.size
    body_bytes = len(payload) - body_at
    if kind != MESSAGE or count > MOST_BLOBS or not 0 <= body_bytes <= most_body:
        raise BadFrame(f"a body of {body_bytes} bytes and {count} blobs")
    view = memoryview(payload)
    lengths = [length for (length,) in _LENGTH.iter_unpack(view[_COUNT.size : body_at])]
    if sum(lengths) > most_blobs_bytes:
        raise BadFrame(f"blobs of {sum(lengths)} bytes")
    return view[body_at:], [read_all(read, length) for length in lengths]


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
    def unpack(body: bytes | memoryview, blobs: list[bytearray]) -> Reply:
        """From the bytes that came."""
        try:
            tree = msgpack.unpackb(
                body, max_array_len=MOST_ITEMS, max_map_len=MOST_ITEMS, max_str_len=TEXT_BYTES
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
