# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of a lint rule's input and output."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from duet.base.files import Stamp, stamp
from duet.lessons.document import meant
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Place
from duet.lessons.view import Catalogue, View


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that a rule has found.

    Args:
        sentence: what was expected and what was found, without a full stop.
        remedy: what to do now, a complete sentence.
        place: keys and indices of a value in the lesson's YAML files.
        file: another file, such as a patch or a program; None for the YAML files.
        line: line number in `file`, from 1.
        where: value of `where` in the JSON output; default: the key, or the file's name.
    """

    sentence: str
    remedy: str
    place: Place = ()
    file: Path | None = None
    line: int = 1
    where: str = ""


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A check that is impossible on this machine, with the reason. This is not a problem."""

    sentence: str


class Outside:
    """Files that a verdict depends on, besides the lessons and the program (see lint/memory.py).

    Attributes:
        stamps: stamp of each file, None if the file is missing.
        lasting: whether the verdict holds until a file changes. It is False after a timeout, and if
            a rule used something that has no stamp.
    """

    def __init__(self) -> None:
        self.stamps: dict[str, Stamp | None] = {}
        self.lasting = True

    def watch(self, *paths: str | Path) -> None:
        """Report files, before reading them."""
        for path in paths:
            if str(path) not in self.stamps:
                self.stamps[str(path)] = stamp(path)

    def watch_program(self, name: str) -> None:
        """Report a program, and the places before it in PATH where another one might appear."""
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
            self.watch(path := Path(folder, name))
            if path.is_file():
                return


@dataclass(frozen=True, slots=True)
class Subject:
    """A lesson as the input of rules.

    Args:
        root: root folder of the checkout.
        catalogue: the page's views.
        outside: where rules report which files outside the checkout they use.
    """

    folder: LessonFolder
    root: Path
    catalogue: Catalogue
    view: View | None = field(default=None)
    """The lesson's view; None if the lesson names no view or an unknown one."""
    outside: Outside = field(default_factory=Outside)


Rule = Callable[[Subject], Iterator[Finding | NotChecked]]


def unknown(what: str, name: str, known: Iterable[str], place: Place) -> Finding:
    """Return the finding for an unknown name, e.g. `the view hog-rows has no sentence 'x'`."""
    names = list(known)
    remedy = f"Choose from: {', '.join(names)}." if names else "Remove it."
    return Finding(f"{what} '{name}'{meant(name, names)}", remedy, place)
