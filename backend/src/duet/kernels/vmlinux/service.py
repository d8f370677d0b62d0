# SPDX-License-Identifier: GPL-2.0-or-later
"""Query service for one vmlinux. It runs in a confined child, which gets a file descriptor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from duet.kernels.vmlinux.structures import Structures, empty_program
from duet.kernels.vmlinux.symbols import (
    FUNCTION,
    OBJECT,
    Parts,
    names_at,
    places_of,
    ranges_of,
    read_symbols,
)

Answer = tuple[Mapping[str, object], Sequence[bytes]]
Rows = list[list[object]]


def warm() -> None:
    """Make drgn import all modules that it otherwise imports later."""
    empty_program()


class VmlinuxService:
    """Handlers for the requests of duet.kernels.vmlinux.ask and duet.lenses.scope."""

    def __init__(self) -> None:
        self._fd = -1
        self._path = Path()
        self._questions: dict[str, Callable[[dict[str, Any]], object]] = {
            "number": self._number,
            "has_function": lambda asked: self._types.has_function(asked["name"]),
            "members": lambda asked: self._types.number_members(asked["name"]),
            "member_count": lambda asked: self._types.member_count(asked["name"]),
            "paths": lambda asked: self._types.number_paths(asked["paths"]),
            "functions": self._function_rows,
            "variable": lambda asked: [list(p) for p in ranges_of(self._variables, asked["name"])],
            "names": lambda asked: [list(p) for p in names_at(self._variables, asked["addresses"])],
        }

    def answer(self, request: dict[str, Any], blobs: list[bytearray], fds: Sequence[int]) -> Answer:
        """Return the result of a request under the key `answer`."""
        self._fd, self._path = fds[0], Path(request["file"])
        return {"answer": self._questions[request["do"]](request)}, ()

    @cached_property
    def _types(self) -> Structures:
        return Structures(self._fd, self._path)

    @cached_property
    def _functions(self) -> Parts:
        return read_symbols(self._fd, FUNCTION, self._path)

    @cached_property
    def _variables(self) -> Parts:
        return read_symbols(self._fd, OBJECT, self._path)

    def _number(self, asked: dict[str, Any]) -> int:
        return self._types.number(asked["ask"], asked["type"], asked["member"])

    def _function_rows(self, asked: dict[str, Any]) -> Rows:
        """Return (index in the request, start, end) for each part of each function."""

        def is_inlined(name: str) -> bool:
            return self._types.has_function(name)

        return [
            [number, low, high]
            for number, (name, entered) in enumerate(asked["functions"])
            for low, high in places_of(self._functions, name, entered, is_inlined)
        ]
