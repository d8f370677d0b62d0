# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tries of classes need of the server, and what they may do there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from duet import messages as m
from duet.classes import try_queries
from duet.classes.try_records import OpenedFacts
from duet.lessons import load as lesson_cache
from duet.messages.codec import pack
from duet.runs.sources import RunRequest
from duet.server.classroom import try_messages
from duet.server.classroom.refusals import CLOSED, refusal
from duet.server.classroom.room import Room, Seat
from duet.server.classroom.rooms import Rooms
from duet.server.classroom.try_requests import step_of
from duet.server.classroom.whole import Whole
from duet.server.runs import TriedRuns


@dataclass(frozen=True, slots=True)
class LiveParts:
    """What tries need of the server.

    Args:
        runs: the queue.
        read: checks what a `start` asks for.
        no_runs: why nothing runs live here, a sentence; empty: it does.
        no_patches: gives why no patch can be changed here. Blocking.
        hold: takes names of saved runs that stay, the newest first.
    """

    runs: TriedRuns
    read: Callable[[m.Start], RunRequest]
    no_runs: str
    no_patches: Callable[[], str]
    hold: Callable[[list[str]], None]


class TrySettings:
    """Where classes may try, and who sees it."""

    def __init__(self, rooms: Rooms, live: LiveParts, work: Whole) -> None:
        self._rooms = rooms
        self._live = live
        self._work = work
        self._no_patches: str | None = None
        rooms.added = self._added

    async def look(self) -> str:
        """Why no patch can be changed here; looked for once, and shown to all."""
        if self._no_patches is None:
            self._no_patches = await asyncio.to_thread(self._live.no_patches)
            for room in self._rooms:
                self._inform(room)
                room.send(pack(try_messages.opened(room)), room.seats.values())
        return self._no_patches

    async def _look(self) -> None:
        await self.look()

    def _added(self, room: Room) -> None:
        self._inform(room)
        if self._no_patches is None:
            self._work.begin(self._look())

    def _inform(self, room: Room) -> None:
        trying = room.trying
        trying.place_of = self._live.runs.place
        trying.no_runs, trying.no_patches = self._live.no_runs, self._no_patches or ""

    async def open_step(self, seat: Seat, command: m.OpenStep) -> None:
        """Let the class try in a step, or not any more.

        Raises:
            InputError: there is no such step, or nothing can be tried here.
        """
        room, trying = seat.room, seat.room.trying
        lesson = lesson_cache.find(command.lesson).lesson
        step_of(lesson, command.step)
        if command.knobs and trying.no_runs:
            raise refusal(CLOSED, trying.no_runs, "Start the server with its guests.")
        if command.knobs and command.patches and (why := await self.look()):
            raise refusal(CLOSED, "no patch can be changed here.", f"Open knobs alone. {why}")
        facts = OpenedFacts(command.lesson, command.step, command.patches)
        class_id = room.facts.class_id
        async with room.asking:
            if command.knobs:
                await room.ask(
                    self._rooms.store, lambda c: try_queries.open_step(c, class_id, facts)
                )
            else:
                await room.ask(
                    self._rooms.store,
                    lambda c: try_queries.close_step(c, class_id, facts.lesson, facts.step),
                )
            trying.change(facts, command.knobs)
        room.send(pack(try_messages.opened(room)), room.seats.values())

    async def show_gallery(self, seat: Seat, command: m.ShowGallery) -> None:
        """Show all members what the class tries, or hide it."""
        room = seat.room
        class_id = room.facts.class_id
        await room.ask(
            self._rooms.store, lambda c: try_queries.show_gallery(c, class_id, command.shown)
        )
        room.trying.shown = command.shown
        room.send(pack(try_messages.opened(room)), room.seats.values())
        try_messages.send_tries(room)
