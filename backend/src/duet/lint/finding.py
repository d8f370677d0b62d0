# SPDX-License-Identifier: GPL-2.0-or-later
"""What a rule of the lint gets, and what it yields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from duet.lessons.document import meant
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Place
from duet.lessons.view import Catalogue, View


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Args:
        sentence: what was wanted and what came, without a full stop.
        remedy: what to do now, a whole sentence.
        place: keys and indices of a value in the lesson's YAML files.
        file: what else it is about, such as a patch or a program; None: the YAML files.
        line: of `file`, from 1.
        where: what `where` says in the JSON document; default: the key, or the file's name.
    """

    sentence: str
    remedy: str
    place: Place = ()
    file: Path | None = None
    line: int = 1
    where: str = ""


@dataclass(frozen=True, slots=True)
class NotChecked:
    """Something that could not be checked here, and why; it is no problem."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Subject:
    """What rules look at.

    Args:
        root: of the checkout.
        catalogue: the page's views.
    """

    folder: LessonFolder
    root: Path
    catalogue: Catalogue
    view: View | None = field(default=None)
    """The lesson's own view; None: it has none, or one that does not exist."""


Rule = Callable[[Subject], Iterator[Finding | NotChecked]]


def unknown(what: str, name: str, known: Iterable[str], place: Place) -> Finding:
    """A name that is not among those that are known, e.g. `the view hog-rows has no sentence`."""
    names = list(known)
    remedy = f"Choose from: {', '.join(names)}." if names else "Remove it."
    return Finding(f"{what} '{name}'{meant(name, names)}", remedy, place)
