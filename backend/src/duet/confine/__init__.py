# SPDX-License-Identifier: GPL-2.0-or-later
"""Sandboxed child processes that parse untrusted bytes from guests and files.

    server --(one request at a time)--> child      `Child`, one per lane or file
      \\--(descriptors of a new child)--> zygote --fork--> child

The zygote imports all modules once and forks on request, so a child starts in about 10 ms. A child
has limits (duet.base.budgets) and no privileges (duet.confine.sandbox). Requests are pickled,
because the server is trusted. Replies are msgpack maps and blobs of stated sizes; they are
validated, never unpickled.
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
from duet.confine.child import Child, ChildLimits, fork, start
from duet.confine.messages import ReplyReader

__all__ = [
    "INPUTS",
    "BoxEnded",
    "BoxLimits",
    "BoxStopped",
    "Child",
    "ChildLimits",
    "Job",
    "NoBox",
    "Outcome",
    "ReplyReader",
    "Step",
    "Wanted",
    "box_weakness",
    "check_box",
    "fork",
    "missing_box",
    "run_boxed",
    "start",
]
