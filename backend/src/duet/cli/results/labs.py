# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet lab` prints with `--json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class LabEntry:
    """A lab."""

    slug: str
    title: str
    points: float
    deadline: str | None


@dataclass(frozen=True, slots=True)
class LabPerson:
    """One person in a lab."""

    person: str
    name: str
    points: float
    most: float
    complete: bool = key("bool")
    broken: str = key("where the chain of hashes is broken; empty: it is whole")
    tasks: Mapping[str, Any] = key(shape="{task: {points, most, state}}")
    attempts: Sequence[Mapping[str, Any]] = key("as stored")
    grades: Sequence[Mapping[str, Any]] = key("as stored")


@dataclass(frozen=True, slots=True)
class LabResult:
    """Of `duet lab`."""

    action: str
    labs: Sequence[LabEntry] = key()
    people: Sequence[LabPerson] = key()
    deleted: int = key("attempts")
