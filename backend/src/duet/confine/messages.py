# SPDX-License-Identifier: GPL-2.0-or-later
"""A request to a child or its reply: a body, and blobs behind it that nobody copies.

A message is a frame (duet.base.frames) whose payload is the number of blobs (u32), the length of
each (u64) and the body; the bytes of the blobs follow the frame. The reader states what it accepts
before it allocates anything. A reply's body is a map of msgpack, which `ReplyReader` reads by the
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
INT64_MAX: Final = (1 << 63) - 1

Blob = bytes | bytearray | memoryview


def send(write: Transfer, body: bytes, blobs: Sequence[Blob] = ()) -> None:
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


class BadReply(Exception):
    """A reply is not what its request asks for."""


class ReplyReader:
    """The map and the blobs of a reply.

    Raises (each method):
        BadReply: the field is missing, or is something else.
    """

    def __init__(self, tree: dict[str, Any], blobs: list[bytearray]) -> None:
        self.tree = tree
        self._blobs = iter(blobs)

    @staticmethod
    def unpack(body: bytes | memoryview, blobs: list[bytearray]) -> ReplyReader:
        try:
            tree = msgpack.unpackb(
                body, max_array_len=MOST_ITEMS, max_map_len=MOST_ITEMS, max_str_len=TEXT_BYTES
            )
        except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
            raise BadReply("no map") from error
        if not isinstance(tree, dict):
            raise BadReply("no map")
        return ReplyReader(tree, blobs)

    def blob(self, length: int | None = None) -> memoryview:
        """The next blob, read-only and where it was received.

        Args:
            length: that it must have.
        """
        found = next(self._blobs, None)
        if found is None:
            raise BadReply("too few blobs")
        if length is not None and len(found) != length:
            raise BadReply(f"a blob of {len(found)} bytes for {length}")
        return memoryview(found).toreadonly()

    def integer(self, name: str, low: int = 0, high: int = INT64_MAX) -> int:
        """A whole number from `low` to `high`."""
        return as_integer(self.tree.get(name), low, high)

    def integer_or_none(self, name: str, low: int = 0, high: int = INT64_MAX) -> int | None:
        found = self.tree.get(name)
        return None if found is None else as_integer(found, low, high)

    def flag(self, name: str) -> bool:
        return self.tree.get(name) is True

    def rows(self, name: str, width: int, most: int) -> list[list[Any]]:
        """A list of at most `most` lists of `width` cells each."""
        found = self.tree.get(name)
        if not isinstance(found, list) or len(found) > most:
            raise BadReply(f"no list {name}")
        if not all(isinstance(row, list) and len(row) == width for row in found):
            raise BadReply(f"a row of {name}")
        return found

    def map(self, name: str, most: int = 4096) -> dict[str, Any]:
        """A map whose keys are texts."""
        found = self.tree.get(name)
        if not isinstance(found, dict) or len(found) > most:
            raise BadReply(f"no map {name}")
        return {as_text(key): value for key, value in found.items()}


# One value of a reply, or BadReply.


def as_integer(found: object, low: int = 0, high: int = INT64_MAX) -> int:
    """A whole number from `low` to `high`."""
    if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
        raise BadReply("a whole number")
    return found


def as_number(found: object) -> float:
    if not isinstance(found, float | int) or isinstance(found, bool) or not math.isfinite(found):
        raise BadReply("a number")
    return float(found)


def as_text(found: object, most: int = 1000) -> str:
    """A text of at most `most` characters."""
    if not isinstance(found, str) or len(found) > most:
        raise BadReply("a text")
    return found


def as_choice(found: object, choices: Iterable[str]) -> str:
    for choice in choices:
        if found == choice:
            return choice
    raise BadReply("a known word")
