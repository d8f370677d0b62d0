# SPDX-License-Identifier: GPL-2.0-or-later
"""A step's own text as plain HTML, for pages whose scripts are off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from duet.lessons.load import LessonFolder
from duet.lessons.schema import Place
from duet.lessons.typed import scene_called
from duet.lessons.view import sections

Laid = Mapping[Place, str]
ENGLISH: Final[Laid] = {}

PREDICTED = re.compile(r"^---[ \t]*$", re.MULTILINE)
"""What stands below this line is shown when the viewer has predicted."""
PARAGRAPHS = re.compile(r"\n\s*\n")
CODE = re.compile(r"`([^`]+)`")
STRONG = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
STRESSED = re.compile(r"\*(.+?)\*", re.DOTALL)


def step_text(folder: LessonFolder, step: str | None, said: Laid = ENGLISH) -> str:
    """HTML: the step's title and text, all escaped; what would answer its prediction is folded.

    Args:
        step: see scene_called; of an unknown one, or of none, the first scene.
        said: texts in another language, by their places (lessons/translations.py).
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
    """Paragraphs; tables stand as they were typed."""
    for block in filter(None, map(str.strip, PARAGRAPHS.split(text))):
        tag = "pre" if block.startswith("|") else "p"
        yield f"<{tag}>{_inline(block)}</{tag}>"


def _inline(text: str) -> str:
    """Emphasis and code of Markdown; a star in code is none of emphasis."""
    safe = CODE.sub(
        lambda found: f"<code>{found[1].replace('*', '&#42;')}</code>", escape(text, quote=False)
    )
    return STRESSED.sub(r"<em>\1</em>", STRONG.sub(r"<b>\1</b>", safe))
