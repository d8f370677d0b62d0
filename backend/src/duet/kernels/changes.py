# SPDX-License-Identifier: GPL-2.0-or-later
"""A change of an arm: a diff on top of the arm's own patches."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path

from duet.base import files as durable
from duet.base.errors import DuetError, InfraError, InputError
from duet.kernels.arms import arm_spec
from duet.kernels.changed import changes, defined
from duet.kernels.diffs import FileDiff, check_patch, read_diff, strict
from duet.kernels.image import Store
from duet.kernels.recipe import ArmSpec, arm_patches, shared_patches
from duet.kernels.settings import KernelSettings
from duet.lessons.load import LessonFolder
from duet.lessons.own import changed_arm, own_name, with_own

MOST_NAMED = 3
"""Functions in the line under the arm's name."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change that was read and may be built.

    Args:
        arm: of the lesson, which was changed.
        diff: in the strict form, all that is applied.
        files: that it changes, in its order.
    """

    lesson: str
    arm: str
    diff: str
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of the arm that it makes; equal changes of an arm have equal names."""
        text = "\n".join((self.lesson, self.arm, self.diff))
        return own_name(self.arm, hashlib.sha256(text.encode()).hexdigest())

    @property
    def summary(self) -> str:
        """Which functions were changed, and by how many lines."""
        lines = self.diff.splitlines()
        added = sum(line[:1] == "+" and not line.startswith("+++ ") for line in lines)
        taken = sum(line[:1] == "-" and not line.startswith("--- ") for line in lines)
        named = [f"{one.function}()" for one in changes(self.diff)] or list(self.files)
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        return f"{', '.join(named[:MOST_NAMED])}{more}: +{added} -{taken} lines"

    def patch(self, title: str) -> str:
        """The change in the form of git format-patch.

        Args:
            title: of the arm that was changed.
        """
        return (
            "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
            "From: a visitor <visitor@localhost>\n"
            "Date: Thu, 1 Jan 1970 00:00:00 +0000\n"
            f"Subject: [PATCH] a change of {title}\n\n"
            f"Of {self.summary}.\n---\n{self.diff}"
        )


def read_change(folder: LessonFolder, arm: str, text: str, more: tuple[str, ...] = ()) -> Change:
    """Read the diff of somebody who need not be trusted.

    Args:
        arm: which is changed. A change of a changed arm is not stacked: send both as one diff.
        more: files that the operator allows beyond sources and headers (settings.patch_files).

    Raises:
        PatchRefused: it is not in the strict form, or changes what it may not.
        InputError: there is no such arm, or it is a changed one.
    """
    if changed_arm(arm) is not None:
        raise InputError(
            f"'{arm:.60}' is a changed arm, and a change is made to an arm of the lesson.",
            remedy=f"Send both changes as one diff of {changed_arm(arm)}.",
        )
    folder.arm(arm)
    files: tuple[FileDiff, ...] = check_patch(text, more)
    names = tuple(name for one in files for name in one.names)
    return Change(folder.slug, arm, strict(files), names)


# Changes on the disk, by the name of the arm that each makes: <folder>/own-ARM-DIGEST/.

MOST = 60
"""Changes that are stored; a kernel has some 70 MB. The one that was unused longest goes first."""
FACTS = "change.json"
KERNEL = "kernel"
"""Holds the key of the change's kernel, once it was built."""


class Changes:
    """The store.

    Args:
        folder: appears with the first change.
        kernels: where the kernels of changes lie; those of changes that are removed go, too.
    """

    def __init__(self, folder: Path, kernels: Store) -> None:
        # Of this name, so that a patch's path in manifests begins below it (recipe.read_patch).
        self.folder = folder / "kernel-patches"
        self._kernels = kernels

    def put(self, folder: LessonFolder, change: Change) -> LessonFolder:
        """Store a change; gives the lesson with its arm."""
        place = self.folder / change.name
        if not (place / FACTS).is_file():
            place.mkdir(parents=True, exist_ok=True)
            title = folder.arm(change.arm).title
            durable.write(_patch(place), change.patch(title).encode())
            facts = {"lesson": change.lesson, "arm": change.arm, "summary": change.summary}
            durable.write(place / FACTS, json.dumps(facts).encode())
            self._prune()
        return self.lesson(folder, [change.name])

    def lesson(self, folder: LessonFolder, names: Iterable[str]) -> LessonFolder:
        """The lesson with those of these arms that are stored changes of it.

        Raises:
            InputError: one of them is a changed arm and is not stored here (any more).
        """
        known = {arm.name for arm in folder.lesson.arms}
        for name in names:
            if name in known or changed_arm(name) is None:
                continue
            facts = self._facts(name)
            if facts is None or facts.get("lesson") != folder.slug:
                raise InputError(
                    f"the change '{name:.80}' of lesson {folder.slug} is not stored here.",
                    remedy="Send it again; the link of the change, or its patch, has it.",
                )
            patch = _patch(self.folder / name)
            patch.parent.touch()  # used now; see _prune
            folder = with_own(folder, name, summary=str(facts["summary"]), change=patch)
        return folder

    def built(self, name: str, key: str) -> None:
        """Remember which kernel was made of a change."""
        durable.write(self.folder / name / KERNEL, key.encode())

    def _facts(self, name: str) -> dict[str, object] | None:
        try:
            found = json.loads((self.folder / name / FACTS).read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def _prune(self) -> None:
        places = sorted(self.folder.iterdir(), key=lambda place: place.stat().st_mtime)
        for place in places[: max(len(places) - MOST, 0)]:
            if time.time() - place.stat().st_mtime < 3600:
                return  # somebody may be running it
            if (place / KERNEL).is_file():
                shutil.rmtree(self._kernels.folder / (place / KERNEL).read_text(), True)
            shutil.rmtree(place, ignore_errors=True)


def _patch(place: Path) -> Path:
    """Named as the arm: several may stand in one recording."""
    return place / f"{place.name}.patch"


# Changes that recordings bring: to be read, never to be built.
#
# A recording that was made on another server may have an arm that somebody changed there, and its
# patch. What is taken in here is what the arm's name says: the name is a digest of the change, so
# no file can put another text under it.
"""Changes that are remembered; each has a few KB."""
ANY_FILE = ("*",)
"""What a change may touch is for whoever compiles it."""


class BroughtChanges:
    """Name of an arm -> the change that made it; the one that was unused longest goes first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Change] = OrderedDict()

    def take(self, folder: LessonFolder, name: str, patch: bytes) -> None:
        """Remember what a recording has of an arm; a text that did not make it is left out."""
        base = changed_arm(name)
        if base is None or name in self._known:
            return
        _, mark, diff = patch.decode(errors="replace").partition("\ndiff --git ")
        try:
            change = read_change(folder, base, mark[1:] + diff, ANY_FILE)
        except DuetError:
            return
        if change.name == name:
            self._known[name] = change
            while len(self._known) > MOST:
                self._known.popitem(last=False)

    def shown(self, folder: LessonFolder, name: str) -> LessonFolder:
        """The lesson with this arm and the text of its change, if a recording brought that."""
        change = self._known.get(name)
        if change is None or change.lesson != folder.slug:
            return folder
        self._known.move_to_end(name)
        text = change.patch(folder.arm(change.arm).title)
        return with_own(folder, name, summary=change.summary, text=text)


brought = BroughtChanges()
"""Those of this process: whoever reads recordings fills it, whoever shows lessons asks it."""


# The kernel source that a lesson is about, as one of its arms has it.

STRUCT = re.compile(r"^(?:typedef\s+)?((?:struct|union|enum)\s+\w+)\b[^;]*$")


@dataclass(frozen=True, slots=True)
class Region:
    """Lines of a file that the lesson's patches touch.

    Args:
        title: the function or structure around them; empty: none is known.
        first: from 1.
        last: included.
    """

    title: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Source:
    """A file as an arm has it."""

    name: str
    text: str
    regions: tuple[Region, ...]


def arm_source(folder: LessonFolder, name: str, settings: KernelSettings) -> tuple[Source, ...]:
    """The files that the lesson's arms change, as this arm has them; the arm's own first.

    Raises:
        InputError: no such arm, or its kernel was built elsewhere.
        InfraError: no source is unpacked here yet.
    """
    spec = arm_spec(folder, name)
    base = settings.base_of(spec)
    if base.source.kind == "image":
        raise InputError(
            f"the kernel of {name} was built elsewhere, so its source is not here.",
            remedy="Name patches or trees in place of an image.",
        )
    tree = settings.tree(base, spec.config, settings.tarball(base).sha256)
    if not tree.src.is_dir():
        raise InfraError(
            "the kernel's source is not unpacked here yet.",
            remedy=f"Run ./duet build {folder.slug}, or wait until its kernels are built.",
        )
    alike = [
        other
        for other in (arm_spec(folder, arm.name) for arm in folder.lesson.arms)
        if (other.base, other.config) == (spec.base, spec.config)
    ]
    files = {file: None for arm in [spec, *alike] for file in _own_files(arm, settings)}

    def texts(arm: ArmSpec) -> dict[str, str]:
        return tree.texts(arm_patches(arm, settings.patches, base), files)

    here = texts(spec)
    shared = texts(replace(spec, patches=(), change=None))
    others = [shared] if here != shared else [texts(arm) for arm in alike]
    found = []
    for file, text in here.items():
        lines = frozenset(n for other in others for n in differing(text, other.get(file, "")))
        found.append(Source(file, text, tuple(regions(text, lines))))
    return tuple(sorted(found, key=lambda one: here[one.name] == shared.get(one.name)))


def _own_files(arm: ArmSpec, settings: KernelSettings) -> list[str]:
    """Files that the patches of an arm change beside those of the instrumentation."""
    base = settings.base_of(arm)
    shared = shared_patches(arm, settings.patches, base)
    own = arm_patches(arm, settings.patches, base)[len(shared) :]
    files = (one for path in own for one in read_diff(path.read_text(encoding="utf-8")))
    return [name for one in files for name in one.names]


def differing(text: str, other: str) -> Iterator[int]:
    """Lines of a text, from 1, that the other one has not, or beside which it has more."""
    ours, theirs = text.splitlines(), other.splitlines()
    same = 0
    while same < min(len(ours), len(theirs)) and ours[same] == theirs[same]:
        same += 1
    end = 0
    most = min(len(ours), len(theirs)) - same
    while end < most and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    ours, theirs = ours[same : len(ours) - end], theirs[same : len(theirs) - end]
    for tag, first, last, _, _ in SequenceMatcher(None, ours, theirs).get_opcodes():
        if tag != "equal":
            yield from range(same + first + 1, same + max(last, first + 1) + 1)


def regions(text: str, touched: frozenset[int]) -> Iterator[Region]:
    """The functions and structures around lines of a C file; lines outside stand as they are."""
    left = sorted(touched)
    for title, first, last in _blocks(text.splitlines()):
        yield from _loose([line for line in left if line < first])
        if any(first <= line <= last for line in left):
            yield Region(title, first, last)
        left = [line for line in left if line > last]
    yield from _loose(left)


def _loose(lines: list[int]) -> Iterator[Region]:
    """Lines that follow each other as one region."""
    for _, run in groupby(enumerate(lines), lambda one: one[1] - one[0]):
        found = [line for _, line in run]
        yield Region("", found[0], found[-1])


def _blocks(lines: list[str]) -> Iterator[tuple[str, int, int]]:
    """(title, first line, last line) of what begins in the first column and ends with a brace."""
    title, first = "", 0
    for number, line in enumerate(lines, 1):
        if title and line.startswith("}"):
            yield title, first, number
            title = ""
        elif name := defined(line):
            title, first = f"{name}()", number
        elif match := STRUCT.match(line):
            title, first = match[1], number
        elif line.rstrip().endswith(";") and line[:1] not in (" ", "\t", ""):
            title = ""  # a declaration
