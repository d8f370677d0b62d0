# SPDX-License-Identifier: GPL-2.0-or-later
"""The labs service of a server. Each answer is stored before it is confirmed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from fastapi import FastAPI
from sqlalchemy import Connection

from duet import messages as m
from duet.base.access import Action, Visitor
from duet.base.errors import DuetError, InfraError, InputError
from duet.base.settings import whole_number
from duet.lessons import load as lesson_cache
from duet.plugins.labs import files, queries, routes
from duet.plugins.labs.evidence import Evidence, Runs
from duet.plugins.labs.files import LabFile
from duet.plugins.labs.grades import LabScore
from duet.plugins.labs.records import Answer, Attempt, Grade, Participant, read_answer
from duet.plugins.labs.schema import NAME_CHARS, ChallengeTask
from duet.plugins.labs.scoring import choices_of
from duet.plugins.labs.showing import closed
from duet.plugins.labs.work import Work, graded, keys_of, work_of
from duet.server.services import Core, Service
from duet.store.limits import DAY_S
from duet.store.store import Store

NAMELESS: Final = "name"
"""Code of the error for a visitor who has no name yet."""


def asks_for(lesson: str, challenge: str) -> bool:
    """Does any usable lab contain a task with this challenge?"""
    return any(
        isinstance(task, ChallengeTask)
        and (file.lesson_of(task), task.challenge) == (lesson, challenge)
        for file in files.usable()
        for task in file.lab.tasks.values()
    )


def called_as(visitor: Visitor, name: str, known: str | None) -> str:
    """Return the visitor's name that the learning platform sent, or else the given name, or else
    the stored name.

    Raises:
        InputError: there is no name. The error's code is NAMELESS.
    """
    if visitor.person is not None and visitor.person.name:
        return visitor.person.name[:NAME_CHARS]
    called = " ".join(name.split())[:NAME_CHARS] or known or ""
    if not called:
        error = InputError("your answer needs a name.", remedy="Enter the name you want to use.")
        error.code = NAMELESS
        raise error
    return called


def refuse_late(work: Work, task: str, now_s: float) -> None:
    """Refuse an answer if right answers are already shown.

    Raises:
        InputError: the lab is over, or the right answer is shown.
    """
    lab = work.file.lab
    if closed(lab, now_s):
        raise InputError(
            f"the lab {work.file.slug} closed at {lab.deadline:%Y-%m-%d %H:%M %Z}.",
            remedy="Ask your instructor for a later deadline, which would open the lab again.",
        )
    if work.shown(task, now_s).answer:
        raise InputError(
            "no attempt is left: the right answer of this task is shown.",
            remedy="Continue with another task.",
        )


# Deletes a person's answers after the person has been inactive for $DUET_LABS_DAYS days.

log = logging.getLogger("duet.plugins.labs")


async def keep_deleting(store: Store, days: int, now: Callable[[], float]) -> None:
    """Delete old answers now, and then once a day, forever.

    Args:
        days: people who were inactive for this many days are deleted with their answers.
        now: returns Unix time in seconds.
    """
    while True:
        before_s = now() - days * DAY_S

        def delete(connection: Connection, before_s: float = before_s) -> int:
            return queries.delete_old(connection, before_s)

        try:
            if deleted := await store.ask(delete):
                log.info("deleted the labs of %d people: over %d days old", deleted, days)
        except DuetError as error:
            log.warning("old labs cannot be deleted: %s", error.sentence)
        await asyncio.sleep(DAY_S)


# Listeners for changed scores, such as the outbox for a learning platform.

Listener = Callable[[LabScore], None]


class Listeners(list[Listener]):
    """Callbacks that receive scores. They run on the event loop after the commit. Errors are
    logged."""

    def call(self, score: LabScore) -> None:
        """Call all listeners with a score that has changed, or that is to be sent again."""
        for listener in self:
            try:
                listener(score)
            except Exception:
                log.exception("a listener of scores failed")


Result = TypeVar("Result")


class Labs(Service):
    """The labs service of a server.

    Args:
        store: the database. If it is None, nothing is stored here, and no answer is accepted.
        days: people who were inactive for this many days are deleted with their answers.

    Attributes:
        listeners: callbacks that receive each score that changes.
        forgetting: callbacks that receive the key of each person who is deleted.
    """

    actions = routes.ACTIONS

    def __init__(self, store: Store | None, runs: Runs, days: int) -> None:
        self._store = store
        self._days = days
        self._evidence = Evidence(runs)
        self._sweeping: asyncio.Task[None] | None = None
        self.listeners = Listeners()
        self.forgetting: list[Callable[[str], Awaitable[None]]] = []

    async def __aenter__(self) -> Labs:
        if self._store is not None:
            self._sweeping = asyncio.create_task(
                keep_deleting(self._store, self._days, time.time), name="old labs"
            )
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)

    def needs(self, command: m.Command) -> Action | None:
        """Return the permission for `judge` if a lab's task needs that command, otherwise None."""
        in_lab = isinstance(command, m.Judge) and asks_for(command.lesson, command.challenge)
        return Action.ANSWER if in_lab else None

    def judged(self, visitor: str, verdict: m.Judged) -> None:
        """Store a verdict in memory, so that the visitor can submit it."""
        self._evidence.judged(visitor, verdict)

    def add_routes(self, app: FastAPI) -> None:
        routes.add_lab_routes(app, self)

    # People

    async def name_of(self, visitor: Visitor) -> str | None:
        """Return a visitor's name on this server, or None if it is unknown."""
        if visitor.person is not None and visitor.person.name:
            return visitor.person.name
        known = await self._ask(lambda c: queries.person(c, visitor.key))
        return None if known is None else known.name

    async def answer(
        self, visitor: Visitor, slug: str, task_name: str, given: dict[str, Any], name: str = ""
    ) -> Attempt:
        """Check and store an answer.

        Args:
            name: the visitor's new name. Empty if it is unchanged.

        Raises:
            InputError: there is no such task, the answer does not fit, or no attempt is left.
            InfraError: the answer cannot be stored.
        """
        file = await asyncio.to_thread(files.find, slug)
        task = file.task(task_name)
        folder = await asyncio.to_thread(lesson_cache.find, file.lesson_of(task))
        called = called_as(visitor, name, await self.name_of(visitor))
        before = await self.work(visitor.key, file)
        refuse_late(before, task_name, time.time())
        answer: Answer = read_answer(task, len(choices_of(task, folder.lesson)), given)
        found = await self._evidence.of(visitor.ident, folder, task, answer)
        at_s = time.time()

        def store(connection: Connection) -> Attempt:
            queries.put_person(connection, Participant(visitor.key, called, at_s))
            return queries.add_attempt(
                *(connection, slug, visitor.key, task_name, file.lab.attempts_of(task)),
                *(answer.model_dump(mode="json"), found, at_s),
            )

        attempt = await self._ask(store)
        await self._report(before.score, await self.work(visitor.key, file))
        return attempt

    # Scores

    async def work(self, person: str, file: LabFile) -> Work:
        """Return a person's work in a lab."""
        keys = await asyncio.to_thread(keys_of, file)
        attempts, grades = await self._ask(
            lambda c: (queries.attempts(c, file.slug, person), queries.grades(c, file.slug, person))
        )
        return work_of(file, keys, person, attempts, grades)

    async def all_work(self, file: LabFile) -> list[tuple[Participant, Work]]:
        """Return each person's work in a lab, sorted by name."""
        keys = await asyncio.to_thread(keys_of, file)
        people, attempts, grades = await self._ask(
            lambda c: (
                queries.people(c),
                queries.by_person(queries.attempts(c, file.slug)),
                queries.grades(c, file.slug),
            )
        )
        return [
            (one, work_of(file, keys, key, attempts[key], [g for g in grades if g.person == key]))
            for key, one in people.items()
            if key in attempts
        ]

    async def grade(
        self, by: str, slug: str, person: str, number: int, points: float, comment: str
    ) -> LabScore:
        """Grade an attempt. The new grade replaces an earlier one.

        Raises:
            InputError: there is no such attempt, or it cannot get that many points.
        """
        file = await asyncio.to_thread(files.find, slug)
        before = await self.work(person, file)
        grade = graded(before, person, number, points, comment, by, time.time())
        await self._ask(lambda c: queries.put_grade(c, grade))
        return await self._report(before.score, await self.work(person, file))

    async def regrade(self, slug: str, person: str | None = None) -> list[LabScore]:
        """Compute scores again after lab.yaml or the lesson has changed, and call all listeners.

        Args:
            person: key of the person whose scores are computed. None means everybody.
        """
        file = await asyncio.to_thread(files.find, slug)
        scores = [w.score for one, w in await self.all_work(file) if person in (None, one.person)]
        for score in scores:
            self.listeners.call(score)
        return scores

    async def of_person(self, person: str) -> tuple[list[Attempt], list[Grade]]:
        """Return a person's stored attempts and grades in all labs."""
        return await self._ask(lambda c: queries.of_person(c, person))

    async def forget(self, person: str) -> int:
        """Delete all stored data of a person. Return the number of deleted attempts."""
        deleted = await self._ask(lambda c: queries.forget(c, person))
        for forget in self.forgetting:
            await forget(person)
        return deleted

    async def _report(self, before: LabScore, after: Work) -> LabScore:
        if before.tasks != after.score.tasks:
            self.listeners.call(after.score)
        return after.score

    async def _ask(self, work: Callable[[Connection], Result]) -> Result:
        if self._store is None:
            raise InfraError(
                "this server stores no answers.", remedy="Use a server that has classes."
            )
        return await self._store.ask(work)


LABS_DAYS = 400
"""Default for labs_days(). It covers a course of one year, and appeals against its grades."""


def labs_days() -> int:
    """Return how many days inactive people's answers are stored ($DUET_LABS_DAYS).

    Raises:
        InputError: the value is not a whole number from 0 to a million.
    """
    return whole_number("DUET_LABS_DAYS", LABS_DAYS, "delete answers of labs so much later")


def service(core: Core) -> Labs:
    return Labs(core.store, core.finder, labs_days())
