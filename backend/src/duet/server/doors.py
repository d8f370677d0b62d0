# SPDX-License-Identifier: GPL-2.0-or-later
"""How visitors come in, as the server and its plug-ins know it; duet.api does it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

from duet.base.access import Visitor


class Codes(Protocol):
    """Classes that may be joined by a code."""

    def by_code(self, code: str) -> str | None:
        """The id of the open class with a code."""
        ...

    def goes_on(self, class_id: str) -> bool:
        """Whether a class has not ended."""
        ...


class Door(Protocol):
    """How visitors are let in."""

    async def __call__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Call `app` with a visitor in the scope, or answer in its place."""
        ...

    async def ended(self, visitors: Iterable[Visitor]) -> list[Visitor]:
        """Those of `visitors` who may not be here any more."""
        ...


@dataclass(frozen=True, slots=True)
class Foreign:
    """What pages of other sites may do.

    Args:
        routes: methods and paths that they may ask for.
        frames: origins whose pages may frame these paths.
    """

    routes: frozenset[tuple[str, str]] = frozenset()
    frames: tuple[str, ...] = ()

    def may(self, scope: Scope) -> bool:
        """Whether a page of another site may make this request."""
        return scope["type"] == "http" and (scope["method"], scope["path"]) in self.routes
