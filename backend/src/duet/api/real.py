# SPDX-License-Identifier: GPL-2.0-or-later
"""The director of real guests, real kernels and the lessons' own recordings."""

from __future__ import annotations

from duet.api.director import Director
from duet.api.host import live_runs
from duet.api.kept import KeptFolder, KeptRuns
from duet.api.kernel_builds import HouseKernels
from duet.api.recordings import LessonRecordings
from duet.api.stage import HouseStage
from duet.kernels import KernelSettings
from duet.stream.hub import Hub


def real_director(hub: Hub, settings: KernelSettings, builds: bool, live: bool = True) -> Director:
    """What `duet serve` runs."""
    kernels = HouseKernels(settings)
    kept = KeptRuns(KeptFolder.default())
    slots = live_runs()
    stage = HouseStage(settings, slots)
    return Director(hub, stage, LessonRecordings(), kernels, builds, live, kept, slots)
