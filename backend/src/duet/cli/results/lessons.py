# SPDX-License-Identifier: GPL-2.0-or-later
"""What verbs about lessons print with `--json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duet.cli.results.keys import key


@dataclass(frozen=True, slots=True)
class NewResult:
    """Of `duet new`."""

    lesson: str = key("slug")
    folder: str = key()
    patches: str = key()
    program: str = key()
    known: bool = key("bool")


@dataclass(frozen=True, slots=True)
class LintResult:
    """Of `duet lint`."""

    ok: bool = key("bool")
    lessons: Sequence[str] = key(shape="[slug]")
    problems: Sequence[Mapping[str, object]] = key(
        shape="[{lesson, where, sentence, remedy, file, line, key}]"
    )
    not_checked: Sequence[str] = key(shape="[sentence]")


@dataclass(frozen=True, slots=True)
class CommonViewNames:
    """Names that every lesson may use, of `duet views`."""

    sentences: Mapping[str, str]
    moments: Mapping[str, str]
    answers: Mapping[str, str]
    show: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ViewEntry:
    """One view of `duet views`."""

    draws: str
    needs: Sequence[str] = key(shape="[text]")
    points: Mapping[str, Sequence[str]] = key(shape="{name: [field]}")
    layers: Sequence[str] = key()
    marks: Sequence[str] | str = key()
    only_in_focus: Mapping[str, object] | None = key()
    sentences: Mapping[str, str] = key()
    moments: Mapping[str, str] = key()
    answers: Mapping[str, str] = key()
    panels: Mapping[str, Mapping[str, str]] = key(shape="{name: {title, evidence, about}}")
    parts: Mapping[str, str] = key()
    toys: Mapping[str, str] = key()
    quantities: Mapping[str, str] = key()
    knobs: Mapping[str, str] = key()
    counts: str = key()
    lessons: Sequence[str] = key(shape="[slug]")


@dataclass(frozen=True, slots=True)
class ViewsResult:
    """Of `duet views`."""

    common: CommonViewNames = key()
    views: Mapping[str, ViewEntry] = key(per="name")
