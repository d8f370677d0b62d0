# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores of labs on their way to platforms. A score is stored first, and sent until it arrives.

Each is sent by itself, so one that a platform refuses holds up no other. Its form is the one that
Canvas and Moodle take: Canvas ignores the points of a score whose grading is not `FullyGraded`,
and Moodle refuses one without user, timestamp or progress.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from pylti1p3.grade import Grade
from sqlalchemy import Connection

from duet.base.errors import DuetError
from duet.classes import claims
from duet.classes.store import ClassStore
from duet.grades import LabScore
from duet.lti import scores as rows
from duet.lti.limits import RETRY_FIRST_S, RETRY_MOST_S, SEND_EVERY_S, SEND_TOGETHER
from duet.lti.platforms import Platforms
from duet.lti.services import NewerThere, NotTaken, Services

log = logging.getLogger("duet.lti")
SENDER = "lti scores"
"""What the server owns that sends, named like a class."""


def grade_of(due: rows.Due) -> Grade:
    """A score as the platform gets it."""
    whole = due.scored == due.tasks
    stamp = datetime.fromtimestamp(due.stamp_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return (
        Grade()
        .set_user_id(due.link.user_id)
        .set_score_given(round(due.given, 6))
        .set_score_maximum(due.most)
        .set_activity_progress("Completed" if whole else "InProgress")
        .set_grading_progress("FullyGraded")
        .set_timestamp(stamp.replace("+00:00", "Z"))
        .set_comment(f"{due.scored} of {due.tasks} tasks")
    )


def pause_s(tries: int) -> float:
    """How long to wait after so many tries that failed."""
    return float(min(RETRY_FIRST_S * 2 ** min(tries, 20), RETRY_MOST_S))


class Outbox:
    """Stores scores and sends them. Use as `async with outbox.running()`.

    Args:
        store: the database of classes; it is begun and closed by its owner.

    Attributes:
        loop: the one it runs on, for threads that have a score.
    """

    def __init__(self, store: ClassStore, platforms: Platforms, services: Services) -> None:
        self._store = store
        self._platforms = platforms
        self._services = services
        self._came = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None
        self._tasks: asyncio.TaskGroup | None = None

    async def put(self, score: LabScore) -> None:
        """Receive a score of a lab; returns when it is stored.

        Raises:
            InfraError: it is not stored.
        """
        if await self._store.ask(lambda c: rows.put_score(c, score)):
            self._came.set()

    def receive(self, score: LabScore) -> None:
        """The same for who cannot wait, on the loop; trouble goes into the log."""
        if self._tasks is None:
            log.error("a score of %s came while no outbox runs", score.lab)
        else:
            self._tasks.create_task(self._received(score), name="lti score")

    async def _received(self, score: LabScore) -> None:
        try:
            await self.put(score)
        except DuetError as error:
            log.error("a score of %s is not stored for its platform: %s", score.lab, error)

    def hurry(self) -> None:
        """Look at once whether something is due."""
        self._came.set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send in the background; what is not sent at the end is sent by the next server."""
        self.loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(self._run(), name="lti scores")
            self._tasks = tasks
            yield
            self._tasks = None  # what was received is stored before the group ends
            sending.cancel()

    async def _run(self) -> None:
        while True:
            self._came.clear()
            try:
                while await self.send_due():
                    pass
            except DuetError as error:
                log.warning("scores cannot be looked up: %s", error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SEND_EVERY_S):
                    await self._came.wait()

    async def send_due(self) -> int:
        """Send some of what is due; how many these were."""
        found = await self._store.ask(self._due)
        await asyncio.gather(*map(self._send, found))
        return len(found)

    def _due(self, connection: Connection) -> list[rows.Due]:
        """What this server sends now: of several, one sends, and another one after its death."""
        if self._store.server and claims.claim(connection, SENDER) is not None:
            return []
        return rows.due(connection, SEND_TOGETHER)

    async def _send(self, one: rows.Due) -> None:
        error = await asyncio.to_thread(self._trouble, one)
        trouble = "" if error is None else str(error) or type(error).__name__
        if error is None:
            await self._store.ask(lambda c: rows.settled(c, one))
        elif one.old or isinstance(error, NotTaken):
            until = "the student opens the activity again or reaches another score"
            log.error("a score of %s is not sent until %s: %s", one.link.lab, until, trouble)
            await self._store.ask(lambda c: rows.settled(c, one, trouble))
        else:
            next_s = time.time() + pause_s(one.tries)
            await self._store.ask(lambda c: rows.postpone(c, one, next_s, trouble))
            if one.tries == 0:
                log.warning("a score of %s is tried again: %s", one.link.lab, trouble)

    def _trouble(self, one: rows.Due) -> Exception | None:
        """Why a score was not sent; None: it was, or the platform has a newer one."""
        platform = self._platforms.by_ident(one.link.platform)
        if platform is None:
            return LookupError("its platform is not registered any more.")
        try:
            self._services.send(platform, one.link.lineitem, grade_of(one))
        except NewerThere:
            log.info("%s has a newer score of %s", platform.name, one.link.lab)
        except Exception as error:  # a thread must not take the other scores with it
            return error
        return None
