# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial as plain data: its kernels, its command, and the requested tracing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from duet.base.clock import Clock
from duet.measure.model import SourceFacts
from duet.trials.command import Command
from duet.trials.mails import Patch

SLUG_PREFIX = "90-"
"""Prefix of the slug of a trial's lesson. Lessons in the checkout are numbered from 01."""
MOST_NAME = 40
TIMEOUT_S = 180
"""Total timeout in s for all runs of the command in one guest, by the guest's clock."""
Better = Literal["higher", "lower"]
"""Whether a lower or a higher number is better."""


@dataclass(frozen=True, slots=True)
class TrialArm:
    """One kernel of a trial.

    Args:
        base: name of the kernel's base. None means the default base.
        about: text of the line below the kernel's name.
        source: facts about the source tree; None if the base describes it.
    """

    name: str
    title: str
    about: str
    patches: tuple[Patch, ...] = ()
    base: str | None = None
    source: SourceFacts | None = None


@dataclass(frozen=True, slots=True)
class Headline:
    """A number that the command prints.

    Args:
        line: regex with a group `value`.
    """

    title: str
    unit: str
    line: str
    better: Better = "higher"


@dataclass(frozen=True, slots=True)
class TrialBase:
    """A kernel base that belongs to the trial.

    Args:
        source: keys of `source` in base.yaml.
        config: config fragments in order. A later fragment overrides an earlier one.
        like: a base of the checkout. Only config options differ between that base and this base.
            "" if there is no such base.
        asked: options of --config, by names with CONFIG_.
    """

    name: str
    about: str
    series: str
    source: dict[str, Any]
    config: tuple[Path, ...]
    like: str = ""
    asked: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Trial:
    """A trial whose parts have all been checked.

    Args:
        functions: globs of --fn.
        trace: events and probes of --trace.
        watch: functions of --watch, whose accesses the microscope counts.
        xray: variables of --xray, whose values the x-ray reads.
        timeout: maximum time in s for all `times` runs together. If they take longer, the command
            counts as failed.
        comm: glob for task names; "" means the tasks of the command.
        given: command line that repeats the trial, for the report.
        check: command line that searches these kernels for bugs; "" if they cannot be checked.
        said: sentences that tell the user what was read.
    """

    name: str
    arms: tuple[TrialArm, ...]
    command: Command
    clock: Clock = "wall"
    times: int = 1
    timeout: int = TIMEOUT_S
    vcpus: int = 2
    memory_mb: int = 1024
    functions: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    xray: tuple[str, ...] = ()
    comm: str = ""
    headline: Headline | None = None
    bases: tuple[TrialBase, ...] = ()
    given: str = field(default="", compare=False, repr=False)
    check: str = field(default="", compare=False, repr=False)
    said: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def own_patches(self) -> list[Patch]:
        """Patches of all kernels in order, except patches that every kernel has."""
        shared = set(self.arms[0].patches).intersection(*(arm.patches for arm in self.arms))
        return [p for arm in self.arms for p in arm.patches if p not in shared]

    @property
    def slug(self) -> str:
        return SLUG_PREFIX + self.name

    @property
    def program(self) -> str:
        """Name of the program in the guest that runs the command."""
        return f"run-{self.name}"


def plain_name(text: str) -> str:
    """Return a name for files and arms with only lower-case letters, digits and dashes."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return name[:MOST_NAME].strip("-") or "trial"
