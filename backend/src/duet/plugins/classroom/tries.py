# SPDX-License-Identifier: GPL-2.0-or-later
"""Handles tries, which are runs that members request in steps that the instructor has opened."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duet import messages as m
from duet.base import budgets
from duet.base.clock import Clock
from duet.base.errors import DuetError, InfraError, InputError
from duet.lessons.load import LessonFolder
from duet.lessons.own import are_changed, changed_arm
from duet.lessons.schema import Lesson
from duet.measure.plan import headline
from duet.plugins.classroom import messages as cm
from duet.plugins.classroom import queries as try_queries
from duet.plugins.classroom.limits import SAVED_S
from duet.plugins.classroom.refusals import CLOSED, FULL, not_yours, refusal
from duet.plugins.classroom.room import Member, Room, Seat, Try
from duet.plugins.classroom.rooms import Rooms
from duet.plugins.classroom.try_parts import BackgroundWork, LiveParts, TrySettings, facts_of
from duet.rpc.peer import Tasks
from duet.server.figures import OPS, values_of
from duet.server.runs import Ended, LiveRuns
from duet.stream.hub import RunLog

# Computes the number that a try shows: the headline metric of its lesson on two lanes.

FAILED = "No lane of this run reached its end."
STOPPED = "It was stopped before its end."


def sentence_of(log: RunLog) -> str:
    """Say why a finished run has no number, or return "" if any lane completed."""
    state = log.run()
    if state is not None and state.phase == "stopped":
        return STOPPED
    if any(lane.phase == "done" for lane in log.lanes().values()):
        return ""
    return failed_lanes(log) or FAILED


def failed_lanes(log: RunLog) -> str:
    """Say which lanes of a run failed and why, or return "" if none failed."""
    failed = [lane for lane in log.lanes().values() if lane.phase == "failed"]
    said = next((lane.message for lane in failed if lane.message), "")
    names = " and ".join(lane.arm for lane in failed)
    return f"The lane {names} failed. {said}".strip() if failed else ""


def result_of(log: RunLog, folder: LessonFolder, workload: str, clock: Clock) -> dict[str, Any]:
    """Return the fields of messages.TryResult as a JSON tree. Blocking."""
    values = values_of(log, folder.lesson, workload)
    name, title, unit, better = measure_of(folder.lesson, workload, clock, values)
    state = log.run()
    arms = list(values.get(name, {})) if state is None else list(state.arms)
    of = {arm: value for arm, value in values.get(name, {}).items() if arm in arms}
    lanes = [
        cm.TryLane(arm=arm, title=folder.arm(arm).title, value=of[arm])
        for arm in compared(arms)
        if arm in of
    ]
    ratio = None
    if len(lanes) > 1 and lanes[0].value > 0:
        ratio = lanes[1].value / lanes[0].value
    made = cm.TryResult(title=title, unit=unit, better=better, lanes=lanes, ratio=ratio)
    return made.model_dump(mode="json")


def measure_of(
    lesson: Lesson, workload: str, clock: Clock, values: Mapping[str, object]
) -> tuple[str, str, str, cm.Better]:
    """Return name, title and unit of a try's number, and which direction is better.

    The number is the headline metric if the workload has printed it. Otherwise it is the operations
    that the lanes counted.
    """
    try:
        name = headline(lesson, workload, clock)
    except InputError:
        name = OPS
    metric = lesson.metrics.get(name)
    if metric is not None and name in values:
        return name, metric.title, metric.unit, metric.better
    counted = "operations" if lesson.operation is None else lesson.operation.plural
    return OPS, counted, counted, "neither"


def compared(arms: Sequence[str]) -> list[str]:
    """Return two arms of a run to compare: the changed arm and its base, or the first two arms."""
    own = next((arm for arm in arms if changed_arm(arm) is not None), None)
    if own is None:
        return list(arms[:2])
    base = changed_arm(own)
    others = [arm for arm in arms if arm != own]
    before = base if base in others else next(iter(others), None)
    return [own] if before is None else [before, own]


# Tracks the state of tries that wait or run, stores how they ended, and pins their saved runs.

TAKEN_BACK = "It was withdrawn before it began."
UNREAD = "Its numbers could not be read."

log = logging.getLogger("duet.store")


class TryEnds:
    """The waiting and running tries of all classes.

    Args:
        hold: is called with the names of the saved runs that must not be deleted, newest first.
    """

    def __init__(self, rooms: Rooms, runs: LiveRuns, hold: Callable[[list[str]], None]) -> None:
        self._rooms = rooms
        self._runs = runs
        self._hold = hold
        self._active: dict[str, list[tuple[Room, Try]]] = {}
        self._ending: list[tuple[str, str]] = []
        """Runs whose end is not stored yet, each with its class."""
        self._held: dict[str, str] = {}
        """Run id -> class that made the run, oldest run first. The saved files of these runs must
        not be deleted."""
        self._tasks = Tasks()
        runs.changed.register(self._changed)
        runs.ended.register(self._ended)

    async def load(self) -> None:
        """Load the tries when the server starts. Without a database, there are no tries."""
        try:
            # with several servers, other servers may be executing tries
            if not self._rooms.store.server:
                await self._rooms.store.ask(try_queries.end_unfinished)
            await self.look_at_held()
        except DuetError as error:
            log.warning("the tries of classes cannot be read: %s", error)

    async def look_at_held(self) -> None:
        """Read which saved runs must not be deleted, including runs of other servers.

        Raises:
            InfraError: the database does not answer.
        """
        ending = dict(self._ending)
        held = dict(await self._rooms.store.ask(try_queries.held_runs))
        held |= ending | dict(self._ending)
        for run_id, active in self._active.items():
            held[run_id] = active[0][0].facts.class_id
        self._held = held
        self._show_held()

    async def close(self) -> None:
        """Stop following unfinished tries."""
        await self._tasks.end()

    def expect(self, room: Room, one: Try) -> None:
        """Follow a requested run. Its class stays in memory until the run is over."""
        room.busy += 1
        self._active.setdefault(one.facts.run_id, []).append((room, one))
        self._held[one.facts.run_id] = room.facts.class_id
        self._show_held()
        self._changed()

    def closed(self, room: Room) -> None:
        """Withdraw the waiting runs of a class that has ended, and release its saved runs."""
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
        """Update the tries after a change of the queue or of the current run."""
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


class Tries:
    """The tries of all classes."""

    def __init__(self, rooms: Rooms, live: LiveParts) -> None:
        self._rooms = rooms
        self._live = live
        self._work = BackgroundWork()
        self._ends = TryEnds(rooms, live.runs, live.hold)
        self.settings = TrySettings(rooms, live, self._work)
        rooms.ended.register(self._ends.closed)

    async def begin(self) -> None:
        """Load the tries when the server starts."""
        await self._ends.load()

    async def look_at_held(self) -> None:
        """Read which saved runs must not be deleted, if several servers share the database.

        Raises:
            InfraError: the database does not answer.
        """
        await self._ends.look_at_held()

    async def close(self) -> None:
        """Stop following unfinished tries."""
        await self._ends.close()
        await self._work.idle()

    async def attempt(self, seat: Seat, command: cm.TryRun) -> None:
        """Request a run for a member.

        Raises:
            DuetError: the member may not request the run, or this server cannot perform the run.
        """
        room, member = seat.room, seat.member
        if member is None:
            raise not_yours("members try runs")
        refuse(room, member, command)
        start = m.Start.model_validate(
            command.model_dump(exclude={"type", "step"}) | {"type": "start"}
        )
        request = self._live.read(start)
        facts = facts_of(request, command.step, room.trying.new_number(), member.ident)
        equal = room.trying.equal(facts.key)
        if equal is not None and equal.facts.state == "done":
            await self._join(room, equal, member)
            return
        run_id = self._live.runs.ask(seat.viewer, request, tries=True)
        # ask() joins the identical try's run while that run goes on. Another id means that the run
        # has just ended, so this is a new try.
        if equal is not None and run_id == equal.facts.run_id:
            equal.askers[member.ident] = seat.viewer.visitor.ident
            await self._join(room, equal, member)
            return
        one = Try(facts, request.folder, {member.ident: seat.viewer.visitor.ident})
        one.stands(run_id=run_id)
        await self._add(room, one)

    async def take_back(self, seat: Seat, command: cm.TakeBackTry) -> None:
        """Withdraw a member's waiting try.

        Raises:
            InputError: the try belongs to other members, or its run has begun.
        """
        room, member = seat.room, seat.member
        one = room.trying.tries.get(command.number)
        if member is None or one is None or member.ident not in one.facts.makers:
            raise not_yours("members who requested a run may withdraw that run")
        if one.facts.state != "waiting":
            raise refusal(CLOSED, "that run has already begun.", "Wait for the run's end.")
        await self._leave(room, one, member.ident)

    async def forget(self, room: Room, member: Member) -> None:
        """Delete the tries that only this member made, before the member is forgotten."""
        for one in room.trying.of(member.ident):
            await self._leave(room, one, member.ident)

    async def _add(self, room: Room, one: Try) -> None:
        class_id, number = room.facts.class_id, one.facts.number
        room.trying.tries[number] = one  # reserve the number while the database stores the try
        self._ends.expect(room, one)  # the run may end before the try is stored
        try:
            await room.ask(self._rooms.store, lambda c: try_queries.put_try(c, class_id, one.facts))
        except Exception:
            room.trying.tries.pop(number, None)
            for asker in one.askers.values():
                self._live.runs.take_back(asker, one.facts.run_id)
            raise

    async def _join(self, room: Room, one: Try, member: Member) -> None:
        class_id, number = room.facts.class_id, one.facts.number
        if member.ident not in one.facts.makers:
            one.stands(makers=(*one.facts.makers, member.ident))
            await room.ask(
                self._rooms.store,
                lambda c: try_queries.add_maker(c, class_id, number, member.ident),
            )
        self._rooms.notices(room).tries.soon()

    async def _leave(self, room: Room, one: Try, member: str) -> None:
        class_id, number = room.facts.class_id, one.facts.number
        asker = one.askers.get(member)
        gone = room.trying.leave(one, member)
        if gone:
            await room.ask(
                self._rooms.store, lambda c: try_queries.drop_tries(c, class_id, [number])
            )
        else:
            await room.ask(
                self._rooms.store, lambda c: try_queries.drop_maker(c, class_id, number, member)
            )
        if asker is not None and one.facts.state == "waiting":
            self._live.runs.take_back(asker, one.facts.run_id)
        self._rooms.notices(room).tries.soon()


def refuse(room: Room, member: Member, command: cm.TryRun) -> None:
    """Refuse a try that is not allowed now.

    Raises:
        InputError: the step is not open for this try, or a limit is reached.
    """
    opened = room.trying.opened.get((command.lesson, command.step))
    if opened is None:
        raise refusal(
            CLOSED,
            "the instructor has not opened this step for trying.",
            "Go to a step that is open, or ask the instructor.",
        )
    if are_changed(command.arms) and not opened.patches:
        raise refusal(
            CLOSED,
            "in this step you may turn knobs, but not change a patch.",
            "Remove the changed kernel and try again.",
        )
    if room.trying.waiting(member.ident) >= budgets.CLASS_TRIES_WAITING:
        raise refusal(
            FULL,
            f"you already have {budgets.CLASS_TRIES_WAITING} waiting runs, which is the limit.",
            "Wait until a run begins, or withdraw a waiting run.",
        )
    if len(room.trying.tries) >= budgets.CLASS_TRIES:
        raise refusal(
            FULL,
            f"this class has tried {budgets.CLASS_TRIES} runs, which is the limit.",
            "Open a run that another member has tried.",
        )


async def carry_out_try(
    tries: Tries | None,
    seat: Seat,
    command: cm.TryRun | cm.TakeBackTry | cm.OpenStep | cm.ShowGallery,
) -> None:
    """Carry out a command about tries.

    Raises:
        DuetError: the command is refused.
    """
    if tries is None:
        raise InfraError(
            "no runs can be tried on this server.", remedy="Use a server that allows tries."
        )
    match command:
        case cm.TryRun():
            await tries.attempt(seat, command)
        case cm.TakeBackTry():
            await tries.take_back(seat, command)
        case _ if seat.member is not None:
            raise not_yours("the instructor may send this command")
        case cm.OpenStep():
            await tries.settings.open_step(seat, command)
        case cm.ShowGallery():
            await tries.settings.show_gallery(seat, command)
