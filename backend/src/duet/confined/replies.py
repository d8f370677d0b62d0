# SPDX-License-Identifier: GPL-2.0-or-later
"""A child's reply, checked field by field: whoever broke into the child chose every byte of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import msgpack

from duet.errors import DuetError, InfraError, InputError, KernelError

BODY_BYTES: Final = 8 << 20
MOST_ITEMS: Final = 1 << 18
KINDS: Final[dict[object, type[DuetError]]] = {2: InputError, 3: InfraError, 4: KernelError}


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


def error_of(found: object) -> DuetError | None:
    """The error that a child reports of its own work; None: of a kind that should not be."""
    if not isinstance(found, list) or len(found) != 4 or found[0] not in KINDS:
        return None
    sentence, remedy, detail = (text(part, 4000) for part in found[1:])
    return KINDS[found[0]](plain(sentence), remedy=plain(remedy), detail=detail)


def plain(found: str) -> str:
    """As it may stand in a sentence on a terminal."""
    return "".join(c if c.isprintable() else "?" for c in found)
