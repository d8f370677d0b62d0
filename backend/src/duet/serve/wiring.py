# SPDX-License-Identifier: GPL-2.0-or-later
"""The director of real guests, real kernels and the lessons' own recordings."""

from __future__ import annotations

from duet.changes import Changes
from duet.classes.configured import classes_days, classes_url, labs_days
from duet.classes.store import ClassStore
from duet.kernels import KernelSettings
from duet.serve.archive import ArchivedRuns, ArchiveFolder
from duet.serve.capacity import live_runs
from duet.serve.director import Director
from duet.serve.interfaces import BuildListener
from duet.serve.kernel_builds import CheckoutKernels
from duet.serve.live_run import GuestStage
from duet.serve.own_lessons import Changing
from duet.serve.recordings import LessonRecordings
from duet.serve.stored import claim
from duet.stream.hub import Hub


def default_director(
    hub: Hub,
    settings: KernelSettings,
    builds: bool,
    live: bool = True,
    listener: BuildListener | None = None,
) -> Director:
    """What `duet serve` runs; `listener` receives the progress of kernel builds."""
    kernels = CheckoutKernels(settings, listener)
    folder = ArchiveFolder.default()
    claim(folder.folder)
    saved = ArchivedRuns(folder)
    slots = live_runs()
    stage = GuestStage(settings, slots)
    changing = Changing(settings, Changes(settings.cache / "changes", settings.store))
    classes = ClassStore(classes_url(), classes_days())
    return Director(
        *(hub, stage, LessonRecordings(), kernels, builds, live),
        *(saved, slots, changing, classes, labs_days()),
    )
