# SPDX-License-Identifier: GPL-2.0-or-later
"""What people type for a lesson or a step: a number, a part of its name. Pure.

The page decides alike (frontend/src/base/typed.ts).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from duet.lessons.schema import Scene

NAME: Final = re.compile(r"^(?:(\d+)(?:-|$))?(.*)$")
TYPED: Final = re.compile(r"^(?:lesson|step)-?(?=\d)")


def plain(word: str) -> str:
    """A word as names are written."""
    text = "-".join(word.strip().lower().split()).rstrip("/.,;:)")
    return TYPED.sub("", text)


def meant_by(word: str, names: Iterable[str]) -> str | None:
    """The one name that a word means; None: it means none, or several.

    It is the name, its number, the beginning of it (with or without the number), or the beginning
    of a later word of it.
    """
    known, text = list(names), plain(word)
    if text in known:
        return text
    number, begin = _parts(text)
    parts = {name: _parts(name) for name in known}
    fit = [name for name in known if number is None or parts[name][0] == number]
    first = [name for name in fit if parts[name][1].startswith(begin)]
    later = [name for name in fit if f"-{begin}" in parts[name][1]]
    found = first or later
    return found[0] if text and len(found) == 1 else None


def scene_called(scenes: Sequence[Scene], word: str | None) -> Scene | None:
    """The step that an address names, by a present or a former name, by its place from 1, or by
    what people type for its name; None: there is none.
    """
    if not word:
        return None
    named = next((one for one in scenes if one.goes_by(word)), None)
    text = plain(word)
    if named is not None or not text:
        return named
    if text.isdecimal():
        place = int(text)
        return scenes[place - 1] if 0 < place <= len(scenes) else None
    name = meant_by(word, (one.id for one in scenes))
    return next((one for one in scenes if one.id == name), None)


def _parts(name: str) -> tuple[int | None, str]:
    match = NAME.match(name)
    assert match is not None
    return int(match[1]) if match[1] else None, match[2]
