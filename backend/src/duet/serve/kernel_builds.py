# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of all lessons: which are there, and building the rest in the background."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from duet.errors import DuetError
from duet.kernels import (
    ArmSpec,
    BuildProgress,
    KernelSettings,
    Phase,
    build,
)
from duet.kernels.arms import arm_specs
from duet.lessons import cache as lesson_cache
from duet.lessons.load import LessonFolder
from duet.serve.interfaces import BuildListener
from duet.serve.readiness import Readiness
from duet.stream import messages as m
from duet.stream.codec import failure

TELL_EVERY_S = 0.25
"""Progress of one arm goes out at most this often; changes of phase always do."""
RETRY_S = 60.0
"""A failed build is tried again after this: space may have been freed, a package installed."""

STOP_S = 1.0
"""A build that is told to stop gets this; compilers stop at once, unpacking does not."""

log = logging.getLogger("duet.api")


class HouseKernels:
    """The kernels of this checkout (see serve.interfaces.Kernels).

    Args:
        listener: receives the progress of all builds, beside the browsers.
    """

    def __init__(self, settings: KernelSettings, listener: BuildListener | None = None) -> None:
        self.settings = settings
        self._listener = listener
        self._readiness = Readiness(settings)
        self._newest: dict[tuple[str, str], m.Build] = {}

    def ready(self, slug: str) -> dict[str, bool]:
        """arm -> its kernel is built."""
        return self._readiness.of(slug, arm_specs(lesson_cache.find(slug)))

    def latest(self) -> list[m.Message]:
        """The newest `build` message of each arm, for a viewer who joins."""
        return list(self._newest.values())

    async def work(self, tell: Callable[[m.Message], None]) -> None:
        """Build what is missing, lesson by lesson; a failure is told and tried again later."""

        def publish(message: m.Build) -> None:
            self._newest[message.lesson, message.arm] = message
            tell(message)
            if self._listener is not None:
                self._listener.update(message)

        while True:
            if self._listener is not None:
                self._listener.started(self._missing())
            results = [await self._lesson(folder, publish) for folder in lesson_cache.usable()]
            if all(results):
                if self._listener is not None:
                    self._listener.finished()
                return
            await asyncio.sleep(RETRY_S)

    def _missing(self) -> int:
        """Kernels that are not built yet; arms with the same patches share one."""
        patches: set[tuple[Path, ...]] = set()
        for folder in lesson_cache.usable():
            specs = arm_specs(folder)
            ready = self.ready(folder.slug)
            patches.update(spec.patches for arm, spec in specs.items() if not ready[arm])
        return len(patches)

    async def _lesson(self, folder: LessonFolder, publish: Callable[[m.Build], None]) -> bool:
        """Build one lesson's missing kernels; False when that failed."""
        slug = folder.slug
        missing = [name for name, there in self.ready(slug).items() if not there]
        if not missing:
            return True
        reports = BuildTeller(slug, missing, publish)
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

    async def _build(self, wanted: list[ArmSpec], reports: BuildTeller) -> None:
        """Build in a thread of its own, since make ends with the thread that started it.

        The thread is a daemon: unpacking cannot be stopped half-way, and the server must not
        wait for it; its programs die with the process (PDEATHSIG).
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        stop = threading.Event()

        def tell(call: Callable[..., None], *arguments: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed, the server is ending
                loop.call_soon_threadsafe(call, *arguments)

        def settle(error: Exception | None) -> None:
            if done.cancelled():
                return
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

        def work() -> None:
            try:
                build(
                    wanted,
                    self.settings,
                    on_progress=lambda progress: tell(reports.progress, progress),
                    stop=stop,
                )
            except Exception as error:
                tell(settle, error)
            else:
                tell(settle, None)

        threading.Thread(target=work, name="kernel build", daemon=True).start()
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait({done}, timeout=STOP_S)
            done.cancel()
            raise


class BuildTeller:
    """Turns the progress of a build into `build` messages, one stream per arm."""

    def __init__(self, slug: str, arms: list[str], publish: Callable[[m.Build], None]) -> None:
        self._slug = slug
        self._arms = arms
        self._publish = publish
        self._open = list(arms)
        self._now: BuildProgress | None = None
        self._told_at = 0.0

    def progress(self, progress: BuildProgress) -> None:
        """A moment of the build."""
        former, self._now = self._now, progress
        if former is not None and former.arm != progress.arm:
            self._end(former.arm, "done", None)
        changed = former is None or (former.phase, former.arm) != (progress.phase, progress.arm)
        now = time.monotonic()
        if progress.phase is Phase.DONE or not (changed or now - self._told_at > TELL_EVERY_S):
            return
        self._told_at = now
        self._send(progress.arm, _PHASES[progress.phase], None)

    def finished(self) -> None:
        """All are built."""
        for arm in list(self._open):
            self._end(arm, "done", None)

    def failed(self, error: m.ErrorMessage) -> None:
        """The rest cannot be built."""
        for arm in list(self._open):
            self._end(arm, "failed", error)

    def _end(self, arm: str, phase: m.BuildPhase, error: m.ErrorMessage | None) -> None:
        if arm in self._open:
            self._send(arm, phase, error)
            self._open.remove(arm)

    def _send(self, arm: str, phase: m.BuildPhase, error: m.ErrorMessage | None) -> None:
        now = self._now
        of_this = now is not None and now.arm == arm
        self._publish(
            m.Build(
                lesson=self._slug,
                arms=self._arms,
                arm=arm,
                phase=phase,
                done=now.objects_done if now and of_this else 0,
                total=now.objects_expected if now and of_this else 0,
                elapsed_s=round(now.elapsed_s, 1) if now else 0.0,
                message=now.note if now and of_this else "",
                error=error,
            )
        )


_PHASES: dict[Phase, m.BuildPhase] = {
    Phase.WAIT: "wait",
    Phase.EXTRACT: "extract",
    Phase.PATCH: "patch",
    Phase.CONFIG: "config",
    Phase.COMPILE: "compile",
    Phase.LINK: "link",
    Phase.STORE: "store",
    Phase.DONE: "done",
}
