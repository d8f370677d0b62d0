# SPDX-License-Identifier: GPL-2.0-or-later
"""Contains create_app(), which connects hub, director, socket, routes and page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import Depends, FastAPI, WebSocket
from fastapi.concurrency import run_in_threadpool

from duet import __version__
from duet import confine as confined
from duet.api.guard import Guard, answered_names, is_loopback
from duet.api.hosts import HostEntrance, HostKernels, doors_of
from duet.api.identity import AnyoneIn, Identity, TokensOnly
from duet.api.metrics import add_metrics
from duet.api.page import add_page
from duet.api.proxy import Front, ProxyMiddleware
from duet.api.routes import add_routes, add_segment_routes, may_call
from duet.api.sessions import Sessions
from duet.api.stills import Costly, Stills
from duet.api.tokens import NEEDED
from duet.base.budgets import SESSION_CHECK_S
from duet.server.director import Director
from duet.server.doors import Door, Foreign
from duet.server.watchdog import Watchdog
from duet.stream.http import Admission
from duet.stream.hub import Hub
from duet.stream.viewer import SEND_STALL_S, Endpoint

MakeDirector = Callable[[Hub], Director]


def create_app(
    make_director: MakeDirector,
    *,
    page: Path,
    host: str = "127.0.0.1",
    names: tuple[str, ...] = (),
    stall_s: float = SEND_STALL_S,
    hub: Hub | None = None,
    stills: Stills | None = None,
    sessions: Sessions | None = None,
    door: Door | None = None,
    foreign: Foreign | None = None,
    front: Front | None = None,
) -> FastAPI:
    """Build the application.

    Args:
        make_director: called with the hub. For real guests, it is default_director() in
            server/wiring.py.
        page: folder of the built page (frontend/dist); it need not exist.
        host: the address to bind. It determines which Host headers are accepted.
        names: more host names to accept.
        stills: takes pictures for browsers without JavaScript; if None, Chromium takes them.
        sessions: requires a token from each visitor; if None, each visitor is the operator.
        door: authenticates visitors; overrides the choice that `sessions` makes.
        foreign: what pages on other sites may do, besides launches by learning platforms.
        front: the proxy in front of the server.
    """
    hub, front = hub or Hub(), front or Front()
    if door is None:
        door = AnyoneIn() if sessions is None else TokensOnly(sessions)
    director = make_director(hub)
    for service in director.services:
        service.admit(door)
    watchdog = Watchdog()
    costly = Costly(director.measuring)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        confined.start()  # start child processes now, so that the first recording opens faster
        await run_in_threadpool(director.warm)  # also starts Starlette's thread pool
        async with watchdog, director, asyncio.TaskGroup() as tasks:
            watch = tasks.create_task(expel_ended(hub, door), name="sessions")
            yield
            watch.cancel()
        costly.close()

    app = FastAPI(
        title="Kernel Duet",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[Depends(may_call)],
    )
    app.add_middleware(Identity, door=door)
    app.add_middleware(HostEntrance, doors=doors_of(director))
    app.add_middleware(HostKernels, door=director.hosts)
    answered = answered_names(host, (*names, *front.names))
    others = (service.foreign for service in director.services)
    may = foreign or next((one for one in others if one is not None), None)
    app.add_middleware(Guard, names=answered, any_address=not is_loopback(host), foreign=may)
    app.add_middleware(ProxyMiddleware, front=front)
    admission = Admission.behind(front.proxies)
    endpoint = Endpoint(hub, director, stall_s, admission.sockets)

    @app.websocket("/ws")
    async def ws(socket: WebSocket) -> None:
        await endpoint.serve(socket)

    app.state.watchdog = watchdog
    app.state.hub = hub
    app.state.admission = admission
    app.state.costly = costly
    app.state.director = director
    add_routes(app, director, stills or Stills(director.measuring))
    add_segment_routes(app, director)
    for service in director.services:
        service.add_routes(app)
    add_metrics(app, director)
    add_page(app, page)
    return app


async def expel_ended(hub: Hub, door: Door) -> None:
    """Close sockets whose session has expired, or whose token was rotated or revoked."""
    while True:
        await asyncio.sleep(SESSION_CHECK_S)
        viewers = list(hub.viewers)
        ended = {id(one) for one in await door.ended([viewer.visitor for viewer in viewers])}
        for viewer in viewers:
            if id(viewer.visitor) in ended:
                viewer.expel(NEEDED.short)
