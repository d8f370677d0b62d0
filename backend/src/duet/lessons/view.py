# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson as the page gets it: its files as a tree, with patch texts, prose and recordings."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from email.parser import HeaderParser
from email.policy import default as mail_policy
from pathlib import Path

from pydantic import JsonValue

from duet.errors import InputError
from duet.lessons.load import LessonFolder
from duet.lessons.terms import Explained, drawing_texts, explained

HEADING = re.compile(r"^##\s+([a-z0-9][a-z0-9_-]*)\s*$", re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
PREFIX = re.compile(r"^\s*(\[[^\]]*\]\s*)+")
REMEDY = "Make it anew with: git format-patch -1 --zero-commit --no-signature."
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
        InputError: absent, too large, or not as git format-patch writes it.
    """
    if not path.is_file():
        raise InputError(f"the patch {path.name} does not exist.", remedy=REMEDY)
    if path.stat().st_size > MAX_PATCH_BYTES:
        raise InputError(f"the patch {path.name} is larger than 1 MiB.", remedy=REMEDY)
    return parse_patch(path.name, path.read_text(encoding="utf-8", errors="replace"))


def parse_patch(name: str, raw: str) -> Patch:
    """Take a patch apart.

    Raises:
        InputError: it is not as git format-patch writes it.
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
    """The Markdown under each `## id`; comments are taken out."""
    parts = HEADING.split(COMMENT.sub("", content))
    return {ident: text.strip() for ident, text in zip(parts[1::2], parts[2::2], strict=True)}


def lesson_tree(
    folder: LessonFolder, recordings: list[dict[str, JsonValue]], ready: dict[str, bool]
) -> dict[str, JsonValue]:
    """Everything about a lesson, for the page.

    Args:
        recordings: what RecordedRuns.listing says.
        ready: arm -> its kernel is built.
    """
    tree: dict[str, JsonValue] = folder.lesson.model_dump(mode="json")
    tree["slug"] = folder.slug
    tree["content"] = dict(sections(folder.content()))
    if folder.lesson.view is None:  # no scenes to put the prose at: it is read as it stands
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
    """The lesson's terms; a common file that is not usable, which lint reports, has none."""
    try:
        return explained(folder)
    except InputError:
        return ()


def _patch_tree(path: Path) -> JsonValue:
    """A patch, or what is wrong with it; the lesson can still be shown without."""
    try:
        patch = read_patch(path)
    except InputError as error:
        return {"file": path.name, "subject": error.sentence, "body": "", "text": ""}
    return asdict(patch)
