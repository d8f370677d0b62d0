# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page that has opened a lesson is likely to run first: its hero step, or that of another
lesson that is clicked on. Guests are parked for them while nothing runs, so that *run live* need
not wait for a boot.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from duet.errors import DuetError
from duet.lessons import cache as lesson_cache
from duet.runs.request import RunRequest
from duet.serve.checks import check_start
from duet.serve.interfaces import Kernels, Stage
from duet.stream import messages as m


class Expecting:
    """Tells the stage what may be asked of it.

    Args:
        live: False for a server that boots no guest.
    """

    def __init__(self, stage: Stage, kernels: Kernels, live: bool) -> None:
        self._stage, self._kernels, self._live = stage, kernels, live

    def opened(self, slug: str) -> None:
        """A page has opened a lesson."""
        if self._live and (request := self.first_run(slug)) is not None:
            self._stage.expect(request, partial(self.others, slug))

    def others(self, slug: str) -> list[RunRequest]:
        """The first runs of all other lessons, those behind this one first. Blocking."""
        slugs = [folder.slug for folder in lesson_cache.usable()]
        behind = slugs.index(slug) + 1 if slug in slugs else 0
        turned = [one for one in slugs[behind:] + slugs[:behind] if one != slug]
        return [run for one in turned if (run := self.first_run(one)) is not None]

    def first_run(self, slug: str) -> RunRequest | None:
        """The run of a lesson's hero step, as far as its kernels are built."""
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
