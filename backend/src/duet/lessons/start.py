# SPDX-License-Identifier: GPL-2.0-or-later
"""A new lesson: a copy of lessons/_template that runs as it is, to be made into another."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from duet.errors import InputError
from duet.lessons.folders import SLUG, Place, places
from duet.settings import EXTRA_LESSONS, extra_lessons, repo_root

PROGRAM = re.compile(r"\bnap\b")
"""The template's workload program; programs of the guest need names of their own."""
PATCHES = "patches"


@dataclass(frozen=True, slots=True)
class Started:
    """A lesson that was made.

    Args:
        program: its workload program; the script is called so with `-sh` after it.
        known: the folder is the checkout or stands in DUET_LESSONS, so that commands find it.
    """

    slug: str
    place: Place
    program: str
    known: bool


def start(slug: str, folder: Path | None = None) -> Started:
    """Copy the template.

    Args:
        slug: two digits, a dash and a name.
        folder: where lessons/ and kernel-patches/ lie or are to be; default: the checkout.

    Raises:
        InputError: the slug cannot be one, or a lesson or folder of that name exists.
    """
    if not SLUG.match(slug):
        raise InputError(
            f"a lesson's name looks like 06-my-question, but {slug!r:.60} came.",
            remedy="Use two digits, a dash, and small letters, digits and dashes.",
        )
    top = repo_root() if folder is None else folder.resolve()
    place = Place(top / "lessons" / slug, top / "kernel-patches" / slug)
    there = [*([places()[slug].folder] if slug in places() else []), place.folder, place.patch_dir]
    if taken := next((path for path in there if path.exists()), None):
        raise InputError(
            f"{slug} exists already: {taken}.",
            remedy="Choose another name, or remove that folder first.",
        )
    program = f"nap{slug[:2]}"
    template = repo_root() / "lessons" / "_template"
    shutil.copytree(template, place.folder, ignore=shutil.ignore_patterns(PATCHES))
    shutil.copytree(template / PATCHES, place.patch_dir)
    for path in sorted(place.folder.rglob("*")):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            path.write_text(PROGRAM.sub(program, text), encoding="utf-8")
            path.rename(path.with_name(PROGRAM.sub(program, path.name)))
    return Started(slug, place, program, folder is None or top in (repo_root(), *extra_lessons()))


def next_steps(made: Started) -> str:
    """What to type now, one command a line."""
    lines = [f"{made.place.folder} and {made.place.patch_dir} are there. The lesson runs as it is:"]
    if not made.known:
        top = made.place.folder.parents[1]
        value = ":".join(map(str, (*extra_lessons(), top)))
        lines.append(f"  export {EXTRA_LESSONS}={value}")
    verbs = (
        ("lint", "what is wrong, while you edit"),
        ("build", "its two kernels"),
        ("run", "on both, in numbers"),
        ("record", "a recording for the page"),
    )
    lines += [f"  {f'./duet {verb} {made.slug}':40}{what}" for verb, what in verbs]
    return "\n".join([*lines, "docs/AUTHORING.md leads from here to your own question."])
