# SPDX-License-Identifier: GPL-2.0-or-later
"""Find KCSAN's reports of data races, and decide which races count against a patch.

Linux has many known data races. So a race counts against a patch only under two conditions: one of
its two sides is in a file that the patch touches, and the unpatched base does not show the race
under the same stress.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from duet.kernels.changed import changes, defined
from duet.kernels.recipe import patched_files
from duet.trials.check.console import complains, first_complaint
from duet.trials.mails import Patch

TITLE = re.compile(r"BUG: KCSAN: ([\w-]+ in (\S+)(?: / (\S+))?)\s*$")
SIDE = re.compile(r"^\S.* to 0x\w+ of \d+ bytes by ")
FRAME = re.compile(r"^(?:\? )?([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+$")
END = "=" * 40
PREFIX = re.compile(r"^\[ *\d+\.\d+\] ?")
FRAMES = 2
"""Number of stack frames that are read for each side of a race. The innermost may be an out-of-line
list or string helper.
"""
MOST_LINES = 60


@dataclass(frozen=True, slots=True)
class Race:
    """A data race from a KCSAN report.

    Args:
        title: kind of the race, and its two functions. Reports of one race have the same title.
        functions: the innermost functions of both sides, without compiler suffixes.
    """

    title: str
    functions: frozenset[str]


@dataclass(frozen=True, slots=True)
class SortedRaces:
    """Titles of races, without duplicates.

    Args:
        new: races that count against the patch.
        known: races that the unpatched base also shows.
        elsewhere: races in files that the patch does not touch.
    """

    new: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


def read(console: str) -> list[Race]:
    """Return all races that a console reports, including duplicates."""
    lines = [PREFIX.sub("", line).strip() for line in console.splitlines()]
    found = []
    for number, line in enumerate(lines):
        if match := TITLE.search(line):
            body = lines[number + 1 : number + 1 + MOST_LINES]
            sides = {_plain(side) for side in match.groups()[1:] if side}
            found.append(Race(match[1], frozenset(sides | set(_innermost(body)))))
    return found


def sort(races: Iterable[Race], base: Iterable[Race], touched: Collection[str]) -> SortedRaces:
    """Sort races into those that count against the patch and others.

    Args:
        base: races of the unpatched kernel under the same stress.
        touched: functions of the files that the patch touches.
    """
    before = {race.title for race in base}
    new: dict[str, None] = {}
    known: dict[str, None] = {}
    elsewhere: dict[str, None] = {}
    for race in races:
        if race.title in before:
            known[race.title] = None
        elif race.functions & frozenset(touched):
            new[race.title] = None
        else:
            elsewhere[race.title] = None
    return SortedRaces(tuple(new), tuple(known), tuple(elsewhere))


def counted(complaints: Iterable[str], races: SortedRaces) -> Iterator[str]:
    """Yield the complaints, without duplicate races and without races that do not count."""
    seen: set[str] = set()
    for line in complaints:
        title = title_of(line)
        if title is None:
            yield line
        elif title in races.new and title not in seen:
            seen.add(title)
            yield line


def excerpt(console: str, races: SortedRaces) -> str:
    """Return a console's first_complaint(), ignoring races that do not count."""
    return first_complaint(
        console, lambda line: complains(line) and title_of(line) in (None, *races.new)
    )


def title_of(line: str) -> str | None:
    """Return the title of the race that a console line reports, or None."""
    match = TITLE.search(line)
    return None if match is None else match[1]


def functions_of(patches: Iterable[Patch], src: Path) -> frozenset[str]:
    """Return the functions in files that the patches touch, and the functions that patches change.

    Args:
        src: a source tree. If a file is missing there, only functions in the patch are returned.
    """
    names: set[str] = set()
    for patch in patches:
        for name in patched_files(patch.diff):
            names |= defined_in(src / name)
        names |= {change.function for change in changes(patch.diff)}
    return frozenset(names)


def defined_in(path: Path) -> set[str]:
    """Return the names of a C file's functions, or an empty set if the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    return {name for line in text.splitlines() if (name := defined(line))}


def _innermost(body: list[str]) -> Iterable[str]:
    """Yield the innermost functions of each stack trace in the report below a title."""
    left = 0
    for line in body:
        if line.startswith(END):
            return
        if SIDE.match(line):
            left = FRAMES
        elif left and (match := FRAME.match(line)):
            left -= 1
            yield _plain(match[1])


def _plain(name: str) -> str:
    return name.split("+")[0].split(".")[0]
