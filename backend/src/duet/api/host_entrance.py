# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets host processes and other servers in, past the visitors' door: they are no visitors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from duet.serve.director import Director
from duet.serve.hosted.door import PATH

Serve = Callable[[WebSocket], Awaitable[None]]


class HostEntrance:
    """ASGI middleware between guard and identity.

    Args:
        doors: what serves a path; each asks for a secret of its own.
    """

    def __init__(self, app: ASGIApp, doors: Mapping[str, Serve]) -> None:
        self._app, self._doors = app, doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        serve = self._doors.get(scope["path"]) if scope["type"] == "websocket" else None
        if serve is None:
            await self._app(scope, receive, send)
        else:
            await serve(WebSocket(scope, receive, send))


def doors_of(director: Director) -> dict[str, Serve]:
    """Where hosts and servers come in, as far as any are expected."""
    hosts = {} if director.hosts is None else {PATH: director.hosts.serve}
    return hosts | dict(director.classes.doors)
