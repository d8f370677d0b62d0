# SPDX-License-Identifier: GPL-2.0-or-later
"""What plug-ins add to a server: a service each, between the director and its viewers."""

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
    """One plug-in's part of a server. What it does not override does nothing.

    Entered when the server starts and left when it ends, in an asyncio task.

    Attributes:
        commands: the messages of a page that `command` carries out.
        actions: what each of its routes needs; one that is not here answers nobody.
        doors: websockets by path that check who comes by themselves, past the visitors' door.
        foreign: what pages of other sites may do; None: nothing.
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
        """Carry out one of its commands.

        Raises:
            DuetError: why not.
        """

    def left(self, viewer: Viewer) -> None: ...

    def needs(self, command: m.Command) -> Action | None:
        """Another action that is enough for a command; None: it needs its own."""
        return None

    def find_run(self, run_id: str) -> Run | None:
        """A live run that is not one of this server's."""
        return None

    async def open(self, viewer: Viewer, command: m.Open, opens: Opens) -> bool:
        """Open a run that is not one of this server's.

        Args:
            opens: opens one of this server, or one that `find_run` gives.

        Returns:
            Whether it has opened something.
        """
        return False

    def judged(self, visitor: str, verdict: m.Judged) -> None:
        """A challenge of a visitor, by ident, has been judged."""

    def admit(self, door: Door) -> None:
        """Tell the door who else may come in, before the first one comes."""

    def add_routes(self, app: FastAPI) -> None: ...

    def gauges(self) -> Iterable[tuple[str, str, float]]:
        """Name, help and value of its figures for /metrics."""
        return ()


@dataclass(frozen=True, slots=True)
class Core:
    """What services may use of the server.

    Attributes:
        store: the database; None: nothing is stored.
        live_runs: where a service asks for runs on behalf of visitors.
        read: checks what a `start` asks for.
        no_runs: why nothing runs live here, a sentence; empty: it does.
        no_patches: gives why no patch can be changed here. Blocking.
        hold: takes names of saved runs that stay, the newest first.
        services: those made so far; `of` gives one that this one requires.
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
"""Makes a service; None: this server does not use it."""


def makers() -> dict[str, Maker]:
    """How the service of each plug-in is made, by its name."""
    made = ((one.__name__.split(".")[-2], one.service) for one in plugins.offered("service"))
    return dict(made)


class Services(list[Service]):
    """All services of a server. Use as `async with`."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = AsyncExitStack()

    def make(self, core: Core, made: Iterable[Maker]) -> None:
        """Make them, in an order in which each finds those that it requires."""
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
        """Have the service that knows a command carry it out.

        Raises:
            DuetError: why not.
        """
        await self._of(command).command(viewer, command)

    def left(self, viewer: Viewer) -> None:
        for service in self:
            service.left(viewer)

    def needs(self, command: m.Command) -> Action:
        """What a visitor must be allowed to, to send a command."""
        others = (service.needs(command) for service in self)
        return next((one for one in others if one is not None), command.needs)

    def find_run(self, run_id: str) -> Run | None:
        """A live run that is not one of this server's."""
        found = (service.find_run(run_id) for service in self)
        return next((one for one in found if one is not None), None)

    async def open(self, viewer: Viewer, command: m.Open, opens: Opens) -> None:
        """Open a run, wherever it is."""
        for service in self:
            if await service.open(viewer, command, opens):
                return
        opens(viewer, command)

    def judged(self, visitor: str, verdict: m.Judged) -> None:
        """A challenge of a visitor, by ident, has been judged."""
        for service in self:
            service.judged(visitor, verdict)

    def action_of(self, path: str) -> Action | None:
        """What a route of a service needs; None: none has it."""
        return next((one.actions[path] for one in self if path in one.actions), None)

    def of(self, kind: type[Some]) -> Some:
        """The service of that kind.

        Raises:
            LookupError: there is none.
        """
        found = next((one for one in self if isinstance(one, kind)), None)
        if found is None:
            raise LookupError(f"no service is a {kind.__name__}")
        return found

    def doors(self) -> dict[str, Serve]:
        """Websockets by path that check who comes by themselves."""
        return {path: serve for one in self for path, serve in one.doors.items()}

    def _of(self, command: m.Command) -> Service:
        for service in self:
            if isinstance(command, service.commands):
                return service
        raise InputError(
            f"this server does not carry out '{command.tag()}'.",
            remedy="Use one that does.",
        )
