# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of classes that wait or run: how they stand, how they end, and which saved ones stay."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from duet.base.errors import DuetError
from duet.classes import try_queries
from duet.rpc.peer import Tasks
from duet.server.classroom.limits import SAVED_S
from duet.server.classroom.room import Room
from duet.server.classroom.rooms import Rooms
from duet.server.classroom.tried import Try
from duet.server.classroom.try_results import failed_lanes, result_of, sentence_of
from duet.server.runs import Ended, TriedRuns

TAKEN_BACK = "It was taken back before it began."
UNREAD = "Its numbers could not be read."

log = logging.getLogger("duet.classes")


class TryEnds:
    """Of all classes.

    Args:
        hold: takes names of saved runs that stay, the newest first.
    """

    def __init__(self, rooms: Rooms, runs: TriedRuns, hold: Callable[[list[str]], None]) -> None:
        self._rooms = rooms
        self._runs = runs
        self._hold = hold
        self._active: dict[str, list[tuple[Room, Try]]] = {}
        self._ending: list[tuple[str, str]] = []
        """Runs that are over, which is not stored yet, each with its class."""
        self._held: dict[str, str] = {}
        """Id of a run -> the class that made it, the oldest first."""
        self._tasks = Tasks()
        runs.changed, runs.ended = self._changed, self._ended

    async def load(self) -> None:
        """Of a server that begins; without a database there is nothing."""
        try:
            if not self._rooms.store.server:  # else others may run them; see owning.py
                await self._rooms.store.ask(try_queries.end_unfinished)
            await self.look_at_held()
        except DuetError as error:
            log.warning("what classes tried is not known: %s", error)

    async def look_at_held(self) -> None:
        """Which saved runs stay, also those of other servers.

        Raises:
            InfraError: the database does not say it.
        """
        ending = dict(self._ending)
        held = dict(await self._rooms.store.ask(try_queries.held_runs))
        held |= ending | dict(self._ending)
        for run_id, active in self._active.items():
            held[run_id] = active[0][0].facts.class_id
        self._held = held
        self._show_held()

    async def close(self) -> None:
        """Give up what is not over."""
        await self._tasks.end()

    def expect(self, room: Room, one: Try) -> None:
        """A run was asked for; its class stays in memory until it is over."""
        room.busy += 1
        self._active.setdefault(one.facts.run_id, []).append((room, one))
        self._held[one.facts.run_id] = room.facts.class_id
        self._show_held()
        self._changed()

    def closed(self, room: Room) -> None:
        """A class has ended: what it waits for is taken back, and its saved runs may go."""
        for active in list(self._active.values()):
            for where, one in active:
                if where is room:
                    for asker in one.askers.values():
                        self._runs.take_back(asker, one.facts.run_id)
        ended = room.facts.class_id
        self._held = {run: of for run, of in self._held.items() if of != ended}
        self._show_held()

    def _show_held(self) -> None:
        self._hold([run_id.rpartition(":")[2] for run_id in reversed(self._held)])

    def _changed(self) -> None:
        """The queue has changed, or what runs has."""
        for run_id, active in list(self._active.items()):
            phase = self._runs.phase(run_id)
            if phase == "ended":
                self._active.pop(run_id)
            for room, one in active:
                if phase == "ended":
                    one.stands(state="failed", sentence=TAKEN_BACK)
                    self._tasks.spawn(self._over(room, one), "class try")
                elif phase == "running":
                    one.stands(state="running")
                self._rooms.notices(room).tries.soon()

    def _ended(self, run_id: str, ended: Ended) -> None:
        for room, one in self._active.pop(run_id, []):
            self._ending.append((run_id, room.facts.class_id))
            self._tasks.spawn(self._end(room, one, ended), "class try")

    async def _end(self, room: Room, one: Try, ended: Ended) -> None:
        run_id = one.facts.run_id
        try:
            await self._finish(room, one, ended)
        finally:
            self._ending.remove((run_id, room.facts.class_id))

    async def _finish(self, room: Room, one: Try, ended: Ended) -> None:
        sentence = ended.trouble or sentence_of(ended.run.log)
        result = None
        if not sentence and one.folder is not None:
            of = (ended.run.log, one.folder, one.facts.workload, one.facts.clock)
            try:
                result = await asyncio.to_thread(result_of, *of)
            except Exception:
                log.exception("the numbers of %s could not be read", one.facts.run_id)
                sentence = UNREAD
        if ended.saving is not None and not ended.saving.done():
            await asyncio.wait({ended.saving}, timeout=SAVED_S)
        state = "failed" if sentence else "done"
        one.stands(state=state, sentence=sentence or failed_lanes(ended.run.log), result=result)
        await self._over(room, one)

    async def _over(self, room: Room, one: Try) -> None:
        if one.facts.state == "failed":
            self._held.pop(one.facts.run_id, None)
            self._show_held()
        class_id = room.facts.class_id
        try:
            await room.ask(self._rooms.store, lambda c: try_queries.end_try(c, class_id, one.facts))
        except DuetError as error:
            log.warning("the end of a run of a class is not stored: %s", error)
        finally:
            room.busy -= 1
        self._rooms.notices(room).tries.soon()
