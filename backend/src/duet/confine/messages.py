# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests to a child, and its replies. Each message is a body and blobs; blobs are not copied.

A message starts with a frame (duet.base.frames) whose payload is the number of blobs (u32), the
length of each blob (u64) and the body. The bytes of the blobs follow the frame. The reader sets all
size limits before it allocates memory. The body of a reply is a msgpack map; `ReplyReader` checks
the type of each field, because an attacker in the child controls every byte.
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
"""Largest body of a reply."""
MOST_ITEMS: Final = 1 << 18
"""Largest number of items in one list or map of a reply."""
TEXT_BYTES: Final = 1 << 20
"""Longest string in a reply."""
INT64_MAX: Final = (1 << 63) - 1

Blob = bytes | bytearray | memoryview


def send(write: Transfer, body: bytes, blobs: Sequence[Blob] = ()) -> None:
    lengths = b"".join(_LENGTH.pack(len(blob)) for blob in blobs)
    write_all(write, pack_frame(MESSAGE, _COUNT.pack(len(blobs)), lengths, body), *blobs)


def receive(
    read: Transfer, most_body: int, most_blobs_bytes: int
) -> tuple[memoryview, list[bytearray]]:
    """Block until a message arrives; return its body and blobs.

    Args:
        most_body: largest accepted body in bytes.
        most_blobs_bytes: largest accepted size of all blobs together.

    Raises:
        Closed: the peer has closed the connection.
        BadFrame: the message is malformed, or larger than accepted.
    """
    kind, payload = read_frame(read, _COUNT.size + MOST_BLOBS * _LENGTH.size + most_body)
    count = int.from_bytes(payload[: _COUNT.size], "little")
    body_at = _COUNT.size + count * _LENGTH.size
    body_bytes = len(payload) - body_at
    if kind != MESSAGE or count > MOST_BLOBS or not 0 <= body_bytes <= most_body:
        raise BadFrame(
            f"a message with a body of {body_bytes} bytes and {count} blobs is not accepted"
        )
    view = memoryview(payload)
    lengths = [length for (length,) in _LENGTH.iter_unpack(view[_COUNT.size : body_at])]
    if sum(lengths) > most_blobs_bytes:
        raise BadFrame(
            f"blobs of {sum(lengths)} bytes arrived, but only {most_blobs_bytes} are accepted"
        )
    return view[body_at:], [read_all(read, length) for length in lengths]


class BadReply(Exception):
    """A reply that does not match its request."""


class ReplyReader:
    """Type-checked access to the fields and blobs of a reply.

    Raises (each method):
        BadReply: the field is missing or has another type.
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
            raise BadReply("the body is not valid msgpack") from error
        if not isinstance(tree, dict):
            raise BadReply("the body is not a map")
        return ReplyReader(tree, blobs)

    def blob(self, length: int | None = None) -> memoryview:
        """Return the next blob as a read-only view, without a copy.

        Args:
            length: expected size in bytes; None for any.
        """
        found = next(self._blobs, None)
        if found is None:
            raise BadReply("too few blobs")
        if length is not None and len(found) != length:
            raise BadReply(f"a blob has {len(found)} bytes instead of {length}")
        return memoryview(found).toreadonly()

    def integer(self, name: str, low: int = 0, high: int = INT64_MAX) -> int:
        return as_integer(self.tree.get(name), low, high)

    def integer_or_none(self, name: str, low: int = 0, high: int = INT64_MAX) -> int | None:
        found = self.tree.get(name)
        return None if found is None else as_integer(found, low, high)

    def flag(self, name: str) -> bool:
        return self.tree.get(name) is True

    def rows(self, name: str, width: int, most: int) -> list[list[Any]]:
        """Return a list of at most `most` lists of `width` cells each."""
        found = self.tree.get(name)
        if not isinstance(found, list) or len(found) > most:
            raise BadReply(f"{name} is not a list of at most {most} rows")
        if not all(isinstance(row, list) and len(row) == width for row in found):
            raise BadReply(f"a row of {name} does not have {width} cells")
        return found

    def map(self, name: str, most: int = 4096) -> dict[str, Any]:
        """Return a map of at most `most` items whose keys are strings."""
        found = self.tree.get(name)
        if not isinstance(found, dict) or len(found) > most:
            raise BadReply(f"{name} is not a map of at most {most} items")
        return {as_text(key): value for key, value in found.items()}


# Functions that check one value of a reply, and raise BadReply if type or range is wrong.


def as_integer(found: object, low: int = 0, high: int = INT64_MAX) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
        raise BadReply(f"a field is not a whole number from {low} to {high}")
    return found


def as_number(found: object) -> float:
    if not isinstance(found, float | int) or isinstance(found, bool) or not math.isfinite(found):
        raise BadReply("a field is not a finite number")
    return float(found)


def as_text(found: object, most: int = 1000) -> str:
    if not isinstance(found, str) or len(found) > most:
        raise BadReply(f"a field is not a string of at most {most} characters")
    return found


def as_choice(found: object, choices: Iterable[str]) -> str:
    for choice in choices:
        if found == choice:
            return choice
    raise BadReply("a field is not one of the expected strings")
