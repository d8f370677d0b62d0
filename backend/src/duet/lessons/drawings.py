# SPDX-License-Identifier: GPL-2.0-or-later
"""Drawings of terms: small SVG files with shapes and words in the page's colours.

The page builds a drawing from its text, element by element. Elements that could run code, load
files or be styled from outside are refused here, and the page omits them
(frontend/src/panels/terms/terms.tsx).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

FOLDER = "drawings"
MAX_BYTES = 16 * 1024
BOX = "0 0 240 120"
"""The viewBox of each drawing, so that drawings fit side by side."""
NAMESPACE = "http://www.w3.org/2000/svg"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ELEMENTS = _words("svg title g path rect circle ellipse line polyline polygon text tspan")
ATTRIBUTES = _words(
    "xmlns viewBox d x y x1 y1 x2 y2 cx cy r rx ry dx dy width height points transform "
    "fill stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin opacity "
    "text-anchor font-size font-weight font-style font-family"
)
COLOURS = _words(
    "paper panel sunk ink soft faint rule staff hold work wait vain gain mechanism hazard idle "
    "other wait-ink gain-ink mechanism-ink hazard-ink"
)
"""Variables in frontend/src/ui/tokens.css that have a light and a dark value."""
FONTS = ("var(--font-ui)", "var(--font-text)", "var(--font-code)")
PAINTED = ("fill", "stroke")
VARIABLE = re.compile(r"^var\(--([a-z-]+)\)$")
PLAIN = re.compile(r"^[A-Za-z0-9\s.,()+-]*$")
SHAPES_ONLY = "Draw with shapes and text; a drawing must not act or load anything."
REDRAW = "Use none, currentColor or a variable of the theme: " + ", ".join(
    f"var(--{name})" for name in sorted(COLOURS)
)


@dataclass(frozen=True, slots=True)
class Flaw:
    """Forbidden content of a drawing, with its line number, counted from 1."""

    line: int
    sentence: str
    remedy: str


def flaws(data: bytes) -> list[Flaw]:
    """Return the flaws of a drawing. Without flaws, the drawing may be shown."""
    if len(data) > MAX_BYTES:
        sentence = f"a drawing has at most {MAX_BYTES} bytes, not {len(data)}"
        return [Flaw(1, sentence, "Draw fewer shapes.")]
    reader = _Reader()
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        said = expat.errors.messages[error.code]
        reader.found.append(Flaw(error.lineno, f"this is not XML: {said}", "Correct that line."))
        return reader.found
    if not reader.titled:
        remedy = "Add <title> with a sentence for screen readers."
        reader.found.append(Flaw(1, "the drawing has no title", remedy))
    return reader.found


def read_drawing(path: Path) -> str:
    """Read a drawing; "" if it is missing or has flaws."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return ""
        data = path.read_bytes()
    except OSError:
        return ""
    return "" if flaws(data) else data.decode("utf-8")


class _Reader:
    """Parses a drawing and collects its flaws, without loading other files."""

    def __init__(self) -> None:
        self.found: list[Flaw] = []
        self.titled = False
        self._open: list[str] = []
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = lambda _name: self._open.pop()
        self.parser.CharacterDataHandler = self._text
        self.parser.ProcessingInstructionHandler = lambda *_: self._flaw(
            "a processing instruction", SHAPES_ONLY
        )
        self.parser.StartDoctypeDeclHandler = lambda *_: self._flaw("a DOCTYPE", SHAPES_ONLY)

    def _flaw(self, sentence: str, remedy: str) -> None:
        self.found.append(Flaw(self.parser.CurrentLineNumber, sentence, remedy))

    def _text(self, text: str) -> None:
        self.titled |= self._open[-1:] == ["title"] and bool(text.strip())

    def _start(self, name: str, given: Mapping[str, str]) -> None:
        first = not self._open
        self._open.append(name)
        if first:
            self._root(name, given)
        elif name not in ELEMENTS or name == "svg":
            self._flaw(f"a drawing has no element '{name[:40]}'", SHAPES_ONLY)
        for key, value in given.items():
            self._attribute(key, value)

    def _root(self, name: str, given: Mapping[str, str]) -> None:
        if name != "svg" or given.get("xmlns") != NAMESPACE:
            self._flaw("the file does not begin with an svg element", f"Add xmlns='{NAMESPACE}'.")
        if given.get("viewBox") != BOX:
            self._flaw(f"the viewBox is not '{BOX}'", f"Write viewBox='{BOX}' and draw inside.")

    def _attribute(self, key: str, value: str) -> None:
        if key not in ATTRIBUTES:
            self._flaw(f"a drawing has no attribute '{key[:40]}'", SHAPES_ONLY)
        elif key in PAINTED:
            named = VARIABLE.match(value)
            if value not in ("none", "currentColor") and not (named and named[1] in COLOURS):
                self._flaw(f"the colour '{value[:40]}' does not follow the theme", f"{REDRAW}.")
        elif key == "font-family":
            if value not in FONTS:
                self._flaw(f"the font '{value[:40]}' is not a font of the page", f"Use {FONTS[2]}.")
        elif key != "xmlns" and not PLAIN.match(value):
            self._flaw(
                f"the value of '{key}' has forbidden characters: '{value[:40]}'", SHAPES_ONLY
            )
