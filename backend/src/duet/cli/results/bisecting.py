# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet bisect` prints with `--json`, and writes as report.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class BisectCommit:
    """A commit."""

    commit: str
    subject: str
    author: str
    date: str
    parents: Sequence[str]


@dataclass(frozen=True, slots=True)
class BisectStep:
    """One commit that was measured, or skipped."""

    step: int = key("0: the bad commit")
    commit: str = key()
    subject: str = key()
    answer: str = key("good, bad or skip")
    worse_percent: float | None = key()
    good_value: float | None = key()
    value: float | None = key()
    unit: str = key()
    why: str = key("sentence")
    measured_before: bool = key()


@dataclass(frozen=True, slots=True)
class BisectResult:
    """Of `duet bisect`."""

    name: str
    good: str
    bad: str
    command: str
    metric: str
    clock: str
    worse_than: float = key("per cent")
    culprit: BisectCommit | None = key("null: only skipped commits are left")
    parent: str | None = key()
    candidates: Sequence[str] = key()
    steps: Sequence[BisectStep] = key()
    report: str = key("path")
    trial: str | None = key("command line of parent and culprit")
    trial_folder: str | None = key("what DUET_LESSONS is to name; null with --no-trial")
