# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of all lessons: which are there, and building the rest in the background."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable

from duet.errors import DuetError
from duet.kernels import ArmSpec, KernelSettings, build
from duet.kernels.arms import arm_specs
from duet.lessons import cache as lesson_cache
from duet.lessons.load import LessonFolder
from duet.serve.build_messages import BuildMessages
from duet.serve.build_thread import Tell, build_beside
from duet.serve.interfaces import BuildListener
from duet.serve.readiness import Readiness
from duet.stream import messages as m
from duet.stream.codec import failure

RETRY_S = 60.0
"""A failed build is tried again after this: space may have been freed, a package installed."""

log = logging.getLogger("duet.api")


class CheckoutKernels:
    """The kernels of this checkout (see serve.interfaces.Kernels).

    Args:
        listener: receives the progress of all builds, beside the browsers.
    """

    def __init__(self, settings: KernelSettings, listener: BuildListener | None = None) -> None:
        self.settings = settings
        self._listener = listener
        self._readiness = Readiness(settings)
        self._newest: dict[tuple[str, str], m.Build] = {}
        self._named: set[tuple[str, str]] = set()

    def ready(self, slug: str) -> dict[str, bool]:
        """arm -> its kernel is built."""
        return self._readiness.of(slug, arm_specs(lesson_cache.find(slug)))

    def latest(self) -> list[m.Message]:
        """The newest `build` message of each arm, for a viewer who joins."""
        return list(self._newest.values())

    def name(self, slug: str, arms: Iterable[str]) -> bool:
        """Build these arms, too, although they are optional; True: some of them are new."""
        optional = {arm.name for arm in lesson_cache.find(slug).lesson.arms if arm.optional}
        new = {(slug, arm) for arm in arms if arm in optional} - self._named
        self._named |= new
        return bool(new)

    async def work(self, tell: Callable[[m.Message], None]) -> None:
        """Build what is missing, lesson by lesson; a failure is reported and tried again later."""

        def publish(message: m.Build) -> None:
            self._newest[message.lesson, message.arm] = message
            tell(message)
            if self._listener is not None:
                self._listener.update(message)

        while True:
            if self._listener is not None:
                self._listener.started(self._missing())
            named = len(self._named)
            results = [await self._lesson(folder, publish) for folder in lesson_cache.usable()]
            if all(results) and named == len(self._named):
                if self._listener is not None:
                    self._listener.finished()
                return
            if not all(results):
                await asyncio.sleep(RETRY_S)

    def _absent(self, folder: LessonFolder) -> list[str]:
        """Arms of a lesson that are to be built: the usual ones, and those that were named."""
        usual, slug = folder.usual_arms, folder.slug
        ready = self.ready(slug)
        return [
            arm
            for arm, there in ready.items()
            if not there and (arm in usual or (slug, arm) in self._named)
        ]

    def _missing(self) -> int:
        """Kernels that are not built yet; arms with the same base and patches share one."""
        kernels: set[tuple[object, ...]] = set()
        for folder in lesson_cache.usable():
            specs = arm_specs(folder)
            absent = (specs[arm] for arm in self._absent(folder))
            kernels.update((spec.base, spec.config, spec.patches) for spec in absent)
        return len(kernels)

    async def _lesson(self, folder: LessonFolder, publish: Callable[[m.Build], None]) -> bool:
        """Build one lesson's missing kernels; False when that failed."""
        slug = folder.slug
        missing = self._absent(folder)
        if not missing:
            return True
        reports = BuildMessages(slug, missing, publish)
        specs = arm_specs(folder)
        try:
            await self._build([specs[name] for name in missing], reports)
        except (DuetError, OSError) as error:
            trouble = failure(error)
            log.error("kernels of %s: %s %s", slug, trouble.sentence, trouble.remedy)
            reports.failed(trouble)
            return False
        reports.finished()
        return True

    async def _build(self, wanted: list[ArmSpec], reports: BuildMessages) -> None:
        def work(tell: Tell, stop: threading.Event) -> None:
            build(
                wanted,
                self.settings,
                on_progress=lambda progress: tell(reports.progress, progress),
                stop=stop,
            )

        await build_beside(work)
