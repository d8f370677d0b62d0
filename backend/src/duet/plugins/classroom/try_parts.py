# SPDX-License-Identifier: GPL-2.0-or-later
"""What tries need from the server, and the settings of tries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from duet import messages as m
from duet.base.clock import Clock
from duet.lessons import load as lesson_cache
from duet.lessons.own import are_changed
from duet.lessons.schema import Lesson, Scene
from duet.messages.codec import pack
from duet.plugins.classroom import broadcast as try_messages
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom import queries as try_queries
from duet.plugins.classroom.records import OpenedFacts, TryFacts
from duet.plugins.classroom.refusals import CLOSED, refusal
from duet.plugins.classroom.room import Room, Seat
from duet.plugins.classroom.rooms import Rooms
from duet.server.runs import LiveRuns
from duet.session import RunSpec

# Makes a requested try's record, with the knobs that differ from the step. Pure.

SUMMARY_CHARS = 300


def step_of(lesson: Lesson, step: str) -> Scene:
    """Return a step of a lesson.

    Raises:
        InputError: the lesson has no such step.
    """
    found = next((scene for scene in lesson.scenes if scene.id == step), None)
    if found is None:
        raise refusal(
            CLOSED, f"the lesson has no step '{step:.60}'.", "Choose a step of the lesson."
        )
    return found


def turned(lesson: Lesson, scene: Scene, params: dict[str, int], clock: Clock) -> dict[str, int]:
    """Return the knobs whose values differ from the step's values on the given clock."""
    usual = {name: param.default for name, param in lesson.params.items()} | scene.params
    if clock == "count":
        if scene.on_count is not None:
            usual |= scene.on_count.params
        # On the count clock, a guest has one CPU, and the knob for CPUs has no effect.
        usual |= {n: params[n] for n, p in lesson.params.items() if p.role == "cpus"}
    return {name: value for name, value in params.items() if usual.get(name) != value}


def facts_of(spec: RunSpec, step: str, number: int, member: str) -> TryFacts:
    """Make a new try that has no run yet.

    Raises:
        InputError: the lesson has no such step.
    """
    folder = spec.folder
    arms = (*spec.arms, *spec.missing)
    changed = [folder.arm(arm).summary or folder.arm(arm).title for arm in are_changed(arms)]
    scene = step_of(folder.lesson, step)
    return TryFacts(
        number=number,
        lesson=folder.slug,
        step=step,
        workload=spec.workload,
        clock=spec.clock,
        arms=arms,
        params=dict(spec.params),
        turned=turned(folder.lesson, scene, spec.params, spec.clock),
        summary="; ".join(changed)[:SUMMARY_CHARS],
        run_id="",
        asked_s=time.time(),
        makers=(member,),
    )


class BackgroundWork:
    """Runs work that continues after its page is closed, so that memory and database stay
    consistent."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    async def idle(self) -> None:
        """Wait until no work is running."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def until_done(self, work: Coroutine[None, None, None]) -> None:
        """Wait for the work, and raise its errors."""
        await asyncio.shield(self.begin(work))

    def begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Start the work in the background."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # mark the exception as retrieved, because maybe nobody awaits the task
            task.exception()


@dataclass(frozen=True, slots=True)
class LiveParts:
    """What tries need from the server.

    Args:
        runs: the queue of live runs.
        read: checks the parameters of a `start` message.
        no_runs: a sentence that says why this server has no live runs. Empty if it has live runs.
        no_patches: returns why patches cannot be changed here, or "". Blocking.
        hold: is called with the names of the saved runs that must not be deleted, newest first.
    """

    runs: LiveRuns
    read: Callable[[m.Start], RunSpec]
    no_runs: str
    no_patches: Callable[[], str]
    hold: Callable[[list[str]], None]


class TrySettings:
    """Settings of tries: the steps in which a class may try runs, and who sees the tries."""

    def __init__(self, rooms: Rooms, live: LiveParts, work: BackgroundWork) -> None:
        self._rooms = rooms
        self._live = live
        self._work = work
        self._no_patches: str | None = None
        rooms.added.register(self._added)

    async def look(self) -> str:
        """Return why patches cannot be changed here. Check once, and send the result to all
        pages."""
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

    async def open_step(self, seat: Seat, command: cm.OpenStep) -> None:
        """Open a step for the class's tries, or close it.

        Raises:
            InputError: there is no such step, or runs cannot be tried here.
        """
        room, trying = seat.room, seat.room.trying
        lesson = lesson_cache.find(command.lesson).lesson
        step_of(lesson, command.step)
        if command.knobs and trying.no_runs:
            raise refusal(CLOSED, trying.no_runs, "Use a server that runs live runs.")
        if command.knobs and command.patches and (why := await self.look()):
            raise refusal(
                CLOSED, "patches cannot be changed here.", f"Open the step for knobs only. {why}"
            )
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

    async def show_gallery(self, seat: Seat, command: cm.ShowGallery) -> None:
        """Show all members the class's tries, or hide the tries."""
        room = seat.room
        class_id = room.facts.class_id
        await room.ask(
            self._rooms.store, lambda c: try_queries.show_gallery(c, class_id, command.shown)
        )
        room.trying.shown = command.shown
        room.send(pack(try_messages.opened(room)), room.seats.values())
        try_messages.send_tries(room)
