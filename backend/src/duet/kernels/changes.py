# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes to arms: a change is a diff that is applied after the arm's own patches."""

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
from duet.kernels.diffs import FileDiff, check_patch, exact_diff, read_diff
from duet.kernels.image import Store
from duet.kernels.recipe import ArmSpec, arm_patches, shared_patches
from duet.kernels.settings import KernelSettings
from duet.lessons.load import LessonFolder
from duet.lessons.own import changed_arm, own_name, with_own

MOST_NAMED = 3
"""Largest number of functions that a change's summary names."""


@dataclass(frozen=True, slots=True)
class Change:
    """A validated change that may be built.

    Args:
        arm: the lesson's arm that was changed.
        diff: diff in the strict form, exactly as it is applied.
        files: files that the diff changes, in diff order.
    """

    lesson: str
    arm: str
    diff: str
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of the resulting arm; identical changes of an arm have the same name."""
        text = "\n".join((self.lesson, self.arm, self.diff))
        return own_name(self.arm, hashlib.sha256(text.encode()).hexdigest())

    @property
    def summary(self) -> str:
        """Summary for people: the changed functions and the number of changed lines."""
        lines = self.diff.splitlines()
        added = sum(line[:1] == "+" and not line.startswith("+++ ") for line in lines)
        taken = sum(line[:1] == "-" and not line.startswith("--- ") for line in lines)
        named = [f"{one.function}()" for one in changes(self.diff)] or list(self.files)
        more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        return f"{', '.join(named[:MOST_NAMED])}{more}: +{added} -{taken} lines"

    def patch(self, title: str) -> str:
        """Return the change in git format-patch form.

        Args:
            title: title of the arm that was changed.
        """
        return (
            "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
            "From: a visitor <visitor@localhost>\n"
            "Date: Thu, 1 Jan 1970 00:00:00 +0000\n"
            f"Subject: [PATCH] a change of {title}\n\n"
            f"Of {self.summary}.\n---\n{self.diff}"
        )


def read_change(folder: LessonFolder, arm: str, text: str, more: tuple[str, ...] = ()) -> Change:
    """Parse and check an untrusted diff.

    Args:
        arm: the arm to change. A changed arm cannot be changed again, so two changes must be sent
            as one diff.
        more: files that the operator allows beyond sources and headers (settings.patch_files).

    Raises:
        PatchRefused: the diff is not in the strict form, or changes a forbidden file.
        InputError: the arm does not exist, or is itself a changed arm.
    """
    if changed_arm(arm) is not None:
        raise InputError(
            f"only an arm of the lesson itself can be changed, but '{arm:.60}' is already a "
            "changed arm.",
            remedy=f"Send both changes as one diff of {changed_arm(arm)}.",
        )
    folder.arm(arm)
    files: tuple[FileDiff, ...] = check_patch(text, more)
    names = tuple(name for one in files for name in one.names)
    return Change(folder.slug, arm, exact_diff(files), names)


# Changes on disk. Each change has a folder with the name of the changed arm:
# <folder>/own-ARM-DIGEST/.

MOST = 60
"""Largest number of stored changes; each kernel takes some 70 MB. The least recently used change is
evicted."""
FACTS = "change.json"
KERNEL = "kernel"
"""File with the key of the change's kernel; exists once the kernel was built."""


class Changes:
    """Store of changes on disk.

    Args:
        folder: folder of the changes, which is created with the first change.
        kernels: store of the changes' kernels. Evicting a change also removes its kernel.
    """

    def __init__(self, folder: Path, kernels: Store) -> None:
        # In manifests, paths of patches are relative to a folder of this name (recipe.read_patch).
        self.folder = folder / "kernel-patches"
        self._kernels = kernels

    def put(self, folder: LessonFolder, change: Change) -> LessonFolder:
        """Store a change; return the lesson with the changed arm as an additional arm."""
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
        """Return the lesson, with each of the named changed arms added.

        Raises:
            InputError: a changed arm is not stored here, or was evicted.
        """
        known = {arm.name for arm in folder.lesson.arms}
        for name in names:
            if name in known or changed_arm(name) is None:
                continue
            facts = self._facts(name)
            if facts is None or facts.get("lesson") != folder.slug:
                raise InputError(
                    f"the change '{name:.80}' of lesson {folder.slug} is not stored here.",
                    remedy="Send the change again, from its link or from its patch file.",
                )
            patch = _patch(self.folder / name)
            patch.parent.touch()  # `_prune` reads the time of the last use
            folder = with_own(folder, name, summary=str(facts["summary"]), change=patch)
        return folder

    def built(self, name: str, key: str) -> None:
        """Record which kernel was built from a change."""
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
                return  # a run may still use the kernel
            if (place / KERNEL).is_file():
                shutil.rmtree(self._kernels.folder / (place / KERNEL).read_text(), True)
            shutil.rmtree(place, ignore_errors=True)


def _patch(place: Path) -> Path:
    """Return the path of the patch.

    The file name is unique, because a recording may contain several patches.
    """
    return place / f"{place.name}.patch"


# Changes that recordings contain. The page shows such changes, but they are never built.
#
# A recording from another server may contain an arm that a visitor changed on that server. Such a
# recording also contains the visitor's patch. The arm's name contains a digest of the change, so no
# recording can show a different change under this name.
ANY_FILE = ("*",)
"""Files that these changes may touch: all, because nothing is compiled from them."""


class BroughtChanges:
    """LRU cache of at most MOST changes from recordings, by arm name."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Change] = OrderedDict()

    def take(self, folder: LessonFolder, name: str, patch: bytes) -> None:
        """Add the change of a recording's arm, unless the arm's name has another digest."""
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
        """Return the lesson, with this arm and its patch added if a recording contained the arm."""
        change = self._known.get(name)
        if change is None or change.lesson != folder.slug:
            return folder
        self._known.move_to_end(name)
        text = change.patch(folder.arm(change.arm).title)
        return with_own(folder, name, summary=change.summary, text=text)


brought = BroughtChanges()
"""Changes that this process has found in recordings. Reading a recording adds them, and showing a
lesson uses them."""


# The part of the kernel source that a lesson is about, in the version of one arm.

STRUCT = re.compile(r"^(?:typedef\s+)?((?:struct|union|enum)\s+\w+)\b[^;]*$")


@dataclass(frozen=True, slots=True)
class Region:
    """Lines of a file that the lesson's patches touch.

    Args:
        title: function or structure that contains the lines; "" if unknown.
        first: first line, from 1.
        last: last line, inclusive.
    """

    title: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Source:
    """An arm's version of a file."""

    name: str
    text: str
    regions: tuple[Region, ...]


def arm_source(folder: LessonFolder, name: str, settings: KernelSettings) -> tuple[Source, ...]:
    """Return the arm's version of each file that any arm changes.

    Files that the arm itself changes come first.

    Raises:
        InputError: there is no such arm, or its kernel was built elsewhere.
        InfraError: no source is unpacked here yet.
    """
    spec = arm_spec(folder, name)
    base = settings.base_of(spec)
    if base.source.kind == "image":
        raise InputError(
            f"wanted the source of {name}, but its kernel was built elsewhere.",
            remedy="Name patches or trees instead of an image.",
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
    """Return files that the arm's own patches change; instrumentation patches do not count."""
    base = settings.base_of(arm)
    shared = shared_patches(arm, settings.patches, base)
    own = arm_patches(arm, settings.patches, base)[len(shared) :]
    files = (one for path in own for one in read_diff(path.read_text(encoding="utf-8")))
    return [name for one in files for name in one.names]


def differing(text: str, other: str) -> Iterator[int]:
    """Yield the numbers (from 1) of lines that `other` lacks, and of lines after removed lines."""
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
    """Yield regions of a C file: blocks that contain touched lines, and touched lines elsewhere."""
    left = sorted(touched)
    for title, first, last in _blocks(text.splitlines()):
        yield from _loose([line for line in left if line < first])
        if any(first <= line <= last for line in left):
            yield Region(title, first, last)
        left = [line for line in left if line > last]
    yield from _loose(left)


def _loose(lines: list[int]) -> Iterator[Region]:
    """Group consecutive lines into regions."""
    for _, run in groupby(enumerate(lines), lambda one: one[1] - one[0]):
        found = [line for _, line in run]
        yield Region("", found[0], found[-1])


def _blocks(lines: list[str]) -> Iterator[tuple[str, int, int]]:
    """Yield (title, first line, last line) of blocks that begin and end in the first column."""
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
            title = ""  # this line is only a declaration
