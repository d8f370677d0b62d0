# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes that visitors make to arms: read, queued, and built one after another."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from functools import partial

from duet import settings as house
from duet.access import Action, Visitor
from duet.changes import read_change
from duet.errors import DuetError, InfraError
from duet.hosts.tasks import Tasks
from duet.kernels import build
from duet.kernels.arms import arm_spec
from duet.lessons import cache as lesson_cache
from duet.serve.build_thread import Tell, build_beside
from duet.serve.own_lessons import NONE_HERE, OwnLessons
from duet.serve.own_queue import OwnBuild, OwnQueue
from duet.serve.own_ready import OwnReady
from duet.serve.own_reports import OwnReports
from duet.stream import messages as m
from duet.stream.codec import failure
from duet.stream.hub import Hub, Viewer

BUSY_POLL_S = 1.0
"""How often is looked whether a measurement, which wants the machine alone, is over."""

log = logging.getLogger("duet.api")


class OwnArms:
    """Owns the queue of changes and their builds. Use as `async with`.

    Args:
        introduce: sends a page its lesson anew, with its visitor's arms.
        busy: what must not be disturbed now, in words; None: nothing.
    """

    def __init__(
        self,
        hub: Hub,
        lessons: OwnLessons,
        introduce: Callable[[Viewer], None],
        busy: Callable[[], str | None],
    ) -> None:
        self._hub = hub
        self._lessons = lessons
        self._introduce = introduce
        self._busy = busy
        self._queue = OwnQueue()
        self._ready = OwnReady(lessons, busy)
        self._reports = OwnReports(hub, self._queue)
        self._moved = asyncio.Event()
        self._building: asyncio.Task[None] | None = None
        self._tasks = Tasks()

    async def __aenter__(self) -> OwnArms:
        self._tasks.spawn(self._work(), "changes")
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._ready.give_way()
        await self._tasks.end()

    async def ask(self, viewer: Viewer, command: m.Change) -> None:
        """Build a change, or report that it is refused; nothing is raised."""
        visitor = viewer.visitor.ident
        try:
            job, built = await self._asked(visitor, command)
        except DuetError as error:
            self._reports.refused(viewer, command, failure(error))
            return
        self._lessons.remember(visitor, job.change)
        self._show(visitor, command.lesson)
        if built:
            self._reports.finished(job)
            return
        self._reports.waiting()
        self._moved.set()

    def make_ready(self, visitor: Visitor, slug: str, arm: str) -> None:
        """An editor opens: compile what a change of this arm would wait for."""
        idle = self._queue.current is None and not self._queue.waiting
        if idle and visitor.may(Action.CHANGE):
            self._ready.ask(slug, arm)

    def drop(self, viewer: Viewer, command: m.DropChange) -> None:
        """Give up a change that waits or is built."""
        if self._queue.drop(viewer.visitor.ident, command.arm):
            self._stop()
        self._reports.waiting()

    async def _asked(self, visitor: str, command: m.Change) -> tuple[OwnBuild, bool]:
        """A change read, stored and queued; or its kernel is built already."""
        changing = self._lessons.changing
        why = await asyncio.to_thread(self._lessons.off)
        if why or changing is None:
            error = InfraError(
                why or NONE_HERE, remedy="Download the patch, and try it with ./duet try."
            )
            error.code = "changes-off"
            raise error
        folder = lesson_cache.find(command.lesson)
        change = read_change(folder, command.arm, command.diff, house.patch_files())
        own = await asyncio.to_thread(changing.store.put, folder, change)
        if await asyncio.to_thread(self._lessons.is_built, own, change.name):
            if self._queue.drop(visitor):
                self._stop()
            return OwnBuild(change, own, {visitor}), True
        job, ended = self._queue.ask(visitor, change, own)
        if ended:
            self._stop()
        return job, False

    def _stop(self) -> None:
        if self._building is not None:
            self._building.cancel()

    async def _work(self) -> None:
        while True:
            job = self._queue.next()
            if job is None:
                self._moved.clear()
                await self._moved.wait()
                continue
            try:
                await self._one(job)
            finally:
                self._queue.over()
            self._reports.waiting()

    async def _one(self, job: OwnBuild) -> None:
        while (why := self._busy()) is not None and job.owners:
            self._reports.held(job, f"It waits while {why}.")
            await asyncio.sleep(BUSY_POLL_S)
        if not job.owners:
            return
        await self._ready.give_way()
        self._building = asyncio.create_task(self._build(job), name=f"build {job.change.name}")
        try:
            await asyncio.wait({self._building})
        finally:
            self._building.cancel()
            await asyncio.gather(self._building, return_exceptions=True)
        if not self._building.cancelled():
            self._report(job, self._building.exception())

    def _report(self, job: OwnBuild, error: BaseException | None) -> None:
        if error is None:
            for owner in job.owners:
                self._show(owner, job.change.lesson)
            self._reports.finished(job)
        elif isinstance(error, Exception):
            if not isinstance(error, DuetError):
                log.error("building a change failed", exc_info=error)
            self._reports.failed(job, failure(error))

    async def _build(self, job: OwnBuild) -> None:
        changing = self._lessons.changing
        assert changing is not None
        spec = arm_spec(job.folder, job.change.name)
        report = partial(self._reports.progress, job)

        def work(tell: Tell, stop: threading.Event) -> None:
            images = build(
                [spec],
                changing.kernels,
                on_progress=lambda progress: tell(report, progress),
                stop=stop,
            )
            changing.store.built(job.change.name, images[0].key)

        await build_beside(work)

    def _show(self, visitor: str, slug: str) -> None:
        for page in self._hub.pages_of(visitor):
            if page.lesson == slug:
                self._introduce(page)
