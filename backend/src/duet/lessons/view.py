# SPDX-License-Identifier: GPL-2.0-or-later
"""Build the tree that the page gets for a lesson: files, patches, prose and recordings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from email.parser import HeaderParser
from email.policy import default as mail_policy
from functools import cache
from html import escape
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from duet.base.errors import InfraError, InputError
from duet.base.settings import repo_root
from duet.lessons.document import LessonError, Problem, found, key_of, read, scene_called
from duet.lessons.drawings import FOLDER, read_drawing
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Place, Term, TermsFile

# The page's views, and the names that lessons may use in them, from views.gen.json (`make
# contract`).

CATALOGUE = Path(__file__).with_name("views.gen.json")
Layer = Literal["state", "function", "track", "mark"]


class _Generated(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ViewPanel(_Generated):
    """A panel that a step's `show` can name."""

    title: str
    evidence: Literal["measured", "counted", "modelled"]
    about: str


class OnlyInFocus(_Generated):
    """A layer in which a step draws only kinds that are in focus or have a colour in `but`."""

    layer: Layer
    but: tuple[str, ...]


class View(_Generated):
    """One view. Dictionaries map a name to a sentence; see frontend/src/views/about.ts.

    `marks` is 'points' if the view's kinds are the names of the lesson's points.
    """

    draws: str
    needs: tuple[str, ...]
    points: dict[str, tuple[str, ...]]
    layers: tuple[Layer, ...]
    marks: tuple[str, ...] | Literal["points"]
    only_in_focus: OnlyInFocus | None
    sentences: dict[str, str]
    moments: dict[str, str]
    answers: dict[str, str]
    panels: dict[str, ViewPanel]
    parts: dict[str, str]
    toys: dict[str, str]
    quantities: dict[str, str]
    knobs: dict[str, str]
    counts: str


class CommonNames(_Generated):
    """Names that every lesson may use with any view."""

    sentences: dict[str, str]
    moments: dict[str, str]
    answers: dict[str, str]
    show: dict[str, str]


class Catalogue(_Generated):
    """All views by name."""

    common: CommonNames
    views: dict[str, View]

    def sentences(self, view: View) -> tuple[str, ...]:
        """Return the names that a step's `sentence` may have."""
        return (*self.common.sentences, *view.sentences)

    def moments(self, view: View) -> tuple[str, ...]:
        """Return the names that a step's `moment` may have."""
        return (*self.common.moments, *view.moments)

    def answers(self, view: View) -> tuple[str, ...]:
        """Return the names that a prediction's `metric` may have."""
        return (*self.common.answers, *view.answers)

    def shows(self, view: View) -> tuple[str, ...]:
        """Return the names that a step's `show` may have."""
        return (*self.common.show, *view.parts, *view.panels)


@cache
def read_views() -> Catalogue:
    """Read the catalogue of this checkout.

    Raises:
        InfraError: the file is absent or has another format.
    """
    try:
        return Catalogue.model_validate_json(CATALOGUE.read_bytes())
    except (OSError, ValidationError) as error:
        raise InfraError(
            f"{CATALOGUE.name}, the catalogue of views, cannot be read.",
            remedy="Run `make contract`, which writes the file.",
            detail=str(error),
        ) from error


# A lesson's terms for the page, with shared terms filled in and drawings as SVG text.

COMMON = "_common"
"""Subfolder of `lessons` with the terms that several lessons share."""
FILE = "terms.yaml"


@dataclass(frozen=True, slots=True)
class Explained:
    """A term with all its parts.

    Args:
        drawing: the term's drawing file; None if the term has none.
    """

    term: Term
    drawing: Path | None


def common_folders(folder: Path) -> tuple[Path, ...]:
    """Return the folders of shared terms: first the one next to the lesson, then the checkout's."""
    own, ours = folder.parent / COMMON, repo_root() / "lessons" / COMMON
    return (own,) if own == ours else (own, ours)


def read_common(folder: Path) -> tuple[Term, ...]:
    """Read the terms in a common folder; empty if the folder has no terms file.

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
    """Return a lesson's terms in order. A shared term is omitted if no common file contains it.

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
    """Return the files, other than the lesson's own YAML, on which its terms depend."""
    if not lesson.lesson.terms:
        return []
    places = (lesson.folder, *common_folders(lesson.folder))
    drawn = [path for place in places for path in sorted((place / FOLDER).glob("*.svg"))]
    return [*(place / FILE for place in places[1:]), *drawn]


def drawing_texts(terms: Iterable[Explained]) -> dict[str, str]:
    """Return drawings by name of the term, without drawings that have flaws."""
    texts = {one.term.name: read_drawing(one.drawing) for one in terms if one.drawing}
    return {name: text for name, text in texts.items() if text}


def pattern(forms: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches the forms as whole words, also with a capital first letter.

    The page uses the same rule (frontend/src/panels/terms/terms.tsx).
    """
    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(_either, longest_first))})(?![\w-])")


def _either(form: str) -> str:
    first, rest = form[0], r"\s+".join(map(re.escape, form[1:].split(" ")))
    return f"[{first}{first.upper()}]{rest}" if first.islower() else re.escape(first) + rest


HEADING = re.compile(r"^##\s+([a-z0-9][a-z0-9_-]*)\s*$", re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
PREFIX = re.compile(r"^\s*(\[[^\]]*\]\s*)+")
REMEDY = "Make it again with: git format-patch -1 --zero-commit --no-signature."
MAX_PATCH_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Patch:
    """One patch in the form of git format-patch."""

    file: str
    subject: str
    body: str
    text: str


def read_patch(path: Path) -> Patch:
    """Read a patch file.

    Raises:
        InputError: the file is absent, too large, or not in the form of git format-patch.
    """
    if not path.is_file():
        raise InputError(f"the patch {path.name} does not exist.", remedy=REMEDY)
    if path.stat().st_size > MAX_PATCH_BYTES:
        raise InputError(f"the patch {path.name} is larger than 1 MiB.", remedy=REMEDY)
    return parse_patch(path.name, path.read_text(encoding="utf-8", errors="replace"))


def parse_patch(name: str, raw: str) -> Patch:
    """Parse a patch.

    Raises:
        InputError: the text is not in the form of git format-patch.
    """
    head, mark, diff = raw.partition("\ndiff --git ")
    if not raw.startswith("From ") or not mark:
        raise InputError(f"the patch {name} is not in the form of git format-patch.", remedy=REMEDY)
    mail = HeaderParser(policy=mail_policy).parsestr(head.partition("\n")[2])
    subject = PREFIX.sub("", str(mail["subject"] or "").replace("\n", ""))
    if not subject:
        raise InputError(f"the patch {name} has no subject.", remedy=REMEDY)
    message = re.split(r"^---\s*$", str(mail.get_payload()), maxsplit=1, flags=re.MULTILINE)[0]
    return Patch(name, subject, message.strip(), "diff --git " + diff)


def sections(content: str) -> dict[str, str]:
    """Return the Markdown under each `## id`, without comments."""
    parts = HEADING.split(COMMENT.sub("", content))
    return {ident: text.strip() for ident, text in zip(parts[1::2], parts[2::2], strict=True)}


def lesson_tree(
    folder: LessonFolder, recordings: list[dict[str, JsonValue]], ready: dict[str, bool]
) -> dict[str, JsonValue]:
    """Return all data of a lesson that the page needs.

    Args:
        recordings: from Recordings.listing.
        ready: whether the kernel is built, by arm.
    """
    tree: dict[str, JsonValue] = folder.lesson.model_dump(mode="json")
    tree["slug"] = folder.slug
    tree["content"] = dict(sections(folder.content()))
    # Without scenes, the page shows all of the prose.
    if folder.lesson.view is None:
        tree["prose"] = COMMENT.sub("", folder.content()).strip()
    tree["recordings"] = list(recordings)
    terms = _terms(folder)
    tree["terms"] = [one.term.model_dump(mode="json") for one in terms]
    tree["drawings"] = dict(drawing_texts(terms))
    tree["ready"] = dict(ready)
    arms = tree["arms"]
    assert isinstance(arms, list)
    for arm, model in zip(arms, folder.lesson.arms, strict=True):
        assert isinstance(arm, dict)
        texts = [_patch_tree(path) for path in folder.patch_files(model.name)]
        if model.name in folder.brought:
            name = f"{model.name}.patch"
            texts.append(asdict(parse_patch(name, folder.brought[model.name])))
        arm["patch_texts"] = texts
    return tree


def _terms(folder: LessonFolder) -> tuple[Explained, ...]:
    """Return the lesson's terms; empty if a common file is invalid, which `duet lint` reports."""
    try:
        return explained(folder)
    except InputError:
        return ()


def _patch_tree(path: Path) -> JsonValue:
    """Return a patch. The subject of an invalid patch is the error, so the page can show it."""
    try:
        patch = read_patch(path)
    except InputError as error:
        return {"file": path.name, "subject": error.sentence, "body": "", "text": ""}
    return asdict(patch)


# The text of a step as plain HTML, for browsers without scripts.


Laid = Mapping[Place, str]
ENGLISH: Final[Laid] = {}

PREDICTED = re.compile(r"^---[ \t]*$", re.MULTILINE)
"""Text below this line is shown only after the viewer has made a prediction."""
PARAGRAPHS = re.compile(r"\n\s*\n")
CODE = re.compile(r"`([^`]+)`")
STRONG = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
STRESSED = re.compile(r"\*(.+?)\*", re.DOTALL)


def step_text(folder: LessonFolder, step: str | None, said: Laid = ENGLISH) -> str:
    """Return a step's title and text as escaped HTML. Text after the prediction is collapsed.

    Args:
        step: word for the step (see scene_called); None or an unknown word means the first scene.
        said: texts in another language, by place (lessons/translations.py).
    """
    scenes = folder.lesson.scenes
    scene = scene_called(scenes, step) or next(iter(scenes), None)
    if scene is None or not (text := sections(folder.content()).get(scene.id, "")):
        return ""
    text = said.get(("content", scene.id), text)
    title = said.get(("scenes", scenes.index(scene), "title"), scene.title)
    first, *after = PREDICTED.split(text, maxsplit=1)
    html = f"<h2>{escape(title)}</h2>\n" + "\n".join(_blocks(first))
    if after:
        folded = "".join(_blocks(after[0]))
        html += f"\n<details><summary>After a prediction</summary>{folded}</details>"
    return html


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs as HTML. Tables remain Markdown."""
    for block in filter(None, map(str.strip, PARAGRAPHS.split(text))):
        tag = "pre" if block.startswith("|") else "p"
        yield f"<{tag}>{_inline(block)}</{tag}>"


def _inline(text: str) -> str:
    """Convert Markdown emphasis and code to HTML. Asterisks inside code are literal."""
    safe = CODE.sub(
        lambda found: f"<code>{found[1].replace('*', '&#42;')}</code>", escape(text, quote=False)
    )
    return STRESSED.sub(r"<em>\1</em>", STRONG.sub(r"<b>\1</b>", safe))
