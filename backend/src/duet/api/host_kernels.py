# SPDX-License-Identifier: GPL-2.0-or-later
"""Gives kernels to hosts that have joined, past the visitors' door: they are no visitors."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from duet.serve.hosted.door import HostDoor
from duet.serve.hosted.kernel_files import PATH


class HostKernels:
    """ASGI middleware between guard and identity.

    Args:
        door: None: there are no such paths.
    """

    def __init__(self, app: ASGIApp, door: HostDoor | None) -> None:
        self._app, self._door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._door is None or scope["type"] != "http" or not scope["path"].startswith(PATH):
            await self._app(scope, receive, send)
            return
        refused = refusal(self._door, Request(scope))
        await (refused or self._door.kernels.serve)(scope, receive, send)


def refusal(door: HostDoor, request: Request) -> Response | None:
    """Why nothing is given; None: it is."""
    if not door.knows(request):
        return PlainTextResponse("Only hosts of this server have kernels here.\n", 403)
    if request.method != "GET":
        return PlainTextResponse("Only GET is answered here.\n", 405)
    return None
