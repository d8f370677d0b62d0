# SPDX-License-Identifier: GPL-2.0-or-later
"""What the page says where scripts are off: a still of its address's moment, and the step's text.

Everything from the address is written anew: known words only, encoded, then escaped.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from urllib.parse import parse_qs, urlencode

from duet.api.still_request import WORDS
from duet.errors import DuetError, InfraError
from duet.export.browser import find_chromium
from duet.lessons import cache as lesson_cache
from duet.lessons.load import LessonFolder, slugs
from duet.lessons.outline import outline
from duet.lessons.prose import Laid, step_text
from duet.lessons.translations import laid_over
from duet.lessons.typed import meant_by, scene_called

LONGEST = 200
"""Longer values than any of the page's own are left out."""
FIELDS = 100
OFF = "This page plays it with JavaScript, which is switched off here."
MAIN = '<main style="max-width: 120rem; margin: 0 auto; padding: 0.5rem 1rem; line-height: 1.5">'
FITS = "display: block; width: 100%; max-width: calc((100vh - {}rem) * 16 / 9); margin: 0 auto"
"""The picture and what stands around it, in whatever frame."""
AROUND_REM = {True: 6, False: 9}
BELOW = "max-width: 44rem; margin: 1.5rem auto"
WORDS_STYLE = "text-align: center; margin: 0.5rem"


def noscript(query: str) -> str:
    """The inside of the page's <noscript>.

    Args:
        query: of the request, as it came.
    """
    words = _words(query)
    bare = words.pop("embed", "") == "1"
    language = words.pop("lang", "")
    try:
        typed = words.get("lesson", "")
        words["lesson"] = meant_by(typed, slugs()) or typed
        folder = lesson_cache.find(words["lesson"])
    except DuetError:
        return f"{MAIN}{_contents()}</main>"
    if (scene := scene_called(folder.lesson.scenes, words.get("step"))) is not None:
        words["step"] = scene.id
    said = _said(folder, language)
    question = escape(said.get(("question",), folder.lesson.question))
    heading = "" if bare else f'<h1 style="{WORDS_STYLE}">{question}</h1>\n'
    text = f"{step_text(folder, words.get('step'), said)}\n{outline(folder)}"
    below = "" if bare else f'\n<div style="{BELOW}">{text}</div>'
    return f"{MAIN}\n{heading}{_still(folder, words, bare)}{below}\n</main>"


def _said(folder: LessonFolder, language: str) -> Laid:
    """The lesson's texts in the address's language; what it does not have is English."""
    try:
        return dict(laid_over(folder, language))
    except DuetError:  # duet lint reports it
        return {}


def _still(folder: LessonFolder, words: Mapping[str, str], bare: bool) -> str:
    if folder.lesson.view is None:
        return f"<p>{escape(folder.lesson.title)} has no picture yet.</p>"
    try:
        find_chromium()
    except InfraError as error:
        return f"<p>No still: {escape(error.sentence)} {OFF}</p>"
    said = "A still of a recorded run."
    run = words.get("run", "")
    if run.startswith("kept:"):
        said += " While a live run goes on, this is the lesson’s own recording in its place."
    source = escape("./still.png?" + urlencode(words, safe=",:"))
    style = FITS.format(AROUND_REM[bare])
    return (
        f'<img src="{source}" alt="{_alt(folder, words)}" style="{style}">\n'
        f'<p style="{WORDS_STYLE}">{said} {OFF}</p>'
    )


def _alt(folder: LessonFolder, words: Mapping[str, str]) -> str:
    """The step's title, and the question."""
    lesson = folder.lesson
    scene = scene_called(lesson.scenes, words.get("step"))
    title = lesson.title if scene is None else scene.title
    return escape(f"A still of a recorded run: {title}. {lesson.question}")


def _contents() -> str:
    """All lessons, for an address that names none."""
    links = "".join(
        f'<li><a href="?{urlencode({"lesson": f.slug})}">{escape(f.lesson.question)}</a></li>'
        for f in lesson_cache.usable()
    )
    return (
        "<h1>Kernel Duet</h1>\n<p>Two kernels, one workload, one screen. The pictures move with "
        f"JavaScript, which is switched off here; each lesson has a still.</p>\n<ul>{links}</ul>"
    )


def _words(query: str) -> dict[str, str]:
    """Of each known word the first value, as the page reads it."""
    try:
        found = parse_qs(query, max_num_fields=FIELDS)
    except ValueError:  # more fields than any address has
        return {}
    known = {name: found[name][0] for name in (*WORDS, "embed", "lang") if name in found}
    return {name: value for name, value in known.items() if len(value) <= LONGEST}
