# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out viewers' commands: opens recordings, requests live runs (runs.py), and greets new
viewers."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from pydantic import JsonValue

from duet import __version__
from duet import messages as m
from duet.base.errors import DuetError
from duet.lessons import load as lesson_cache
from duet.messages.codec import pack
from duet.runs.sources import MeasureRequest
from duet.server.archive import ArchivedRuns, Archiver, PinnedRuns
from duet.server.builds import BuildTask
from duet.server.commands import (
    NO_GUESTS,
    check_start,
    denied,
    read_judge,
    read_start,
    refuse_guests,
)
from duet.server.hosts.door import HostDoor
from duet.server.interfaces import Kernels, QueuedRun, Recordings, Stage
from duet.server.lessons import LessonCache, LessonOpener, lanes_of, lesson_card
from duet.server.own_arms import NONE_HERE, ChangedKernels, OwnArms, OwnLessons
from duet.server.runs import LiveRuns, RunFinder
from duet.server.services import Core, Maker, Services, makers
from duet.session import RunSpec
from duet.store.store import Store
from duet.stream.cutting import Cutting
from duet.stream.hub import Hub, Viewer

# Finds the runs that a page is likely to start first. These are the runs of each lesson's main
# step, starting with the open lesson. While nothing runs, guests are parked for these runs, so that
# *run live* need not wait for a boot.


class Prewarmer:
    """Tells the stage which runs may be requested soon.

    Args:
        live: False for a server that boots no guest.
    """

    def __init__(self, stage: Stage, kernels: Kernels, live: bool) -> None:
        self._stage, self._kernels, self._live = stage, kernels, live

    def prewarm(self, slug: str) -> None:
        """Prepare the stage for a lesson that a page has opened."""
        if self._live and (request := self.first_run(slug)) is not None:
            self._stage.expect(request, partial(self.others, slug))

    def others(self, slug: str) -> list[RunSpec]:
        """Return the likely first run of each other lesson, beginning with the next lesson.
        Blocking."""
        slugs = [folder.slug for folder in lesson_cache.usable()]
        behind = slugs.index(slug) + 1 if slug in slugs else 0
        turned = [one for one in slugs[behind:] + slugs[:behind] if one != slug]
        return [run for one in turned if (run := self.first_run(one)) is not None]

    def first_run(self, slug: str) -> RunSpec | None:
        """Return the run of a lesson's main step; None if none of its kernels is built."""
        with suppress(DuetError):
            folder = lesson_cache.find(slug)
            lesson = folder.lesson
            scenes = [one for one in lesson.scenes if one.id == lesson.hero] or lesson.scenes[:1]
            for scene in scenes:
                start = m.Start(
                    type="start",
                    lesson=slug,
                    arms=list(scene.arms),
                    workload=scene.workload,
                    params=dict(scene.params),
                )
                return check_start(start, folder, self._kernels.ready(slug))
        return None


class Director:
    """Carries out commands (implements stream.viewer.Commands). Use with `async with`.

    Args:
        stage: where live runs happen; the director enters and leaves it.
        builds: False for a server that never builds kernels.
        live: False for a server that shows recordings only; it boots no guest.
        saved: where ended live runs are saved; None to save nothing.
        slots: number of simultaneous live runs, which equals the stage's number of slots.
        changing: what is needed to build visitors' changes; None if visitors cannot change patches.
        store: the plug-ins' database, which the director opens and closes; None if they store
            nothing.
        hosts: endpoint for host processes on other machines; None if it is not needed.
        services: makers of the plug-ins' services; None for those of the installed plug-ins.
    """

    def __init__(
        self,
        hub: Hub,
        stage: Stage,
        recordings: Recordings,
        kernels: Kernels,
        builds: bool = True,
        live: bool = True,
        saved: ArchivedRuns | None = None,
        slots: int = 1,
        changing: ChangedKernels | None = None,
        store: Store | None = None,
        hosts: HostDoor | None = None,
        services: Iterable[Maker] | None = None,
    ) -> None:
        self.hub, self.kernels = hub, kernels
        self.recordings, self.saved = recordings, saved
        self.own = OwnLessons(changing, "" if builds and live else NONE_HERE)
        self._lessons = LessonCache(recordings, kernels, self.own)
        archiver = None if saved is None else Archiver(saved.folder)
        self.services = Services()
        self.live_runs = LiveRuns(hub, stage, archiver, slots, self.services.judged)
        self.segments = Cutting(hub)
        finder = RunFinder(self.live_runs, recordings, saved, self.services.find_run)
        self.find_run, self.file_of = finder.find_run, finder.file_of
        self.parked = stage.parked
        expects = Prewarmer(stage, kernels, live).prewarm
        self._opener = LessonOpener(hub, self._lessons, finder, self.own.arms_of, expects)
        self.live_runs.before_show.register(self._opener.introduce)
        for source in (recordings, saved):
            if source is not None:
                source.publish = self._opener.publish
        self.changes = OwnArms(hub, self.own, self._opener.introduce, self.measuring)
        self._builds = BuildTask(kernels, hub.everyone) if builds and live else None
        held = PinnedRuns() if saved is None else saved.folder.held
        self.store = store
        core = Core(
            hub,
            store,
            finder,
            self.live_runs,
            self._read,
            "" if live else NO_GUESTS,
            self.own.off,
            held.pin,
            self.services,
        )
        self.services.make(core, makers().values() if services is None else services)
        self._live, self.hosts = live, hosts

    async def __aenter__(self) -> Director:
        await self.segments.__aenter__()
        await self.live_runs.__aenter__()
        self.hub.left.register(self._left)
        if self.store is not None:
            self.store.begin()
        await self.services.__aenter__()
        if self._builds is not None:
            self._builds.start()
        await self.changes.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.services.__aexit__(*error)
        if self.store is not None:
            await self.store.close()
        await self.changes.__aexit__()
        if self._builds is not None:
            await self._builds.close()
        for source in (self.recordings, self.saved):
            if source is not None:
                await source.close()
        self.hub.left.unregister(self._left)
        await self.live_runs.__aexit__(*error)
        await self.segments.__aexit__()

    def _left(self, viewer: Viewer) -> None:
        self.services.viewer_left(viewer)
        self.live_runs.viewer_left(viewer)

    def warm(self) -> None:
        """Read all lessons and look up their kernels, before the first greeting. Blocking."""
        self._lessons.read_all()

    def greet(self, viewer: Viewer) -> None:
        """Send a new viewer its first messages."""
        viewer.put(pack(hello(viewer, self.kernels, self._live)))
        self.live_runs.greet(viewer)
        for message in self.kernels.latest():
            viewer.put(pack(message))

    async def command(self, viewer: Viewer, command: m.Command) -> None:
        """Carry out one command, or queue it.

        Raises:
            DuetError: the command is refused or has failed.
        """
        viewer.visitor.require(self.services.needs(command))
        if not self._live:
            refuse_guests(command)
        match command:
            case m.Open():
                await self.services.open(viewer, command, self._opener.open)
            case m.TakeControl():
                self.live_runs.take_control(viewer, command.take)
            case m.Start():
                self.live_runs.ask(viewer, self._read(command))
            case m.Measure():
                self.live_runs.ask(viewer, MeasureRequest(self._read(command), command.repeats))
            case m.Change():
                await self.changes.ask(viewer, command)
            case m.DropChange():
                self.changes.drop(viewer, command)
            case m.Judge():
                self.live_runs.ask(viewer, read_judge(command, self.own, self.kernels))
            case m.Again():
                self.live_runs.again(viewer)
            case m.Do() | m.Hold():
                await act(self.live_runs.controlled(viewer), command)
            case m.Stop():
                self.live_runs.stop(viewer, command.run)
            case _:
                await self.services.command(viewer, command)

    def lesson(self, slug: str) -> dict[str, JsonValue]:
        """Return a lesson, for the page and for HTTP requests.

        Raises:
            InputError: there is no such lesson.
        """
        return self._lessons.view(slug).tree

    def lanes(self) -> list[dict[str, JsonValue]]:
        """Return the lanes of the active live runs, or of the newest run if none is active."""
        return lanes_of(self.live_runs.newest())

    def measuring(self) -> str | None:
        """Describe the current measurement, which needs the machine alone; None if none runs."""
        alone = any(run_id.startswith("measure-") for run_id in self.live_runs.running())
        return "arms are being measured" if alone else None

    def _read(self, command: m.Start | m.Measure) -> RunSpec:
        """Turn a command into a run, and request the kernels that are missing."""
        if self._builds is not None:
            self._builds.ask(command.lesson, command.arms)
        return read_start(command, self.own, self.kernels)


async def act(run: QueuedRun, command: m.Do | m.Hold) -> None:
    """Carry out a command that performs one of the lesson's acts, or holds or resumes the
    guests."""
    if isinstance(command, m.Do):
        await run.act(command.name, command.value)
    else:
        await run.hold(command.on, command.after)


def hello(viewer: Viewer, kernels: Kernels, live: bool) -> m.Hello:
    """Make the first message that a page receives."""
    cards = [lesson_card(folder, kernels.ready(folder.slug)) for folder in lesson_cache.usable()]
    return m.Hello(
        version=__version__,
        viewer=viewer.ident,
        live=live,
        lessons=cards,
        role=viewer.visitor.role.word,
        denied=denied(viewer.visitor),
    )
