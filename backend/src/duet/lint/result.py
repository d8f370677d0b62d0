# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of the lint. This module imports nothing slow, so that remembered results are quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from duet.base.files import Stamp


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in a lesson.

    Args:
        where: short name of the part of the lesson, or else file and line.
        sentence: what was expected and what was found, without a full stop.
        file: path relative to the checkout, if the file is inside it; `line` counts from 1.
        key: the key in a YAML file, e.g. 'spans[2].open'; empty for other files.
    """

    lesson: str
    where: str
    sentence: str
    remedy: str
    file: str
    line: int
    key: str = ""

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        return f"{self.file}:{self.line}: {key}{self.sentence}.\n  remedy: {self.remedy}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say of one lesson.

    Args:
        not_checked: reasons for checks that were skipped.
        outside: stamps of files outside the checkout on which the verdict rests.
        lasting: whether the verdict holds until a file changes (see finding.Outside).
        readable: whether the lesson's files could be read, so that the rules were applied.
    """

    problems: tuple[Problem, ...] = ()
    not_checked: tuple[str, ...] = ()
    outside: Mapping[str, Stamp | None] = field(default_factory=dict)
    lasting: bool = True
    readable: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """Result of the lint for some lessons."""

    lessons: tuple[str, ...]
    problems: tuple[Problem, ...]
    not_checked: tuple[str, ...]
