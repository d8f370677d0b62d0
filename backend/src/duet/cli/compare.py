# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet compare`: shows how two recordings' conditions differ, then their figures by arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from duet.base.settings import runs_dir
from duet.cli.keys import from_tree, key, keys_text
from duet.cli.options import File, Json, find_recording
from duet.cli.output import emit
from duet.cli.reproduce import DIFFERENCE_SHAPE, FIGURE_SHAPE

if TYPE_CHECKING:
    from duet.runs.compare import Comparison


@dataclass(frozen=True, slots=True)
class ComparedSide:
    created: str
    clock: str
    workload: str
    params: Mapping[str, int]
    arms: Sequence[str]
    host: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CompareResult:
    first: str = key("file")
    second: str = key("file")
    lesson: str = key()
    sides: Sequence[ComparedSide] = key("two")
    differences: Sequence[Mapping[str, object]] = key(
        "recorded: of the first; now: of the second", DIFFERENCE_SHAPE
    )
    figures: Sequence[Mapping[str, object]] = key("of traced runs", FIGURE_SHAPE)
    only: Mapping[str, str] = key(shape="{arm: first or second}")
    worth: str = key()


KEYS = keys_text(CompareResult)


def compare(
    first: File,
    second: File,
    as_json: Json = False,
) -> int:
    """Compare two recordings of a lesson: conditions, then figures. Figures are listed by arm."""
    from duet.runs.compare import compare as compared

    one, other = find_recording(first), find_recording(second)
    found = compared(one, other)
    if as_json:
        emit(result_of(one, other, found))
    else:
        print("\n".join([*text(one, other, found), *lanes(one, other, found)]))
    return 0


def result_of(first: Path, second: Path, found: Comparison) -> CompareResult:
    tree = {"first": str(first), "second": str(second), **found.tree()}
    return from_tree(CompareResult, tree)


def text(first: Path, second: Path, found: Comparison) -> list[str]:
    """Format the comparison for people. The differences come before any number."""
    from duet.cli.reproduce import figure_table

    lines = [f"first:  {first.name}, {said(found, 0)}", f"second: {second.name}, {said(found, 1)}"]
    lines.append("")
    if found.differences:
        lines.append("They differ in:")
        lines += [f"  {one.of}: {one}" for one in found.differences]
    else:
        lines.append("Knobs, kernels, config, patches, host and programs are the same.")
    lines += [f"{arm} is in the {which} alone." for arm, which in found.only.items()]
    return [*lines, "", *figure_table(found.figures, ("first", "second")), found.worth]


def lanes(first: Path, second: Path, found: Comparison) -> list[str]:
    """Say how to see the lanes of both recordings side by side on the page."""
    slug = found.one.manifest.lesson
    names = [page_name(slug, path) for path in (first, second)]
    if None in names:
        return ["To see their lanes side by side, add both with ./duet runs --add FILE."]
    return [
        "Their lanes side by side, on the page of ./duet serve: "
        f"/?lesson={slug}&run={names[0]}&with={names[1]}"
    ]


def page_name(slug: str, path: Path) -> str | None:
    """Return a recording's name in the page's URL, or None if the page does not have it."""
    from duet.lessons import load as lessons
    from duet.server.archive import ArchiveFolder

    path = path.resolve()
    if path in [recording.resolve() for recording in lessons.load(slug).recordings()]:
        return path.stem
    saved = ArchiveFolder(runs_dir(), 0, 0).paths().get(path.stem)
    return f"kept:{slug}:{path.stem}" if saved is not None and saved.resolve() == path else None


def said(found: Comparison, side: int) -> str:
    """Say when and where a recording was made."""
    manifest = (found.one, found.other)[side].manifest
    host = manifest.host.get("cpu", "an unnamed host")
    return f"recorded {manifest.created} on {host}, {manifest.clock} clock"
