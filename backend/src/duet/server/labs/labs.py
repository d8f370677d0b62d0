# SPDX-License-Identifier: GPL-2.0-or-later
"""All labs of a server: an answer is stored before it is confirmed, and points follow from it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection

from duet.base.access import Visitor
from duet.base.errors import InfraError
from duet.classes.store import ClassStore
from duet.grades import LabScore
from duet.labs import files, queries
from duet.labs.answers import Answer, read_answer
from duet.labs.files import LabFile
from duet.labs.keys import choices_of
from duet.labs.records import Attempt, Grade, Participant
from duet.lessons import load as lesson_cache
from duet.server.labs.evidence import Evidence, Runs
from duet.server.labs.listeners import Listeners
from duet.server.labs.retention import keep_deleting
from duet.server.labs.work import Work, asks_for, called_as, graded, keys_of, refuse_late, work_of

Result = TypeVar("Result")


class Labs:
    """See the module.

    Args:
        store: None: nothing is stored here, and no answer is taken.
        days: people who did nothing for so long are deleted with their answers.
    """

    def __init__(self, store: ClassStore | None, runs: Runs, days: int) -> None:
        self._store = store
        self._days = days
        self._evidence = Evidence(runs)
        self._sweeping: asyncio.Task[None] | None = None
        self.judged = self._evidence.judged
        self.asks_for = asks_for
        self.listeners = Listeners()

    def begin(self) -> None:
        """Delete what is older than it may be, now and each day."""
        if self._store is not None:
            self._sweeping = asyncio.create_task(
                keep_deleting(self._store, self._days, time.time), name="old labs"
            )

    async def close(self) -> None:
        """End what goes on by itself."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)

    # People

    async def name_of(self, visitor: Visitor) -> str | None:
        """What a visitor is called here; None: nobody has said it yet."""
        if visitor.person is not None and visitor.person.name:
            return visitor.person.name
        known = await self._ask(lambda c: queries.person(c, visitor.key))
        return None if known is None else known.name

    async def answer(
        self, visitor: Visitor, slug: str, task_name: str, given: dict[str, Any], name: str = ""
    ) -> Attempt:
        """Store an answer.

        Args:
            name: what the visitor wants to be called; empty: as before.

        Raises:
            InputError: there is no such task, it takes no such answer, or no attempt is left.
            InfraError: it is not stored.
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

    # What it comes to

    async def work(self, person: str, file: LabFile) -> Work:
        """What a person did in a lab."""
        keys = await asyncio.to_thread(keys_of, file)
        attempts, grades = await self._ask(
            lambda c: (queries.attempts(c, file.slug, person), queries.grades(c, file.slug, person))
        )
        return work_of(file, keys, person, attempts, grades)

    async def all_work(self, file: LabFile) -> list[tuple[Participant, Work]]:
        """What each person did in a lab, by name."""
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
        """Give an attempt points; a former grade of it is replaced.

        Raises:
            InputError: there is no such attempt, or it cannot have so many points.
        """
        file = await asyncio.to_thread(files.find, slug)
        before = await self.work(person, file)
        grade = graded(before, person, number, points, comment, by, time.time())
        await self._ask(lambda c: queries.put_grade(c, grade))
        return await self._report(before.score, await self.work(person, file))

    async def regrade(self, slug: str, person: str | None = None) -> list[LabScore]:
        """Count anew, after a change of lab.yaml or of the lesson, and call all listeners.

        Args:
            person: whose; None: everybody's.
        """
        file = await asyncio.to_thread(files.find, slug)
        scores = [w.score for one, w in await self.all_work(file) if person in (None, one.person)]
        for score in scores:
            self.listeners.call(score)
        return scores

    async def of_person(self, person: str) -> tuple[list[Attempt], list[Grade]]:
        """All that is stored of a person's labs."""
        return await self._ask(lambda c: queries.of_person(c, person))

    async def forget(self, person: str) -> int:
        """Delete all that is stored of a person's labs; how many attempts these were."""
        return await self._ask(lambda c: queries.forget(c, person))

    async def _report(self, before: LabScore, after: Work) -> LabScore:
        if before.tasks != after.score.tasks:
            self.listeners.call(after.score)
        return after.score

    async def _ask(self, work: Callable[[Connection], Result]) -> Result:
        if self._store is None:
            raise InfraError("this server stores no answers.", remedy="Use one that does.")
        return await self._store.ask(work)
