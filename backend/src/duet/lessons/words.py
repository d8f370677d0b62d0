# SPDX-License-Identifier: GPL-2.0-or-later
"""Find names of single lessons in generic code, where such names are forbidden.

A lesson, including its view, is one folder. Generic code that names a knob, a probe, a kind, a
function or the slug of one lesson works only for that lesson. The names are read from the lessons'
files, so names of a new lesson are included.

A name with a dash or an underscore is searched for anywhere in the code. A simple word may also be
plain English, so it is searched for only as a complete string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from duet.lessons.schema import Lesson

# Names in lessons that are also general terms, which generic code may use.

_ENGLISH = "plain English, not used as a lesson's name"
GENERIC: dict[str, str] = {
    "running": "a state that every lesson with states has",
    "runnable": "a state that every lesson with states has",
    "wait_other": "a state that every lesson with states has",
    "seconds": "a unit in the names of keys and columns",
    "protocol": "of the wire, of an address",
    "thread": "the default name of a row's thread",
    "link": "of a page, of the linker, of a library",
    "read": "a kind of access in the microscope's counts",
    "write": "a kind of access in the microscope's counts",
    "rmw": "a kind of access in the microscope's counts",
    "plain": "of a mail's text, text/plain",
    "vain": "also a colour of the palette",
    "tasks": "the word for the parts of a lab",
    **dict.fromkeys(
        (
            "asked",
            "batch",
            "count",
            "drop",
            "entries",
            "files",
            "found",
            "name",
            "seek",
            "unknown",
            "what",
        ),
        _ENGLISH,
    ),
}
"""Why the program may use each name that it shares with lessons."""


COMPOUND = re.compile(r"[a-z0-9]+[_-][a-z0-9_-]+")
FUNCTION = re.compile(r"^[pr]\d*:\S+\s+([A-Za-z_]\w+)")
TOKEN = re.compile(r"[\w-]+")
QUOTED = re.compile(r"""['"]([\w-]+)(?=['"=])""")
BACKEND = "backend/src/duet"
FRONTEND = "frontend/src"
SUFFIXES = (".py", ".c", ".h", ".ts", ".tsx")
EXCLUDED = (
    "backend/src/duet/lessons/words.py",
    "frontend/src/gallery/",
)
"""Files that are not searched: this one, because of the list above, and a page for developers."""
TEST_PARTS = (".test.", "/fixtures/", ".gen.")
"""Parts of path names that identify tests, their fixtures and generated files."""


@dataclass(frozen=True, slots=True)
class WordUse:
    """A lesson's name in a file of generic code."""

    path: str
    line: int
    word: str
    lesson: str


def words_of(slug: str, lesson: Lesson) -> set[str]:
    """Return the names that belong to this lesson: slug, knobs, probes, kinds, functions."""
    words = {slug, slug.partition("-")[2]}
    # A model knob has the name of the number that it sets, and this name belongs to the page's
    # model.
    words |= {name for name, param in lesson.params.items() if param.applies != "model"}
    words |= {kind.name for kind in lesson.kinds}
    words |= {track.name for track in lesson.tracks}
    words |= {config.probe for config in lesson.xray if not _is_shared(config.probe)}
    for probe in lesson.probes:
        words.add(probe.name)
        for event in (probe, *probe.bases.values()):
            if event != "absent" and (found := FUNCTION.match(event.define or "")):
                words.add(found.group(1))
    if lesson.microscope is not None:
        words |= set(lesson.microscope.functions)
        words |= {name for on in lesson.microscope.bases.values() for name in on.values()}
    return {word for word in words if len(word) > 2} - GENERIC.keys()


def _is_shared(probe: str) -> bool:
    """Return whether an x-ray probe is part of Kernel Duet. If so, all lessons may use it."""
    name = f"{probe.replace('-', '_')}.py"
    return (Path(__file__).parents[1] / "lenses" / "probes" / name).is_file()


def generic_files(root: Path) -> list[str]:
    """Return the paths below `root` of code that all lessons use, except tests."""
    found: list[str] = []
    for base in (BACKEND, FRONTEND):
        for path in sorted((root / base).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in SUFFIXES and not _left_out(name):
                found.append(name)
    return found


def search(root: Path, lessons: Mapping[str, Lesson]) -> Iterator[WordUse]:
    """Yield each place in generic code that contains a lesson's name.

    Args:
        lessons: lessons by slug.
    """
    owners: dict[str, str] = {}
    for slug, lesson in lessons.items():
        for word in words_of(slug, lesson):
            owners.setdefault(word, slug)
    pattern = _pattern(owners)
    if pattern is None:
        return
    for name in generic_files(root):
        text = (root / name).read_text(encoding="utf-8")
        if not _may_have(text, owners):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for match in pattern.finditer(line):
                word = next(group for group in match.groups() if group)
                yield WordUse(name, number, word, owners[word])


def _may_have(text: str, words: Mapping[str, str]) -> bool:
    """Return whether the pattern of `words` may match; fast, as it looks up whole tokens."""
    return (
        not words.keys().isdisjoint(QUOTED.findall(text))
        or any(COMPOUND.fullmatch(token) for token in words.keys() & set(TOKEN.findall(text)))
        or any(word in text for word in words if not TOKEN.fullmatch(word))
    )


def _left_out(name: str) -> bool:
    return name.startswith(EXCLUDED) or any(part in name for part in TEST_PARTS)


def _pattern(words: Iterable[str]) -> re.Pattern[str] | None:
    compound = sorted((w for w in words if COMPOUND.fullmatch(w)), key=len, reverse=True)
    single = sorted((w for w in words if not COMPOUND.fullmatch(w)), key=len, reverse=True)
    parts = []
    if compound:
        parts.append(rf"(?<![\w-])({'|'.join(map(re.escape, compound))})(?![\w-])")
    if single:
        either = "|".join(map(re.escape, single))
        parts.append(rf"""(?<=['"])({either})(?=['"=])""")
    return re.compile("|".join(parts)) if parts else None
