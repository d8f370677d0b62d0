# SPDX-License-Identifier: GPL-2.0-or-later
"""Services that plug-ins add to a server, between the director and its viewers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Self, TypeVar

from fastapi import FastAPI
from starlette.websockets import WebSocket

from duet import messages as m
from duet.base import plugins
from duet.base.access import Action
from duet.base.errors import InputError
from duet.server.doors import Door, Foreign
from duet.server.interfaces import Run
from duet.server.runs import LiveRuns, RunFinder
from duet.session import RunSpec
from duet.store.store import Store
from duet.stream.hub import Hub, Viewer

Opens = Callable[[Viewer, m.Open], None]
Serve = Callable[[WebSocket], Awaitable[None]]
Some = TypeVar("Some", bound="Service")


class Service:
    """One plug-in's part of a server. Methods that a plug-in does not override do nothing.

    The server enters the service at its start and leaves it at its end, in the same asyncio task.

    Attributes:
        commands: the messages from pages that `command` carries out.
        actions: the permission that each route needs; a route that is missing here is refused.
        doors: WebSocket handlers, by path. Each handler authenticates its peers itself. The
            visitors' door does not check these peers.
        foreign: what pages on other sites may do; None if nothing.
    """

    commands: tuple[type[m.Command], ...] = ()
    actions: Mapping[str, Action] = {}
    doors: Mapping[str, Serve] = {}
    foreign: Foreign | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        return None

    async def command(self, viewer: Viewer, command: m.Command) -> None:
        """Carry out a command of this service.

        Raises:
            DuetError: the command cannot be carried out.
        """

    def viewer_left(self, viewer: Viewer) -> None: ...

    def needs(self, command: m.Command) -> Action | None:
        """Return another permission that also allows this command; None if there is no other."""
        return None

    def find_run(self, run_id: str) -> Run | None:
        """Return a live run on another server, or None."""
        return None

    async def open(self, viewer: Viewer, command: m.Open, opens: Opens) -> bool:
        """Open a run on another server.

        Args:
            opens: opens a run on this server, or a run that `find_run` returned.

        Returns:
            Whether a run was opened.
        """
        return False

    def judged(self, visitor: str, verdict: m.Judged) -> None:
        """Handle the judgement of a visitor's challenge. `visitor` is an ident."""

    def admit(self, door: Door) -> None:
        """Register further types of visitors that the door admits. Called before the first
        request."""

    def add_routes(self, app: FastAPI) -> None: ...

    def gauges(self) -> Iterable[tuple[str, str, float]]:
        """Return name, help text and value of each figure of this service for /metrics."""
        return ()


@dataclass(frozen=True, slots=True)
class Core:
    """The parts of the server that services may use.

    Attributes:
        store: the database; None if nothing is stored.
        live_runs: queue for runs on behalf of visitors.
        read: checks a `start` command.
        no_runs: a sentence that says why this server has no live runs; empty if it has live runs.
        no_patches: returns the reason why no patch can be changed here. Blocking.
        hold: sets the names of saved runs that are pinned, the newest first.
        services: the services made so far. A service calls `of` to get a service that it requires.
    """

    hub: Hub
    store: Store | None
    finder: RunFinder
    live_runs: LiveRuns
    read: Callable[[m.Start], RunSpec]
    no_runs: str
    no_patches: Callable[[], str]
    hold: Callable[[list[str]], None]
    services: Services


Maker = Callable[[Core], Service | None]
"""Function that makes a service; it returns None if this server does not use the service."""


def makers() -> dict[str, Maker]:
    """Return, for each plug-in, the function that makes its service."""
    made = ((one.__name__.split(".")[-2], one.service) for one in plugins.offered("service"))
    return dict(made)


class Services(list[Service]):
    """All services of a server. Use with `async with`."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = AsyncExitStack()

    def make(self, core: Core, made: Iterable[Maker]) -> None:
        """Make the services in the given order, so that each service finds the services that it
        requires."""
        for make in made:
            service = make(core)
            if service is not None:
                self.append(service)

    async def __aenter__(self) -> Services:
        for service in self:
            await self._stack.enter_async_context(service)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def command(self, viewer: Viewer, command: m.Command) -> None:
        """Let the service that defines a command carry out the command.

        Raises:
            DuetError: the command cannot be carried out.
        """
        await self._of(command).command(viewer, command)

    def viewer_left(self, viewer: Viewer) -> None:
        for service in self:
            service.viewer_left(viewer)

    def needs(self, command: m.Command) -> Action:
        """Return the permission that a visitor needs to send a command."""
        others = (service.needs(command) for service in self)
        return next((one for one in others if one is not None), command.needs)

    def find_run(self, run_id: str) -> Run | None:
        """Return a live run on another server, or None."""
        found = (service.find_run(run_id) for service in self)
        return next((one for one in found if one is not None), None)

    async def open(self, viewer: Viewer, command: m.Open, opens: Opens) -> None:
        """Open a run on this server or on another server."""
        for service in self:
            if await service.open(viewer, command, opens):
                return
        opens(viewer, command)

    def judged(self, visitor: str, verdict: m.Judged) -> None:
        """Tell all services that a visitor's challenge has been judged. `visitor` is an ident."""
        for service in self:
            service.judged(visitor, verdict)

    def action_of(self, path: str) -> Action | None:
        """Return the permission that a service's route needs; None if no service has the route."""
        return next((one.actions[path] for one in self if path in one.actions), None)

    def of(self, kind: type[Some]) -> Some:
        """Return the service of the given class.

        Raises:
            LookupError: there is no such service.
        """
        found = next((one for one in self if isinstance(one, kind)), None)
        if found is None:
            raise LookupError(f"there is no service of class {kind.__name__}")
        return found

    def doors(self) -> dict[str, Serve]:
        """Return, by path, the WebSocket handlers that authenticate their peers themselves."""
        return {path: serve for one in self for path, serve in one.doors.items()}

    def _of(self, command: m.Command) -> Service:
        for service in self:
            if isinstance(command, service.commands):
                return service
        raise InputError(
            f"this server does not support '{command.tag()}'.",
            remedy="Use a server that has the plug-in for this command.",
        )
