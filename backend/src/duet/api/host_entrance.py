# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets host processes of other machines in, past the visitors' door: they are no visitors."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from duet.serve.hosted.door import PATH, HostDoor


class HostEntrance:
    """ASGI middleware between guard and identity.

    Args:
        door: None: there is no such path.
    """

    def __init__(self, app: ASGIApp, door: HostDoor | None) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._door is None or scope["type"] != "websocket" or scope["path"] != PATH:
            await self._app(scope, receive, send)
        else:
            await self._door.serve(WebSocket(scope, receive, send))
