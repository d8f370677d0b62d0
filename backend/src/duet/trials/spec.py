# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain data of a trial: kernels, a command, and what is traced."""

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
"""Prefix of a trial's lesson; lessons in the checkout count from 01."""
MOST_NAME = 40
TIMEOUT_S = 180
"""Timeout of all runs of the command in one guest, by the guest's clock."""
Better = Literal["higher", "lower"]
"""The direction in which a number improves."""


@dataclass(frozen=True, slots=True)
class TrialArm:
    """One kernel of a trial.

    Args:
        base: name of its base; None means the default.
        about: one line under its name.
        source: facts on its source tree; None if its base says all.
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
        config: fragments in order; a later one overrides an earlier one.
        like: the base of the checkout that it equals except for options; "" if none.
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
    """Everything that was requested, checked.

    Args:
        functions: globs of --fn.
        trace: of --trace.
        watch: functions of --watch, whose accesses the microscope counts.
        xray: variables of --xray, whose values are read.
        timeout: seconds after which the command has failed, for all its `times` together.
        comm: glob for names of tasks; "" means those of the command.
        given: command line that makes the trial again, for the report.
        check: command line that searches these kernels for bugs; "" if there is none.
        said: sentences about what was read, for the user.
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
        """Patches that not all kernels share, in order."""
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
    """Return a name for files and arms, of lower-case letters, digits and dashes."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return name[:MOST_NAME].strip("-") or "trial"
