# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the changes that visitors make to arms, queues them, and builds them one after another."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import get_args

from duet import messages as m
from duet.base import settings
from duet.base.access import Action, Visitor
from duet.base.budgets import CHANGES_WAITING, OWN_ARMS, OWN_VISITORS
from duet.base.errors import DuetError, InfraError
from duet.confine import missing_box
from duet.kernels import (
    BuildProgress,
    Change,
    Changes,
    KernelSettings,
    Phase,
    Source,
    arm_source,
    brought,
    build,
    lookup,
    make_ready,
    plan,
    read_change,
)
from duet.kernels.arms import arm_spec
from duet.lessons import load as lesson_cache
from duet.lessons.load import LessonFolder
from duet.lessons.own import with_recorded
from duet.messages.codec import failure, pack
from duet.rpc.peer import Tasks
from duet.server.builds import TELL_EVERY_S, Tell, build_beside
from duet.stream.hub import Hub, Viewer

# Lessons with changed arms. Knows which changes are stored, which are built, and who made them.

NONE_HERE = "This server compiles no kernels."
NO_SANDBOX = (
    "This server compiles no changed patches, because it cannot create the sandbox in which they "
    "are compiled. The operator sees the reason with ./duet doctor."
)


@dataclass(frozen=True, slots=True)
class ChangedKernels:
    """Where visitors' changed patches are compiled and stored.

    Args:
        kernels: where kernels are compiled and stored.
        store: where the changes are stored.
    """

    kernels: KernelSettings
    store: Changes


class OwnLessons:
    """Provides lessons with the arms that visitors have changed.

    Args:
        changing: None if this server has no kernels.
        off: a sentence that says why this server compiles no kernels; "" if it compiles kernels.
    """

    def __init__(self, changing: ChangedKernels | None, off: str = "") -> None:
        self.changing = changing
        self._off = off
        self._own: OrderedDict[tuple[str, str], list[str]] = OrderedDict()

    def off(self) -> str:
        """Return a sentence that says why this server builds no changes, or "" if it builds them.
        The first call blocks."""
        if self.changing is None or self._off:
            return self._off or NONE_HERE
        if not settings.changes_allowed():
            return "This server's operator has switched changes off (DUET_CHANGES)."
        why = missing_box()
        if not why:
            return ""
        # Only the operator sees the cause, because a visitor can do nothing about a failed system
        # call.
        log.info("no change is compiled: %s", why)
        return NO_SANDBOX

    def source(self, slug: str, arm: str) -> tuple[Source, ...]:
        """Return the part of an arm's source that can be changed. Blocking.

        Raises:
            DuetError: there is no such arm, or its source is missing.
        """
        if self.changing is None:
            return ()
        return arm_source(lesson_cache.find(slug), arm, self.changing.kernels)

    def lesson(self, slug: str, arms: Iterable[str]) -> LessonFolder:
        """Return a lesson with the visitors' changes that are among `arms`.

        Raises:
            InputError: there is no such lesson, or a change is not stored here.
        """
        folder = lesson_cache.find(slug)
        return folder if self.changing is None else self.changing.store.lesson(folder, arms)

    def shown(self, slug: str, arms: Iterable[str]) -> LessonFolder:
        """Return a lesson with changed arms, to show a run of them. An unusable change raises no
        error.

        If a change was deleted or comes from another server, the lesson has the change's text from
        the recording, or no text if the recording has none.
        """
        folder = lesson_cache.find(slug)
        for arm in arms:
            try:
                if self.changing is not None:
                    folder = self.changing.store.lesson(folder, [arm])
            except DuetError:
                pass
            folder = with_recorded(brought.shown(folder, arm), [arm])
        return folder

    def ready(self, folder: LessonFolder) -> dict[str, bool]:
        """Return for each changed arm of a lesson whether its kernel is built."""
        return {arm: self.is_built(folder, arm) for arm in folder.changes}

    def is_built(self, folder: LessonFolder, arm: str) -> bool:
        """Return whether the kernel of an arm is stored."""
        if self.changing is None:
            return False
        try:
            key = plan(arm_spec(folder, arm), self.changing.kernels)
        except DuetError:
            return False
        return lookup(key, self.changing.kernels) is not None

    def arms_of(self, visitor: str, slug: str) -> list[str]:
        """Return a visitor's changed arms, the oldest first."""
        return list(self._own.get((visitor, slug), []))

    def remember(self, visitor: str, change: Change) -> None:
        """Add a change to a visitor's changes. If there are too many, forget the oldest."""
        names = self._own.setdefault((visitor, change.lesson), [])
        if change.name in names:
            names.remove(change.name)
        names.append(change.name)
        del names[:-OWN_ARMS]
        self._own.move_to_end((visitor, change.lesson))
        while len(self._own) > OWN_VISITORS:
            self._own.popitem(last=False)


# The queued changes, and the change that is being built. Pure. Used on one event loop only.


@dataclass(eq=False, slots=True)
class OwnBuild:
    """A change that is queued or being built.

    Args:
        folder: the lesson with the changed arm.
        owners: visitors who wait for the build; the build is cancelled when no owner is left.
        asked_s: monotonic time of the first request for the build.
    """

    change: Change
    folder: LessonFolder
    owners: set[str] = field(default_factory=set)
    asked_s: float = field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the build was first requested."""
        return round(time.monotonic() - self.asked_s, 1)


class OwnQueue:
    """Queue of builds, first come, first served. Each visitor can have at most one build in the
    queue."""

    def __init__(self) -> None:
        self.waiting: list[OwnBuild] = []
        self.current: OwnBuild | None = None

    def ask(self, owner: str, change: Change, folder: LessonFolder) -> tuple[OwnBuild, bool]:
        """Queue the build of a change, or join an identical build. Withdraw the visitor from any
        other build.

        Returns:
            The build, and whether the current build has lost its last owner.

        Raises:
            InfraError: the queue is full.
        """
        ended = self.drop(owner, but=change.name)
        for known in self._all():
            if known.change.name == change.name:
                known.owners.add(owner)
                return known, ended
        if len(self.waiting) >= CHANGES_WAITING:
            error = InfraError(
                f"{len(self.waiting)} changes are already waiting to be compiled.",
                remedy="Try again in a minute.",
            )
            error.code = "busy"
            raise error
        made = OwnBuild(change, folder, {owner})
        self.waiting.append(made)
        return made, ended

    def drop(self, owner: str, name: str | None = None, but: str | None = None) -> bool:
        """Withdraw a visitor from builds. Return whether the current build has lost its last owner.

        Args:
            name: the change to withdraw; None withdraws all changes.
            but: a change to keep.
        """
        for one in self._all():
            if one.change.name != but and name in (None, one.change.name):
                one.owners.discard(owner)
        self.waiting = [one for one in self.waiting if one.owners]
        return self.current is not None and not self.current.owners

    def next(self) -> OwnBuild | None:
        """Make the oldest queued build the current build, until `over` is called."""
        self.current = self.waiting.pop(0) if self.waiting else None
        return self.current

    def over(self) -> None:
        """End the current build."""
        self.current = None

    def ahead(self, one: OwnBuild) -> int:
        """Return the number of builds before this one."""
        if one not in self.waiting:
            return 0
        return self.waiting.index(one) + (self.current is not None)

    def _all(self) -> list[OwnBuild]:
        return [*([self.current] if self.current is not None else []), *self.waiting]


# Prepares the source tree when a visitor opens an arm's editor, so that the first change to the arm
# builds fast.
#
# One arm at a time is prepared, in the background, at the lowest priority. Every measurement and
# every build, even by another process, preempts the preparation.


LOOK_S = 1.0
"""Interval at which the task checks whether a measurement has begun."""
COMPILE_AHEAD_NICE = 19
"""Nice value for compiling ahead."""

log = logging.getLogger("duet.api")


class CompileAhead:
    """Owns the task that compiles ahead.

    Args:
        busy: returns a description of the work that must not be disturbed now, or None.
    """

    def __init__(self, lessons: OwnLessons, busy: Callable[[], str | None]) -> None:
        self._lessons = lessons
        self._busy = busy
        self._next: tuple[str, str] | None = None
        self._task: asyncio.Task[None] | None = None

    def ask(self, slug: str, arm: str) -> None:
        """Compile an arm ahead of time, because a visitor has opened its patch in the editor.

        While one arm is being compiled, only the latest request is kept.
        """
        self._next = (slug, arm)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work(), name="compile ahead")

    async def give_way(self) -> None:
        """Cancel the task and forget the next arm, because a build was requested."""
        self._next = None
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self) -> None:
        if await asyncio.to_thread(self._lessons.off):
            self._next = None
        while self._next is not None:
            (slug, arm), self._next = self._next, None
            if self._busy() is None:
                await self._one(slug, arm)

    async def _one(self, slug: str, arm: str) -> None:
        building = asyncio.create_task(self._build(slug, arm))
        try:
            while not building.done() and self._busy() is None:
                await asyncio.wait({building}, timeout=LOOK_S)
        finally:
            building.cancel()
            (ended,) = await asyncio.gather(building, return_exceptions=True)
        if isinstance(ended, Exception) and not isinstance(ended, DuetError):
            log.error("compiling ahead failed", exc_info=ended)

    async def _build(self, slug: str, arm: str) -> None:
        changing = self._lessons.changing
        if changing is None:
            return
        spec = arm_spec(lesson_cache.find(slug), arm)

        def work(tell: Tell, stop: threading.Event) -> None:
            os.nice(COMPILE_AHEAD_NICE)  # on Linux, affects only this thread and its children
            make_ready(spec, changing.kernels, stop)

        await build_beside(work)


# Finds compiler messages in the last lines of a build log.

MOST_MESSAGES = 50
"""Maximum number of problems to send. The first problems matter most."""
_LINE = re.compile(
    r"^(?P<file>[\w./+-]+):(?P<line>\d{1,7}):(?:(?P<column>\d{1,5}):)? "
    r"(?:fatal )?(?P<severity>error|warning): (?P<text>.*)$",
    re.MULTILINE,
)


def compiler_messages(text: str) -> list[m.Problem]:
    """Parse gcc's errors and warnings in order. Repeated messages about one source line are
    returned once.

    Args:
        text: output of make; file names are relative to the kernel's source.
    """
    found: dict[tuple[str, ...], m.Problem] = {}
    for match in _LINE.finditer(text):
        line = int(match["line"])
        if line == 0:
            continue
        problem = m.Problem(
            file=match["file"].removeprefix("./"),
            line=line,
            column=int(match["column"] or 0),
            severity="error" if match["severity"] == "error" else "warning",
            text=match["text"][:500],
        )
        found.setdefault((problem.file, str(line), problem.text), problem)
    return list(found.values())[:MOST_MESSAGES]


# Sends the progress of a change's build, as `changed` messages, to the pages of the visitors who
# wait for the build.

PHASES: dict[Phase, m.ChangePhase] = {
    phase: name for phase in Phase for name in get_args(m.ChangePhase) if name == phase
}


class ChangeReports:
    """Sends the progress of a change's build to its visitors' pages that show the lesson."""

    def __init__(self, hub: Hub, queue: OwnQueue) -> None:
        self._hub = hub
        self._queue = queue
        self._phase = ""
        self._sent_at = 0.0

    def refused(self, viewer: Viewer, command: m.Change, error: m.ErrorMessage) -> None:
        """Tell the page that sent a change why it will not be built."""
        viewer.put(
            pack(
                m.Changed(
                    lesson=command.lesson, base=command.arm, arm="", phase="refused", error=error
                )
            )
        )

    def waiting(self) -> None:
        """Send all waiting visitors their place in the queue."""
        for job in self._queue.waiting:
            self._send(job, _state(job, "wait", ahead=self._queue.ahead(job)))

    def held(self, job: OwnBuild, why: str) -> None:
        self._send(job, _state(job, "wait", message=why))

    def progress(self, job: OwnBuild, progress: BuildProgress) -> None:
        """Send a build's progress: for each new phase, and otherwise at most once per
        TELL_EVERY_S."""
        phase = PHASES.get(progress.phase)
        now = time.monotonic()
        if phase is None or (phase == self._phase and now - self._sent_at < TELL_EVERY_S):
            return
        self._phase, self._sent_at = phase, now
        done, total = progress.objects_done, progress.objects_expected
        self._send(job, _state(job, phase, done=done, total=total, message=progress.note))

    def finished(self, job: OwnBuild) -> None:
        """Tell all owners that the kernel is built."""
        self._send(job, _state(job, "built"))

    def failed(self, job: OwnBuild, error: m.ErrorMessage) -> None:
        found = compiler_messages(error.detail)
        state = _state(job, "failed")
        self._send(job, state.model_copy(update={"error": error, "problems": found}))

    def _send(self, job: OwnBuild, message: m.Changed) -> None:
        packet = pack(message)
        for owner in job.owners:
            for page in self._hub.pages_of(owner):
                if page.lesson == job.change.lesson:
                    page.put(packet)


def _state(
    job: OwnBuild,
    phase: m.ChangePhase,
    *,
    ahead: int = 0,
    done: int = 0,
    total: int = 0,
    message: str = "",
) -> m.Changed:
    return m.Changed(
        lesson=job.change.lesson,
        base=job.change.arm,
        arm=job.change.name,
        phase=phase,
        ahead=ahead,
        done=done,
        total=total,
        elapsed_s=job.elapsed_s,
        message=message,
    )


BUSY_POLL_S = 1.0
"""Interval at which the queue checks whether a measurement, which needs an idle machine, is over.
"""


class OwnArms:
    """Owns the queue of changes and builds them. Use with `async with`.

    Args:
        introduce: sends a page its lesson again, with its visitor's changed arms.
        busy: returns a description of the work that must not be disturbed now, or None.
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
        self._ready = CompileAhead(lessons, busy)
        self._reports = ChangeReports(hub, self._queue)
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
        """Build a change, or report that it is refused. Never raises."""
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
        """Compile ahead for an arm whose editor opens, unless a build is running or queued."""
        idle = self._queue.current is None and not self._queue.waiting
        if idle and visitor.may(Action.CHANGE):
            self._ready.ask(slug, arm)

    def drop(self, viewer: Viewer, command: m.DropChange) -> None:
        """Withdraw a change that is queued or being built."""
        if self._queue.drop(viewer.visitor.ident, command.arm):
            self._stop()
        self._reports.waiting()

    async def _asked(self, visitor: str, command: m.Change) -> tuple[OwnBuild, bool]:
        """Read, store and queue a change. Return its build, and whether the kernel is already
        built."""
        changing = self._lessons.changing
        why = await asyncio.to_thread(self._lessons.off)
        if why or changing is None:
            error = InfraError(
                why or NONE_HERE, remedy="Download the patch and try it with ./duet try."
            )
            error.code = "changes-off"
            raise error
        folder = lesson_cache.find(command.lesson)
        change = read_change(folder, command.arm, command.diff, settings.patch_files())
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
