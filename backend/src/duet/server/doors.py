# SPDX-License-Identifier: GPL-2.0-or-later
"""Interfaces through which the server and its plug-ins admit visitors. duet.api implements them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

from duet.base.access import Visitor


class Codes(Protocol):
    """Classes that can be joined with a code."""

    def by_code(self, code: str) -> str | None:
        """Return the id of the open class that has this code, or None."""
        ...

    def goes_on(self, class_id: str) -> bool:
        """Return whether a class is still open."""
        ...


class Door(Protocol):
    """Authenticates visitors."""

    async def __call__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Call `app` with a visitor in the scope, or send a response instead."""
        ...

    async def ended(self, visitors: Iterable[Visitor]) -> list[Visitor]:
        """Return only the `visitors` who have lost their access."""
        ...


@dataclass(frozen=True, slots=True)
class Foreign:
    """What pages on other sites may do.

    Args:
        routes: (method, path) pairs that they may request.
        frames: origins whose pages may show these paths in a frame.
    """

    routes: frozenset[tuple[str, str]] = frozenset()
    frames: tuple[str, ...] = ()

    def may(self, scope: Scope) -> bool:
        """Return whether a page on another site may make this request."""
        return scope["type"] == "http" and (scope["method"], scope["path"]) in self.routes
