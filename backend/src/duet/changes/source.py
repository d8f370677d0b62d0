# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel source that a lesson is about, as one of its arms has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby

from duet.errors import InfraError, InputError
from duet.kernels.arms import arm_spec
from duet.kernels.diff_form import read_diff
from duet.kernels.functions import defined
from duet.kernels.kernel_settings import KernelSettings
from duet.kernels.recipe import ArmSpec, arm_patches, shared_patches
from duet.lessons.load import LessonFolder

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
