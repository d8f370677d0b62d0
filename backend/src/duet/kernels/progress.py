# SPDX-License-Identifier: GPL-2.0-or-later
"""What a build tells while it runs, and how make's lines are counted. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

_LINE = re.compile(r"^  ([A-Z][A-Z0-9_ ]{0,9}?) +(\S+)")


class Phase(StrEnum):
    """Steps of one arm, in order; `wait` while another process builds."""

    WAIT = "wait"
    EXTRACT = "extract"
    PATCH = "patch"
    CONFIG = "config"
    COMPILE = "compile"
    LINK = "link"
    STORE = "store"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """A moment of a build.

    `objects_expected` is an estimate (the last cold build of this base, less what is there);
    it is never below `objects_done`. `arm_index` counts the kernels to be made, from 0, and
    `arms_total` may be below the number of arms asked for: stored ones are not built.
    `note` is one sentence for a person, empty most of the time.
    """

    phase: Phase
    lesson: str
    arm: str
    arm_index: int
    arms_total: int
    objects_done: int
    objects_expected: int
    elapsed_s: float
    note: str = ""


ProgressSink = Callable[[BuildProgress], None]


class MakeCounter:
    """Follows make's quiet output ('  CC      mm/vmscan.o'), line by line."""

    def __init__(self) -> None:
        self.objects = 0
        self.linking = False

    def feed(self, line: str) -> bool:
        """Take one line; True when it was a step of make and the count or phase may differ."""
        match = _LINE.match(line)
        if match is None:
            return False
        verb, target = match.groups()
        if verb in ("CC", "AS") and target.endswith(".o"):
            self.objects += 1
        if verb == "LD" and target == "vmlinux.o":
            self.linking = True
        return True
