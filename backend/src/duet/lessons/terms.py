# SPDX-License-Identifier: GPL-2.0-or-later
"""The terms of a lesson as a reader gets them: shared ones filled in, drawings as text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from duet.lessons.document import read
from duet.lessons.drawings import FOLDER, read_drawing
from duet.lessons.load import LessonFolder
from duet.lessons.problems import LessonError, Problem, found, key_of
from duet.lessons.schema import Term, TermsFile
from duet.settings import repo_root

COMMON = "_common"
"""The folder of `lessons` with the terms that several lessons use."""
FILE = "terms.yaml"


@dataclass(frozen=True, slots=True)
class Explained:
    """A term with all of its parts.

    Args:
        drawing: the file of its drawing; None: it has none.
    """

    term: Term
    drawing: Path | None


def common_folders(folder: Path) -> tuple[Path, ...]:
    """Where terms that a lesson shares are looked for: its neighbour, then the checkout's."""
    own, ours = folder.parent / COMMON, repo_root() / "lessons" / COMMON
    return (own,) if own == ours else (own, ours)


def read_common(folder: Path) -> tuple[Term, ...]:
    """The terms of a common folder; none where it has no file.

    Raises:
        LessonError: the file is not usable; every problem names file, line and key.
    """
    path = folder / FILE
    if not path.is_file():
        return ()
    name = f"{folder.parent.name}/{folder.name}/{FILE}"
    document = read(path, name)
    try:
        return TermsFile.model_validate(document.values).terms
    except ValidationError as error:
        raise LessonError(
            [
                Problem(name, document.line(one.place), key_of(one.place), one.sentence, one.remedy)
                for one in found(error)
            ]
        ) from error


def explained(lesson: LessonFolder) -> tuple[Explained, ...]:
    """The terms of a lesson in order; a shared one that no common file has is left out.

    Raises:
        LessonError: a common file is not usable.
    """
    whole: list[Explained] = []
    for term in lesson.lesson.terms:
        one = _shared(lesson.folder, term) if term.shared else _placed(lesson.folder, term)
        if one is not None:
            whole.append(one)
    return tuple(whole)


def _shared(folder: Path, term: Term) -> Explained | None:
    for place in common_folders(folder):
        for one in read_common(place):
            if one.name == term.name:
                return _placed(place, one.model_copy(update={"entry": term.entry}))
    return None


def _placed(folder: Path, term: Term) -> Explained:
    return Explained(term, folder / FOLDER / term.drawing if term.drawing else None)


def sources(lesson: LessonFolder) -> list[Path]:
    """Files beside the lesson's own YAML that its terms are made of."""
    if not lesson.lesson.terms:
        return []
    places = (lesson.folder, *common_folders(lesson.folder))
    drawn = [path for place in places for path in sorted((place / FOLDER).glob("*.svg"))]
    return [*(place / FILE for place in places[1:]), *drawn]


def drawing_texts(terms: Iterable[Explained]) -> dict[str, str]:
    """Name of a term -> its drawing; one that may not be shown is left out."""
    texts = {one.term.name: read_drawing(one.drawing) for one in terms if one.drawing}
    return {name: text for name, text in texts.items() if text}


def pattern(forms: Iterable[str]) -> re.Pattern[str]:
    """Finds any of the forms as whole words; what is written small may begin with a capital.

    The page has the same rule (frontend/src/panels/terms/matcher.ts).
    """
    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(_either, longest_first))})(?![\w-])")


def _either(form: str) -> str:
    first, rest = form[0], r"\s+".join(map(re.escape, form[1:].split(" ")))
    return f"[{first}{first.upper()}]{rest}" if first.islower() else re.escape(first) + rest
