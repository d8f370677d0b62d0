# SPDX-License-Identifier: GPL-2.0-or-later
"""Drawings hold shapes and words in the colours of the theme; what acts or loads is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from duet.lessons.drawings import BOX, COLOURS, MAX_BYTES, flaws, read_drawing

SVG = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="{BOX}">
  <title>A line.</title>
  <line x1="0" y1="0" x2="9" y2="9" stroke="var(--wait)"/>
</svg>
"""
LINE = '<line x1="0" y1="0" x2="9" y2="9" stroke="var(--wait)"/>'
REFUSED = {
    "a script": (LINE, "<script>alert(1)</script>", "no element 'script'"),
    "a page inside": (LINE, "<foreignObject/>", "no element 'foreignObject'"),
    "an animation": (LINE, "<animate/>", "no element 'animate'"),
    "a picture": (LINE, '<image href="http://a.example/x.png"/>', "no element 'image'"),
    "another drawing": (LINE, '<use href="#a"/>', "no element 'use'"),
    "a link": (LINE, '<a href="javascript:x"/>', "no element 'a'"),
    "a style sheet": (LINE, "<style>*{fill:red}</style>", "no element 'style'"),
    "a handler": ("<line ", '<line onload="x()" ', "no attribute 'onload'"),
    "a style": ("<line ", '<line style="fill:red" ', "no attribute 'style'"),
    "a class": ("<line ", '<line class="veil" ', "no attribute 'class'"),
    "a name space": ("<line ", '<line xlink:href="#a" ', "no attribute 'xlink:href'"),
    "a colour of its own": ("var(--wait)", "#d55e00", "'#d55e00' does not follow the theme"),
    "a colour from elsewhere": ("var(--wait)", "url(http://a.example/)", "does not follow"),
    "a variable that is not there": ("var(--wait)", "var(--red)", "does not follow the theme"),
    "a value that is none": ('x2="9"', 'x2="url(#a)"', "value of 'x2'"),
    "no title": ("<title>A line.</title>", "", "no title"),
    "another size": (BOX, "0 0 100 100", "the viewBox is not"),
    "no drawing": ("svg", "html", "does not begin with an svg element"),
    "not XML": ("</svg>", "", "this is not XML"),
    "an entity": ("<svg", '<!DOCTYPE svg [<!ENTITY a "b">]><svg', "a DOCTYPE"),
    "an instruction": ("<svg", '<?xml-stylesheet href="a.css"?><svg', "a processing instruction"),
    "a large file": (LINE, LINE * (MAX_BYTES // len(LINE) + 1), "has at most"),
}


def test_a_plain_drawing_is_sound() -> None:
    assert flaws(SVG.encode()) == []


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_its_line_and_never_shown(name: str, tmp_path: Path) -> None:
    old, new, sentence = REFUSED[name]
    assert old in SVG
    text = SVG.replace(old, new)
    found = flaws(text.encode())
    assert any(sentence in flaw.sentence for flaw in found), found
    assert all(1 <= flaw.line <= text.count("\n") + 1 and flaw.remedy for flaw in found)
    path = tmp_path / "a.svg"
    path.write_text(text)
    assert read_drawing(path) == ""


def test_a_flaw_names_its_line() -> None:
    (one,) = flaws(SVG.replace("var(--wait)", "red").encode())
    assert one.line == 3


def test_a_file_that_is_not_there_is_no_drawing(tmp_path: Path) -> None:
    assert read_drawing(tmp_path / "gone.svg") == ""


def test_its_colours_are_variables_of_the_page(root: Path) -> None:
    tokens = (root / "frontend/src/ui/tokens.css").read_text()
    assert set(re.findall(r"--([a-z-]+): #", tokens)) >= COLOURS


def test_every_drawing_of_the_lessons_is_sound(root: Path) -> None:
    paths = sorted((root / "lessons").glob("*/drawings/*"))
    assert len(paths) >= 16
    assert {path.name: flaws(path.read_bytes()) for path in paths} == {p.name: [] for p in paths}
