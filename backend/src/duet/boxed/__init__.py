# SPDX-License-Identifier: GPL-2.0-or-later
"""Boxes: programs of strangers over a folder that stays as it is (bubblewrap, overlayfs).

What holds in a box, and is tried by tests/backend/boxed: no network; of the host only /usr and the
folders that were named, read-only; a user of its own without rights; bounds on time, memory, disk,
processes and output; nothing is left of it; a result is copied out after a look at its kind and
size. docs/SANDBOX.md has the table.
"""

from duet.boxed.job import INPUTS, Job, Step
from duet.boxed.limits import BoxLimits
from duet.boxed.probe import box_weakness, check_box, missing_box
from duet.boxed.results import Wanted
from duet.boxed.run import BoxEnded, BoxStopped, NoBox, Outcome, run_boxed

__all__ = [
    "INPUTS",
    "BoxEnded",
    "BoxLimits",
    "BoxStopped",
    "Job",
    "NoBox",
    "Outcome",
    "Step",
    "Wanted",
    "box_weakness",
    "check_box",
    "missing_box",
    "run_boxed",
]
