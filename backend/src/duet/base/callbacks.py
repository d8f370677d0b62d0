# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of callbacks for events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")


class Callbacks(Generic[P]):
    """List of callbacks. Calling the list calls each callback, in the order of registration."""

    def __init__(self) -> None:
        self._registered: list[Callable[P, object]] = []

    def register(self, function: Callable[P, object]) -> None:
        self._registered.append(function)

    def unregister(self, function: Callable[P, object]) -> None:
        self._registered.remove(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        for function in self._registered:
            function(*args, **kwargs)
