# SPDX-License-Identifier: GPL-2.0-or-later
"""What `duet class` prints with `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """A class."""

    class_id: str
    title: str
    lesson: str
    started_at: str = key("ISO 8601 UTC")
    open: bool = key("bool")
    members: int = key()


@dataclass(frozen=True, slots=True)
class ClassResult:
    """Of `duet class`."""

    action: str
    classes: Sequence[ClassEntry] = key()
    deleted: int = key("rows: the member, answers, questions and votes")
