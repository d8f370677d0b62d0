# SPDX-License-Identifier: GPL-2.0-or-later
"""A picture as SVG: text stays text, marks stay shapes.

The open page is drawn once more, by a script of its own (frontend/src/svg) with a pen that writes
shapes. Chromium's own way, over PDF, gives pixels for canvases and outlines for text.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from duet.bundle import read_manifest
from duet.errors import InfraError
from duet.export.browser import Browser
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Scene
from duet.settings import repo_root

SCRIPT = "frontend/dist/svg/svg.js"
ID_DIGITS = 8
MOMENT = "document.querySelector('[data-testid=moment]')?.textContent ?? ''"
"""The page's own words: it may count from another point than the start of the workload."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a picture says of itself, to those who do not see it and to those who find the file."""

    title: str
    desc: str

    @property
    def id(self) -> str:
        """Prefix of the ids, so that two pictures can stand in one document."""
        content = f"{self.title}\n{self.desc}".encode()
        return "duet-" + hashlib.sha256(content).hexdigest()[:ID_DIGITS]


def words_of(folder: LessonFolder, path: Path, scene: Scene, moment: str) -> Words:
    """Lesson, recording and moment in words."""
    lesson, manifest = folder.lesson, read_manifest(path)
    return Words(
        title=f"{lesson.title}: {scene.title}",
        desc=(
            f"{lesson.question} Lesson {folder.slug}, step {scene.id}. A recorded run, not a live "
            f"one: {path.stem}, of {manifest.created}. Moment: {moment}. Drawn by Kernel Duet."
        ),
    )


def script() -> str:
    """The built script.

    Raises:
        InfraError: it is not built, or is being built just now.
    """
    try:
        return (repo_root() / SCRIPT).read_text()
    except OSError as error:
        raise InfraError(
            "the script that draws the page as SVG is not built.", remedy="Run ./setup.sh page."
        ) from error


async def drawn(browser: Browser, folder: LessonFolder, path: Path, scene: Scene) -> bytes:
    """The open page, which shows a moment of a recording, as SVG.

    Raises:
        InfraError: a part of the page cannot be drawn as shapes, or what came is no XML.
    """
    await browser.evaluate(script())
    words = words_of(folder, path, scene, str(await browser.evaluate(MOMENT)))
    given = json.dumps({"title": words.title, "desc": words.desc, "id": words.id})
    text = str(await browser.evaluate(f"duetSvg.picture({given})"))
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InfraError(
            "what was drawn is no well-formed SVG.",
            remedy="Export to png, and report this with the recording.",
            detail=str(error),
        ) from error
    return text.encode()
