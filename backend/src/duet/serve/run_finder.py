# SPDX-License-Identifier: GPL-2.0-or-later
"""Which run an id means: live, recorded, or saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from duet.errors import InputError
from duet.lessons import cache as lesson_cache
from duet.runs.fitting import fitting_step
from duet.serve.interfaces import Recordings, Run
from duet.serve.live_runs import LiveRuns
from duet.serve.ownership import owner_of
from duet.stream import messages as m


class RunFinder:
    """Ids are `recorded:SLUG:NAME`, `kept:SLUG:NAME`, or those of runs in memory.

    Args:
        saved: recordings of live runs that are over; None: none are saved.
    """

    def __init__(
        self, live_runs: LiveRuns, recordings: Recordings, saved: Recordings | None
    ) -> None:
        self.live_runs = live_runs
        self.recordings = recordings
        self.saved = saved
        self.elsewhere: Callable[[str], Run | None] = lambda run_id: None
        """A live run of another server."""

    async def find_run(self, run_id: str) -> Run:
        """A run: live (while it is in memory), saved, or recorded and then whole.

        Raises:
            InputError: unknown, deleted or not usable.
        """
        live = self.live_runs.find(run_id) or self.elsewhere(run_id)
        if live is not None:
            return live
        source, slug, name = self._recorded(run_id)
        return self._known(run_id, None if source is None else await source.load(slug, name))

    def starts_of(self, run_id: str) -> tuple[str, ...]:
        """Idents of the visitors who started a run, live or saved; none: nobody is known."""
        if owners := self.live_runs.owners(run_id):
            return owners
        source, slug, name = self._recorded(run_id)
        path = source.file(slug, name) if source is not None and source is self.saved else None
        owner = "" if path is None else owner_of(path.parent, name)
        return (owner,) if owner else ()

    def file_of(self, run_id: str) -> Path | None:
        """The file of a recorded or saved run; None: it has none, or there is no such run."""
        source, slug, name = self._recorded(run_id)
        return None if source is None else source.file(slug, name)

    def _recorded(self, run_id: str) -> tuple[Recordings | None, str, str]:
        """Which recordings have a run of that id, its lesson and its name; None: it is no such."""
        kind, _, rest = run_id.partition(":")
        slug, _, name = rest.partition(":")
        sources = {"recorded": self.recordings, "kept": self.saved}
        return (sources.get(kind) if rest else None), slug, name

    @staticmethod
    def _known(run_id: str, found: Run | None) -> Run:
        if found is None:
            raise InputError(
                f"there is no run '{run_id:.60}' here: it was deleted, or came to no events.",
                remedy="Open the lesson again to see which runs there are.",
            )
        return found

    def chosen(self, command: m.Open) -> Run | None:
        """The run to show: the named one, or the recording that fits the step.

        A recording may still be read; its packets come by the hub.
        """
        slug, run = command.lesson, command.run
        if run == "none":
            return None
        if run is None or run == "recorded":
            listing = self.recordings.listing(slug)
            return self.recordings.begin(
                slug, fitting_step(lesson_cache.find(slug), command.step, listing)
            )
        if run in self.recordings.paths(slug):
            return self.recordings.begin(slug, run)
        live = self.live_runs.find(run) or self.elsewhere(run)
        if live is not None:
            return live
        source, of, named = self._recorded(run)
        return self._known(run, None if source is None else source.begin(of, named))
