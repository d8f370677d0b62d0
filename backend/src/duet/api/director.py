# SPDX-License-Identifier: GPL-2.0-or-later
"""The server's one owner of live things: what runs, who asked for it, what was run before.

Commands of viewers only set a wish; one task, the conductor, carries wishes out one at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections import OrderedDict
from pathlib import Path
from types import TracebackType

import psutil
from pydantic import JsonValue

from duet import __version__
from duet.api import shelf
from duet.api.checks import check_start
from duet.api.fitting import fitting_step
from duet.api.keeper import Keeper
from duet.api.kept import KeptRuns
from duet.api.lesson_cache import LessonCache
from duet.api.parts import Kernels, MeasureWish, Performance, Recordings, Stage, Wish
from duet.api.rights import action_of, denied
from duet.errors import DuetError, InputError
from duet.lessons.load import LessonFolder
from duet.stream import messages as m
from duet.stream.codec import failure, pack
from duet.stream.hub import Hub, Viewer

IDLE_LANES_S = 300.0
"""Lanes that nobody has used for so long are closed; a later run boots them again."""
KEPT_RUNS = 2
"""Live runs kept for download, raw events and late joiners."""

log = logging.getLogger("duet.api")


class Director:
    """Carries out commands (see stream.endpoint.Commands). Use as `async with`.

    Args:
        stage: where live runs happen; entered and left with the director.
        builds: False for a server that never builds kernels.
        live: False for a server that shows recordings only; it boots no guest.
        kept: where live runs are kept once they are over; None: nowhere.
    """

    def __init__(
        self,
        hub: Hub,
        stage: Stage,
        recordings: Recordings,
        kernels: Kernels,
        builds: bool = True,
        live: bool = True,
        kept: KeptRuns | None = None,
    ) -> None:
        self.hub = hub
        self.kernels = kernels
        self.recordings = recordings
        self.kept = kept
        self._keeper = Keeper(kept.folder) if kept is not None else None
        for source in (recordings, kept):
            if source is not None:
                source.publish = hub.publish
        self._lessons = LessonCache(recordings, kernels)
        self._stage = stage
        self._builds = builds and live
        self._live = live
        self._runs: OrderedDict[str, Performance] = OrderedDict()
        self._newest: dict[str, str] = {}
        self._measured: dict[str, m.Measured] = {}
        self._wish: Wish | MeasureWish | None = None
        self._former: Wish | None = None
        self._owner = ""
        self._asked = asyncio.Event()
        self._halt = asyncio.Event()
        self._numbers = itertools.count(1)
        self._tasks: list[asyncio.Task[None]] = []
        self.playing: str | None = None

    async def __aenter__(self) -> Director:
        await self._stage.__aenter__()
        self._tasks = [asyncio.create_task(self._conduct(), name="conductor")]
        self.hub.on_free = self._let_go
        if self._builds:
            self._tasks.append(asyncio.create_task(self._build(), name="kernel builds"))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.hub.on_free = lambda: None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._keeper is not None:
            await self._keeper.close()
        for source in (self.recordings, self.kept):
            if source is not None:
                await source.close()
        await self._stage.__aexit__(kind, error, trace)

    # What viewers see and ask

    def warm(self) -> None:
        """Read all lessons and look up their kernels once. Blocking; call it before the loop runs.

        The first viewer's greeting would do it on the event loop otherwise.
        """
        for folder in shelf.usable():
            with contextlib.suppress(DuetError):
                self._lessons.view(folder.slug)

    def greet(self, viewer: Viewer) -> None:
        """First messages of a new viewer."""
        cards = [self._card(folder) for folder in shelf.usable()]
        hello = m.Hello(
            version=__version__,
            viewer=viewer.ident,
            live=self._live,
            lessons=cards,
            role=viewer.visitor.role.word,
            denied=denied(viewer.visitor),
        )
        viewer.put(pack(hello))
        self.hub.tell_control(viewer)
        for message in self.kernels.latest():
            viewer.put(pack(message))

    async def command(self, viewer: Viewer, command: m.Command) -> None:
        """Carry out or queue one command.

        Raises:
            DuetError: why not.
        """
        viewer.visitor.require(action_of(command))
        if not self._live and isinstance(command, m.Start | m.Again | m.Measure):
            raise InputError(
                "This server shows recordings only; its guests are switched off.",
                remedy="Start a server without --no-guests to run live.",
            )
        match command:
            case m.Open():
                await self._open(viewer, command)
            case m.TakeControl(take=True):
                self.hub.take(viewer)
            case m.TakeControl():
                self.hub.release(viewer)
            case m.Start():
                self._want(viewer, check_start(command, self.kernels))
            case m.Measure():
                wish = check_start(command, self.kernels, all_ready=True)
                self._want(viewer, MeasureWish(wish, command.repeats))
            case m.Again():
                if self._former is None:
                    raise InputError(
                        "Nothing has run yet, so there is nothing to run again.",
                        remedy="Press run first.",
                    )
                self._want(viewer, self._former)
            case m.Do():
                await self._live_run(viewer).act(command.name, command.value)
            case m.Hold():
                await self._live_run(viewer).hold(command.on, command.after)
            case m.Stop():
                self.hub.take(viewer)
                self._wish = None
                self._halt.set()

    def lesson(self, slug: str) -> dict[str, JsonValue]:
        """A lesson for the page or over HTTP.

        Raises:
            InputError: no such lesson.
        """
        return self._lessons.view(slug).tree

    async def find_run(self, run_id: str) -> Performance:
        """A run that was shown: live, or recorded and then whole.

        Raises:
            InputError: unknown, forgotten or not usable.
        """
        source, slug, name = self._recorded(run_id)
        found = self._runs.get(run_id) if source is None else await source.load(slug, name)
        return self._known(run_id, found)

    def file_of(self, run_id: str) -> Path | None:
        """The file of a recorded or saved run; None: it has none, or there is no such run."""
        source, slug, name = self._recorded(run_id)
        return None if source is None else source.file(slug, name)

    def _recorded(self, run_id: str) -> tuple[Recordings | None, str, str]:
        """Which recordings have a run of that id, its lesson and its name; None: it is no such."""
        kind, _, rest = run_id.partition(":")
        slug, _, name = rest.partition(":")
        sources = {"recorded": self.recordings, "kept": self.kept}
        return (sources.get(kind) if rest else None), slug, name

    @staticmethod
    def _known(run_id: str, found: Performance | None) -> Performance:
        if found is None:
            raise InputError(
                f"there is no run '{run_id:.60}' here (the last {KEPT_RUNS} live runs are kept).",
                remedy="Open the lesson again to see which runs there are.",
            )
        return found

    def lanes(self) -> list[dict[str, JsonValue]]:
        """Lanes of the newest live run, with the process of each guest that is still alive."""
        if not self._runs:
            return []
        newest = next(reversed(self._runs.values()))
        return [
            {
                "arm": lane.arm,
                "phase": lane.phase,
                "pid": lane.pid if lane.pid and psutil.pid_exists(lane.pid) else None,
            }
            for lane in newest.log.lanes().values()
        ]

    def measuring(self) -> str | None:
        """That a measurement goes on, which wants the machine for itself; None: none does."""
        return "arms are being measured" if (self.playing or "").startswith("measure-") else None

    def _card(self, folder: LessonFolder) -> m.LessonCard:
        lesson = folder.lesson
        return m.LessonCard(
            slug=folder.slug,
            title=lesson.title,
            question=lesson.question,
            available=all(self.kernels.ready(folder.slug).values()),
            picture=lesson.view is not None,
        )

    async def _open(self, viewer: Viewer, command: m.Open) -> None:
        slug = command.lesson
        packet = self._lessons.view(slug).packet
        viewer.lesson = slug
        viewer.put(packet)
        try:
            measured = self._measured.get(slug) or self.recordings.measured(slug)
        except DuetError as error:  # the rest of the lesson can still be shown
            viewer.put(pack(failure(error)))
        else:
            if measured is not None:
                viewer.put(pack(measured))
        try:
            chosen = self._chosen_run(command)
        except DuetError as error:
            viewer.put(pack(failure(error, command.run)))
        else:
            if chosen is not None:
                viewer.watch(chosen.log)

    def _chosen_run(self, command: m.Open) -> Performance | None:
        """The run to show: named, else the newest live one, else the recording of the step.

        A recording may still be read; its packets come by the hub.
        """
        slug, run = command.lesson, command.run
        if run == "none":
            return None
        if run is None and slug in self._newest:
            return self._runs[self._newest[slug]]
        if run is None or run == "recorded":
            listing = self.recordings.listing(slug)
            return self.recordings.begin(
                slug, fitting_step(shelf.find(slug), command.step, listing)
            )
        if run in self.recordings.paths(slug):
            return self.recordings.begin(slug, run)
        source, of, named = self._recorded(run)
        found = self._runs.get(run) if source is None else source.begin(of, named)
        return self._known(run, found)

    def _live_run(self, viewer: Viewer) -> Performance:
        """What plays; the viewer controls it."""
        self.hub.take(viewer)
        if self.playing is None or self.playing not in self._runs:
            raise InputError(
                "No live run goes on, so there is nothing to do it to.",
                remedy="Press run first.",
            )
        return self._runs[self.playing]

    def _let_go(self) -> None:
        """Nobody is left who would let the guests go, so they go on."""
        run = self._runs.get(self.playing or "")
        if run is None:
            return

        async def go() -> None:
            with contextlib.suppress(DuetError):  # none can be held, or the run is over
                await run.hold(False, 0)

        self._tasks = [task for task in self._tasks if not task.done()]
        self._tasks.append(asyncio.create_task(go(), name="let go"))

    def _want(self, viewer: Viewer, wish: Wish | MeasureWish) -> None:
        self.hub.take(viewer)
        self._wish = wish
        self._owner = viewer.visitor.ident
        self._halt.set()
        self._asked.set()

    # What happens

    async def _conduct(self) -> None:
        while True:
            try:
                wish = await self._next_wish()
                if wish is None:
                    await self._stage.rest()
                elif isinstance(wish, MeasureWish):
                    await self._measure(wish)
                else:
                    await self._perform(wish)
            except DuetError as error:
                self.hub.everyone(failure(error))
            except Exception as error:
                log.exception("a run failed unexpectedly")
                self.hub.everyone(failure(error))
            finally:
                self.playing = None

    async def _next_wish(self) -> Wish | MeasureWish | None:
        """What is to be done next; None when nobody has wanted anything for a long time."""
        if self._wish is None:
            self._asked.clear()
            try:
                async with asyncio.timeout(IDLE_LANES_S):
                    await self._asked.wait()
            except TimeoutError:
                return None
        wish, self._wish = self._wish, None
        self._halt.clear()
        return wish

    async def _perform(self, wish: Wish) -> None:
        self._former, owner = wish, self._owner
        run_id = f"live-{next(self._numbers)}"
        performance = self._stage.prepare(wish, run_id, self.hub)
        self.playing = run_id
        self._runs[run_id] = performance
        self._newest[wish.folder.slug] = run_id
        while len(self._runs) > KEPT_RUNS:
            former, _ = self._runs.popitem(last=False)
            self._newest = {slug: run for slug, run in self._newest.items() if run != former}
        self.hub.switch(performance.log)
        run = asyncio.create_task(performance.perform(), name=run_id)
        halt = asyncio.create_task(self._halt.wait(), name=f"halt {run_id}")
        try:
            await asyncio.wait({run, halt}, return_when=asyncio.FIRST_COMPLETED)
            if not run.done():
                await performance.stop()
            await run
            if self._keeper is not None:
                self._keeper.keep(performance, owner)
        finally:
            halt.cancel()
            run.cancel()
            await asyncio.gather(run, halt, return_exceptions=True)

    async def _measure(self, wish: MeasureWish) -> None:
        slug = wish.wish.folder.slug
        run_id = f"measure-{next(self._numbers)}"
        self.playing = run_id

        if self._keeper is not None:
            await self._keeper.idle()
        last: list[m.Measured] = []

        def publish(message: m.Measured) -> None:
            last[:] = [message]
            if message.done == message.total:
                self._measured[slug] = message
            self.hub.to_lesson(slug, message)

        measuring = asyncio.create_task(self._stage.measure(wish, run_id, publish), name=run_id)
        halt = asyncio.create_task(self._halt.wait(), name=f"halt {run_id}")
        try:
            await asyncio.wait({measuring, halt}, return_when=asyncio.FIRST_COMPLETED)
            if measuring.done():
                await measuring
        finally:
            measuring.cancel()
            halt.cancel()
            await asyncio.gather(measuring, halt, return_exceptions=True)
            if last and last[0].done != last[0].total:
                publish(unfinished(last[0]))

    async def _build(self) -> None:
        try:
            await self.kernels.work(self.hub.everyone)
        except Exception as error:
            log.exception("building kernels failed")
            self.hub.everyone(failure(error))


def unfinished(table: m.Measured) -> m.Measured:
    """The table of a measurement that was cut off: what there is, and that it proves nothing."""
    verdict = f"No verdict: measuring ended after {table.done} of {table.total} runs."
    return table.model_copy(update={"total": table.done, "verdict": verdict})
