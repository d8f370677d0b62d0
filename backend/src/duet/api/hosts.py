# SPDX-License-Identifier: GPL-2.0-or-later
"""Admits host processes and other servers before visitors are authenticated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from duet.server.director import Director
from duet.server.hosts.door import DOOR_PATH, KERNEL_PATH, HostDoor

Serve = Callable[[WebSocket], Awaitable[None]]


class HostEntrance:
    """ASGI middleware between guard and identity.

    Args:
        doors: handlers by path. Each handler requires a secret of its own.
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
    """Return the handlers for hosts and for other servers, if this server expects any."""
    hosts = {} if director.hosts is None else {DOOR_PATH: director.hosts.serve}
    return hosts | director.services.doors()


# Sends kernels to joined hosts. Hosts are not visitors, so this runs before authentication.


class HostKernels:
    """ASGI middleware between guard and identity.

    Args:
        door: checks the secrets of hosts; if None, the path for kernels does not exist.
    """

    def __init__(self, app: ASGIApp, door: HostDoor | None) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            self._door is None
            or scope["type"] != "http"
            or not scope["path"].startswith(KERNEL_PATH)
        ):
            await self._app(scope, receive, send)
            return
        refused = refusal(self._door, Request(scope))
        await (refused or self._door.kernels.serve)(scope, receive, send)


def refusal(door: HostDoor, request: Request) -> Response | None:
    """Return why a kernel is refused, or None if it may be sent."""
    if not door.knows(request):
        return PlainTextResponse("Only hosts of this server have kernels here.\n", 403)
    if request.method != "GET":
        return PlainTextResponse("Only GET is answered here.\n", 405)
    return None
