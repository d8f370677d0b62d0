# SPDX-License-Identifier: GPL-2.0-or-later
"""Let them try: steps that the instructor opens, and the runs that members ask for in them."""

from __future__ import annotations

from duet import messages as m
from duet.base import budgets
from duet.base.errors import InfraError
from duet.classes import try_queries
from duet.lessons.own import are_changed
from duet.server.classroom.refusals import CLOSED, FULL, not_yours, refusal
from duet.server.classroom.room import Member, Room, Seat
from duet.server.classroom.rooms import Rooms
from duet.server.classroom.tried import Try
from duet.server.classroom.try_ends import TryEnds
from duet.server.classroom.try_parts import LiveParts, TrySettings
from duet.server.classroom.try_requests import facts_of
from duet.server.classroom.whole import Whole


class Tries:
    """Of all classes."""

    def __init__(self, rooms: Rooms, live: LiveParts) -> None:
        self._rooms = rooms
        self._live = live
        self._work = Whole()
        self._ends = TryEnds(rooms, live.runs, live.hold)
        self.settings = TrySettings(rooms, live, self._work)
        rooms.ended = self._ends.closed

    async def begin(self) -> None:
        """Of a server that begins."""
        await self._ends.load()

    async def look_at_held(self) -> None:
        """Of one of several servers: which saved runs stay.

        Raises:
            InfraError: the database does not say it.
        """
        await self._ends.look_at_held()

    async def close(self) -> None:
        """Give up what is not over."""
        await self._ends.close()
        await self._work.idle()

    async def attempt(self, seat: Seat, command: m.TryRun) -> None:
        """A member tries a run.

        Raises:
            DuetError: it may not, or it cannot run.
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
        run_id = self._live.runs.ask(seat.viewer, request)
        if equal is not None and run_id == equal.facts.run_id:  # else its own is over by now
            equal.askers[member.ident] = seat.viewer.visitor.ident
            await self._join(room, equal, member)
            return
        one = Try(facts, request.folder, {member.ident: seat.viewer.visitor.ident})
        one.stands(run_id=run_id)
        await self._add(room, one)

    async def take_back(self, seat: Seat, command: m.TakeBackTry) -> None:
        """A member does not want a try any more that waits.

        Raises:
            InputError: it is not his, or has begun.
        """
        room, member = seat.room, seat.member
        one = room.trying.tries.get(command.number)
        if member is None or one is None or member.ident not in one.facts.makers:
            raise not_yours("who tries a run may take it back")
        if one.facts.state != "waiting":
            raise refusal(CLOSED, "that run has begun already.", "Wait for its end.")
        await self._leave(room, one, member.ident)

    async def forget(self, room: Room, member: Member) -> None:
        """A member is about to be forgotten: what nobody else made goes with it."""
        for one in room.trying.of(member.ident):
            await self._leave(room, one, member.ident)

    async def _add(self, room: Room, one: Try) -> None:
        class_id, number = room.facts.class_id, one.facts.number
        room.trying.tries[number] = one  # the number is taken from now on
        self._ends.expect(room, one)  # its run may be over before it is stored
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


def refuse(room: Room, member: Member, command: m.TryRun) -> None:
    """Raises: InputError: this member may not try that here and now."""
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
            "the instructor lets you turn knobs in this step, and change no patch.",
            "Take the changed kernel out and try again.",
        )
    if room.trying.waiting(member.ident) >= budgets.CLASS_TRIES_WAITING:
        raise refusal(
            FULL,
            f"{budgets.CLASS_TRIES_WAITING} runs of yours wait already, which is the most.",
            "Wait until one of them begins, or take one back.",
        )
    if len(room.trying.tries) >= budgets.CLASS_TRIES:
        raise refusal(
            FULL,
            f"this class has tried {budgets.CLASS_TRIES} runs, which is the most.",
            "Look at those that others made.",
        )


async def tried(tries: Tries | None, seat: Seat, command: m.TryCommand) -> None:
    """Carry out a command of trying.

    Raises:
        DuetError: why not.
    """
    if tries is None:
        raise InfraError("nothing can be tried on this server.", remedy="Use one that can.")
    match command:
        case m.TryRun():
            await tries.attempt(seat, command)
        case m.TakeBackTry():
            await tries.take_back(seat, command)
        case _ if seat.member is not None:
            raise not_yours("the instructor may do that")
        case m.OpenStep():
            await tries.settings.open_step(seat, command)
        case m.ShowGallery():
            await tries.settings.show_gallery(seat, command)
