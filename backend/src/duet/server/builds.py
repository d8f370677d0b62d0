# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracks which kernels of all lessons are built, and builds missing kernels in the background.

One kernel is built at a time: first the kernels that a viewer wants to run, then those of each
lesson's first comparison, then all others (kernels/order.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from duet import messages as m
from duet.base.errors import DuetError
from duet.base.files import Stamps
from duet.kernels import (
    ArmSpec,
    BuildProgress,
    KernelKey,
    KernelSettings,
    Phase,
    build,
    lookup,
    make_ready,
    plan,
)
from duet.kernels.arms import arm_specs
from duet.kernels.bases import FILE, base_folders
from duet.kernels.image import FILES, SIZES
from duet.kernels.order import NEAR_OBJECTS, outwards
from duet.kernels.recipe import FIRST_COMPARISON, arm_patches, both_folders
from duet.kernels.source import NoSource
from duet.kernels.tree import BuildStopped
from duet.lessons import load as lesson_cache
from duet.messages.codec import failure
from duet.server.interfaces import BuildListener, Kernels
from duet.server.meters import BUILDS

# Owns the background task that builds kernels.

log = logging.getLogger("duet.api")


class BuildTask:
    """Builds missing kernels in the background, one task at a time.

    Args:
        kernels: knows the kernels that are missing, and builds them.
        tell: is called with the progress and, if building fails permanently, with the error.
    """

    def __init__(self, kernels: Kernels, tell: Callable[[m.ServerMessage], None]) -> None:
        self._kernels = kernels
        self._tell = tell
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the task. It needs a running event loop."""
        self._task = asyncio.create_task(self._build(), name="kernel builds")

    def ask(self, slug: str, arms: Iterable[str]) -> None:
        """Build these arms next."""
        is_absent = self._kernels.request(slug, arms)
        if is_absent and (self._task is None or self._task.done()):
            self.start()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _build(self) -> None:
        try:
            await self._kernels.work(self._tell)
        except Exception as error:
            log.exception("building kernels failed")
            self._tell(failure(error))


# Runs a kernel build in a separate thread, so that the event loop is not blocked.

STOP_S = 1.0
"""How long a cancelled build may take to stop. Compilers stop at once, unpacking does not."""

Tell = Callable[..., None]
"""A function tell(call, *arguments) that makes the call on the event loop."""


async def build_beside(work: Callable[[Tell, threading.Event], None]) -> None:
    """Run a build in a thread. Cancelling this coroutine stops the build.

    The thread lives until the build returns, because make is killed when the thread that started it
    ends. The thread is a daemon thread, because unpacking cannot be interrupted and the server must
    not wait for it. The programs that the thread starts die with the process (PDEATHSIG).

    Args:
        work: the build. It reports its progress by `tell`, and stops when the event is set.

    Raises:
        Exception: what `work` raised.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    stop = threading.Event()

    def tell(call: Callable[..., None], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed because the server is ending
            loop.call_soon_threadsafe(call, *arguments)

    def settle(error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        try:
            work(tell, stop)
        except Exception as error:
            tell(settle, error)
        else:
            tell(settle, None)

    threading.Thread(target=run, name="kernel build", daemon=True).start()
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait({done}, timeout=STOP_S)
        done.cancel()
        raise


# Reports the progress of one kernel's build in messages to viewers.

TELL_EVERY_S = 0.25
"""Minimum interval between progress messages. A new phase is always reported."""


class BuildMessages:
    """Turns the progress of one arm's build into `build` messages.

    Args:
        missing: the lesson's arms whose kernels are not built yet, including this arm.
    """

    def __init__(
        self, slug: str, arm: str, missing: list[str], publish: Callable[[m.Build], None]
    ) -> None:
        self._slug = slug
        self._arm = arm
        self._missing = missing
        self._publish = publish
        self._now: BuildProgress | None = None
        self._sent_at = 0.0

    def progress(self, progress: BuildProgress) -> None:
        former, self._now = self._now, progress
        changed = former is None or former.phase != progress.phase
        now = time.monotonic()
        if progress.phase is Phase.DONE or not (changed or now - self._sent_at > TELL_EVERY_S):
            return
        self._sent_at = now
        self._send(_PHASES[progress.phase])

    def finished(self) -> None:
        BUILDS.labels("done").inc()
        self._send("done")

    def failed(self, error: m.ErrorMessage) -> None:
        BUILDS.labels("failed").inc()
        self._send("failed", error)

    def waits(self) -> None:
        """Report that this kernel waits because another kernel is built first."""
        self._now = None
        self._send("wait")

    def _send(self, phase: m.BuildPhase, error: m.ErrorMessage | None = None) -> None:
        now = self._now
        self._publish(
            m.Build(
                lesson=self._slug,
                arms=self._missing,
                arm=self._arm,
                phase=phase,
                done=now.objects_done if now else 0,
                total=now.objects_expected if now else 0,
                elapsed_s=round(now.elapsed_s, 1) if now else 0.0,
                message=now.note if now else "",
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


# Finds out which kernels of a lesson are built. The result is cached until a relevant file changes.
#
# The result is needed for each page that connects or opens a lesson. Without a cache, the event
# loop would hash all patches and read all manifests in the store each time.


@dataclass(frozen=True, slots=True)
class CachedReadiness:
    """A cached lookup, and stamps of the files on which it depends."""

    specs: tuple[ArmSpec, ...]
    recipe: Stamps
    store: Stamps
    ready: dict[str, bool]

    def holds(self, specs: tuple[ArmSpec, ...]) -> bool:
        """Return whether the cached lookup is still valid."""
        return self.specs == specs and self.recipe.same and self.store.same


class Readiness:
    def __init__(self, settings: KernelSettings) -> None:
        self._settings = settings
        self._known: dict[str, CachedReadiness] = {}

    def of(self, lesson: str, specs: dict[str, ArmSpec]) -> dict[str, bool]:
        """Return for each arm whether its kernel is built.

        Without a compiler, no kernel counts as built.
        """
        arms = tuple(specs.values())
        known = self._known.get(lesson)
        if known is not None and known.holds(arms):
            return dict(known.ready)
        recipe = Stamps.of(self._recipe(arms))
        keys: dict[str, KernelKey] = {}
        settled = True
        for name, spec in specs.items():
            try:
                keys[name] = plan(spec, self._settings)
            except NoSource:
                pass  # installing the source of an optional base changes the stamps
            except DuetError:
                settled = False  # not cached: installing a compiler would not change the stamps
        store = Stamps.of(part for key in keys.values() for part in self._image(key))
        ready = {
            name: name in keys and lookup(keys[name], self._settings) is not None for name in specs
        }
        if settled:
            self._known[lesson] = CachedReadiness(arms, recipe, store, ready)
        else:
            self._known.pop(lesson, None)
        return dict(ready)

    def _recipe(self, arms: tuple[ArmSpec, ...]) -> Iterator[Path]:
        settings = self._settings
        for folder in base_folders(settings.patches).values():
            yield folder / FILE
        for arm in arms:
            with contextlib.suppress(DuetError):
                base = settings.base_of(arm)
                yield from settings.source_places(base)
                yield from settings.fragments(arm)
                yield from both_folders(arm, settings.patches, base)
                yield from arm_patches(arm, settings.patches, base)

    def _image(self, key: KernelKey) -> Iterator[Path]:
        """Yield the files that show whether the store has a kernel."""
        folder = self._settings.store.folder / key
        yield folder
        for part in ("manifest.json", SIZES, *FILES):
            yield folder / part


RETRY_S = 60.0
"""Delay before a failed build is retried. Meanwhile space may be freed, or a package installed."""

ArmName = tuple[str, str]
"""Names of a lesson and an arm."""


@dataclass(slots=True)
class Current:
    """The kernel that is being built.

    Args:
        left: number of objects that are still to be compiled; 0 while nothing is compiled.
    """

    arm: ArmName
    stop: threading.Event
    left: int = 0


class CheckoutKernels:
    """The kernels of this checkout (implements server.interfaces.Kernels).

    Args:
        listener: receives the progress of all builds, in addition to the browsers.
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
        """Return for each arm whether its kernel is built."""
        return self._readiness.of(slug, arm_specs(lesson_cache.find(slug)))

    def latest(self) -> list[m.ServerMessage]:
        """Return the newest `build` message of each arm, for a viewer who joins."""
        return list(self._newest.values())

    def request(self, slug: str, arms: Iterable[str]) -> bool:
        """Build these arms next, even optional arms.

        If another arm is being built and much of it is left to compile, that build is stopped. The
        objects that it has compiled stay in the tree.

        Returns:
            Whether a kernel of these arms is missing. If so, and work() has returned, call work()
            again.
        """
        ready = self.ready(slug)
        absent = [(slug, arm) for arm in arms if not ready.get(arm, True)]
        self._requested |= dict.fromkeys(absent)
        now = self._current
        if absent and now and now.arm not in self._requested and now.left > NEAR_OBJECTS:
            now.stop.set()
        return bool(absent)

    async def work(self, tell: Callable[[m.ServerMessage], None]) -> None:
        """Build all missing kernels. A failure is reported and retried later."""

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
            await self._return_to_stock()

    def _absent(self) -> dict[ArmName, ArmSpec]:
        """Return the arms to build: the default arms, and those that were requested."""
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
        """Count the kernels to build.

        Arms with the same base, config and patches share a kernel.
        """
        return len({(spec.base, spec.config, spec.patches) for spec in absent.values()})

    def _first(self, todo: dict[ArmName, ArmSpec]) -> ArmName:
        """Return the arm to build next. Blocking, because it reads the kernel's source tree.

        Each base and configuration has a tree. The first comparisons of all lessons come before
        further arms, whichever tree they need.
        """
        requested = [name for name in self._requested if name in todo]
        if requested:
            leader = todo[requested[0]]
        else:
            leader = min(todo.values(), key=lambda spec: spec.position >= FIRST_COMPARISON)
        with contextlib.suppress(DuetError):  # the build will report this error with the arm's name
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
        """Build one kernel. Return False if it failed."""
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
            # log an error only once, instead of for every kernel and every minute
            if words != self._last_error:
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
            if (of, one) != name and (of, one) not in still:  # this arm uses the new kernel too
                BuildMessages(of, one, [], publish).finished()
        return True

    async def _return_to_stock(self) -> None:
        """Reset the source tree to the stock kernel, which is close to the first kernel of most
        trials."""
        stock = ArmSpec("trial", "stock", instrumented=False)

        def work(tell: Tell, stop: threading.Event) -> None:
            make_ready(stock, self.settings, stop)

        with contextlib.suppress(DuetError, OSError):  # no viewer waits for this, so ignore errors
            await build_beside(work)
