# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults in a copy of a lesson, and the problems that the lint then reports."""

from __future__ import annotations

from pathlib import Path

from duet.base.errors import InfraError
from duet.kernels.image import KernelImage
from duet.lint.lessons import Problem, lint_lesson

SLUG = "02-grace-periods"
YAML = (
    "lesson.yaml",
    "trace.yaml",
    "story.yaml",
    "evidence.yaml",
    "terms.yaml",
    "recap.yaml",
    "challenges.yaml",
)


def not_built(*_: object) -> KernelImage:
    """Replacement of find_image() that finds no kernel."""
    raise InfraError("the kernel is not built yet.", remedy="Build it.")


def without_block(text: str, key: str) -> str:
    """Return YAML text without one top-level key; used for claims, which need recorded tables."""
    lines, inside = [], False
    for line in text.splitlines(keepends=True):
        if not line.startswith((" ", "#", "-", "\n")):
            inside = line.startswith(f"{key}:")
        if not inside:
            lines.append(line)
    return "".join(lines)


def file_with(copy: Path, text: str) -> Path:
    """Return the YAML file of the lesson that contains a text."""
    folder = copy / "lessons" / SLUG
    found = [
        folder / n for n in YAML if (folder / n).is_file() and text in (folder / n).read_text()
    ]
    assert len(found) == 1, (text, found)
    return found[0]


def plant(copy: Path, old: str, new: str) -> None:
    """Replace a text of one of the YAML files."""
    path = file_with(copy, old)
    path.write_text(path.read_text().replace(old, new, 1))


def problems() -> list[Problem]:
    """Return the lint's problems of the lesson in $DUET_ROOT."""
    return lint_lesson(SLUG)[0]


def line_of(copy: Path, problem: Problem) -> str:
    """Return the line that a problem refers to."""
    return (copy / problem.file).read_text().splitlines()[problem.line - 1]
