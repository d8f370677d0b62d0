# SPDX-License-Identifier: GPL-2.0-or-later
"""Child processes that parse what guests and files contain, and that can do nothing else.

    server --(one request at a time)--> child      `Child`, one per lane or file
      \\--(descriptors of a new child)--> zygote --fork--> child

The zygote imports everything once and forks on request, so a child starts in some 10 ms. A child
has limits (duet.base.budgets) and no rights (duet.confine.sandbox). Requests are pickled: the
server is trusted. Replies are maps of msgpack and blobs of stated sizes; they are checked, never
unpickled.
"""

from __future__ import annotations

from duet.confine.box import (
    INPUTS,
    BoxEnded,
    BoxLimits,
    BoxStopped,
    Job,
    NoBox,
    Outcome,
    Step,
    Wanted,
    box_weakness,
    check_box,
    missing_box,
    run_boxed,
)
from duet.confine.child import Child, Terms, start
from duet.confine.messages import ReplyReader

__all__ = [
    "INPUTS",
    "BoxEnded",
    "BoxLimits",
    "BoxStopped",
    "Child",
    "Job",
    "NoBox",
    "Outcome",
    "ReplyReader",
    "Step",
    "Terms",
    "Wanted",
    "box_weakness",
    "check_box",
    "missing_box",
    "run_boxed",
    "start",
]
