# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of all lessons: which are there, and building the rest in the background.

One kernel is built at a time, whatever its lesson: first those that a viewer wants to run, then the
first comparison of each lesson, then the others (kernels/order.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from duet.errors import DuetError
from duet.kernels import ArmSpec, BuildProgress, KernelSettings, Phase, build, make_ready
from duet.kernels.arms import arm_specs
from duet.kernels.compiler import BuildStopped
from duet.kernels.order import NEAR_OBJECTS, outwards
from duet.lessons import cache as lesson_cache
from duet.serve.build_messages import BuildMessages
from duet.serve.build_thread import Tell, build_beside
from duet.serve.interfaces import BuildListener
from duet.serve.readiness import Readiness
from duet.stream import messages as m
from duet.stream.codec import failure

RETRY_S = 60.0
"""A failed build is tried again after this: space may have been freed, a package installed."""

log = logging.getLogger("duet.api")

ArmName = tuple[str, str]
"""Lesson and arm."""


@dataclass(slots=True)
class Current:
    """The kernel that is being built.

    Args:
        left: objects that are still to be compiled; 0 outside compiling.
    """

    arm: ArmName
    stop: threading.Event
    left: int = 0


class CheckoutKernels:
    """The kernels of this checkout (see serve.interfaces.Kernels).

    Args:
        listener: receives the progress of all builds, beside the browsers.
    """

    def __init__(self, settings: KernelSettings, listener: BuildListener | None = None) -> None:
        self.settings = settings
        self._listener = listener
        self._readiness = Readiness(settings)
        self._newest: dict[ArmName, m.Build] = {}
        self._requested: dict[ArmName, None] = {}
        self._current: Current | None = None
        self._last_error = ""

    def ready(self, slug: str) -> dict[str, bool]:
        """arm -> its kernel is built."""
        return self._readiness.of(slug, arm_specs(lesson_cache.find(slug)))

    def latest(self) -> list[m.Message]:
        """The newest `build` message of each arm, for a viewer who joins."""
        return list(self._newest.values())

    def request(self, slug: str, arms: Iterable[str]) -> bool:
        """Build these arms next, optional ones too.

        A build of another arm that has much left to compile makes way: what it has compiled stays
        in the tree.

        Returns:
            Whether one of them is not there: a work() that has returned must be called anew.
        """
        ready = self.ready(slug)
        absent = [(slug, arm) for arm in arms if not ready.get(arm, True)]
        self._requested |= dict.fromkeys(absent)
        now = self._current
        if absent and now and now.arm not in self._requested and now.left > NEAR_OBJECTS:
            now.stop.set()
        return bool(absent)

    async def work(self, tell: Callable[[m.Message], None]) -> None:
        """Build what is missing; a failure is reported and tried again later."""

        def publish(message: m.Build) -> None:
            self._newest[message.lesson, message.arm] = message
            tell(message)
            if self._listener is not None:
                self._listener.update(message)

        failed: set[ArmName] = set()
        announced, built = -1, False
        while absent := self._absent():
            if self._listener is not None and announced < (kernels := self._kernels(absent)):
                self._listener.started(announced := kernels)
            todo = {name: spec for name, spec in absent.items() if name not in failed}
            if not todo:
                failed.clear()
                await asyncio.sleep(RETRY_S)
                continue
            name = await asyncio.to_thread(self._first, todo)
            if await self._one(name, absent, publish):
                built = True
            else:
                failed.add(name)
        if self._listener is not None:
            self._listener.finished()
        if built:
            await self._go_home()

    def _absent(self) -> dict[ArmName, ArmSpec]:
        """Arms that are to be built: the usual ones, and those that were requested."""
        found: dict[ArmName, ArmSpec] = {}
        for folder in lesson_cache.usable():
            slug, usual, ready = folder.slug, folder.usual_arms, self.ready(folder.slug)
            for arm, spec in arm_specs(folder).items():
                wanted = arm in usual or (slug, arm) in self._requested
                if wanted and not ready.get(arm, True):
                    found[slug, arm] = spec
        return found

    @staticmethod
    def _kernels(absent: dict[ArmName, ArmSpec]) -> int:
        """How many kernels they are; arms with the same base and patches share one."""
        return len({(spec.base, spec.config, spec.patches) for spec in absent.values()})

    def _first(self, todo: dict[ArmName, ArmSpec]) -> ArmName:
        """The arm to build next. Blocking: it looks into the tree."""
        requested = [name for name in self._requested if name in todo]
        leader = todo[requested[0]] if requested else next(iter(todo.values()))
        with contextlib.suppress(DuetError):  # the build itself says it, of one arm
            base = self.settings.base_of(leader)
            together = {
                spec: name
                for name, spec in todo.items()
                if self.settings.base_of(spec).name == base.name and spec.config == leader.config
            }
            tree = None
            if base.source.kind != "image":
                sha256 = self.settings.tarball(base).sha256
                tree = self.settings.tree(base, leader.config, sha256)
            first = {todo[name] for name in requested}
            order = outwards(list(together), self.settings.patches, base, tree, requested=first)
            return together[order[0]]
        return (leader.lesson, leader.name)

    async def _one(
        self, name: ArmName, absent: dict[ArmName, ArmSpec], publish: Callable[[m.Build], None]
    ) -> bool:
        """Build one kernel; False when that failed."""
        slug, arm = name
        reports = BuildMessages(slug, arm, [one for of, one in absent if of == slug], publish)
        now = self._current = Current(name, threading.Event())

        def progress(moment: BuildProgress) -> None:
            compiling = moment.phase is Phase.COMPILE
            now.left = moment.objects_expected - moment.objects_done if compiling else 0
            reports.progress(moment)

        def work(tell: Tell, stop: threading.Event) -> None:
            now.stop = stop
            spec = absent[name]
            build([spec], self.settings, on_progress=lambda one: tell(progress, one), stop=stop)

        try:
            await build_beside(work)
        except BuildStopped:
            reports.waits()
            return True
        except (DuetError, OSError) as error:
            trouble = failure(error)
            words = f"{trouble.sentence} {trouble.remedy}"
            if words != self._last_error:  # once, not for every kernel and every minute
                log.error("kernel %s of %s, and perhaps others: %s", arm, slug, words)
            self._last_error = words
            reports.failed(trouble)
            return False
        finally:
            self._current = None
        self._last_error = ""
        reports.finished()
        still = self._absent()
        for of, one in absent:
            if (of, one) != name and (of, one) not in still:  # it is the same kernel
                BuildMessages(of, one, [], publish).finished()
        return True

    async def _go_home(self) -> None:
        """Leave the tree at stock, from where the first kernel of a trial is near."""
        stock = ArmSpec("trial", "stock", instrumented=False)

        def work(tell: Tell, stop: threading.Event) -> None:
            make_ready(stock, self.settings, stop)

        with contextlib.suppress(DuetError, OSError):  # nobody waits for it
            await build_beside(work)
