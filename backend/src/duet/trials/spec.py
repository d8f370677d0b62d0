# SPDX-License-Identifier: GPL-2.0-or-later
"""What a trial is: kernels, a command, and what is traced. Plain data."""

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
"""Of the lesson that a trial writes; lessons in the checkout count from 01."""
MOST_NAME = 40
TIMEOUT_S = 180
"""Of all runs of the command in one guest, by the guest's clock."""
Better = Literal["higher", "lower"]
"""Which direction of a number is better."""


@dataclass(frozen=True, slots=True)
class TrialArm:
    """One kernel of a trial.

    Args:
        base: name of its base; None: the usual one.
        about: one line under its name.
        source: the tree that it is made of; None: its base is all there is to say.
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
    """A kernel base of the trial's own.

    Args:
        source: keys of `source` in base.yaml.
        config: fragments, in order; a later one overrides an earlier.
        like: the base of ours that it is but for options; "": none.
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
    """Everything that was asked for, checked.

    Args:
        functions: globs of --fn.
        trace: of --trace.
        watch: functions of --watch, whose accesses are counted.
        xray: paths of --xray, whose numbers are read.
        timeout: seconds after which the command has failed, all its `times` together.
        comm: glob of the tasks' names; "": that of the command.
        given: the command line that makes it again, for the report.
        check: the one that looks for mistakes of the same kernels; "": there is none.
        said: sentences about what was read, for whoever asked.
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
        """Those that the kernels do not have in common, in order."""
        shared = set(self.arms[0].patches).intersection(*(arm.patches for arm in self.arms))
        return [p for arm in self.arms for p in arm.patches if p not in shared]

    @property
    def slug(self) -> str:
        return SLUG_PREFIX + self.name

    @property
    def program(self) -> str:
        """The program in the guest that runs the command."""
        return f"run-{self.name}"


def plain_name(text: str) -> str:
    """A name for files and arms, of small letters, digits and dashes."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return name[:MOST_NAME].strip("-") or "trial"
