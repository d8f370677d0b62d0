# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet record-all`: records all stale recordings and measured tables again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from duet.base.errors import DuetError, InputError
from duet.cli.keys import key, keys_text
from duet.cli.options import Json
from duet.cli.output import emit, note

if TYPE_CHECKING:
    from duet.cli.recording import Pace
    from duet.kernels import KernelSettings
    from duet.lessons.grid import Cell
    from duet.lessons.load import LessonFolder
    from duet.server.recorded_items import Item


@dataclass(frozen=True, slots=True)
class RecordedItem:
    """A recording or a recorded table."""

    lesson: str
    name: str
    kind: str = key("recording or table")
    clock: str = key()
    arms: Sequence[str] = key()
    state: str = key("current, stale, made or failed")
    why: Mapping[str, Sequence[str]] = key(shape="{arm: what has changed}")
    seconds: float | None = key()
    error: str | None = key()


@dataclass(frozen=True, slots=True)
class RecordAllResult:
    items: Sequence[RecordedItem]
    left_s: float = key("estimate for the stale ones")


KEYS = keys_text(RecordAllResult, "States are those at the end.")


def record_all(
    which: Annotated[
        list[str] | None,
        typer.Argument(help="LESSON, LESSON/NAME or LESSON/measured; default: all lessons."),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Also record what is up to date.")] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="Only list what is stale, and why.")
    ] = False,
    most: Annotated[
        int, typer.Option("--most", min=0, help="Record at most this many; 0: all.")
    ] = 0,
    as_json: Json = False,
) -> int:
    """Record stale recordings and measured tables again. Each keeps its parameters.

    An item is stale if its kernels' patches or config have changed since it was recorded. Missing
    kernels are built first. After an interruption, finished items are kept, and the next call
    resumes.
    """
    from duet.cli.building import build_missing
    from duet.cli.measuring import INTERRUPTED, interruptible
    from duet.cli.recording import Pace
    from duet.kernels import KernelSettings
    from duet.kernels.arms import arm_spec
    from duet.lessons import load as lessons

    which = which or []
    kernels = KernelSettings.default()
    items = find_items(which, kernels)
    todo = [item for item in items if (all or item.stale) and not item.on]
    todo = todo[:most] if most else todo
    pace = Pace(kernels.cache / PACE)
    done, whole = ItemResults(), True
    if not listing and todo:
        known = {item.lesson: lessons.load(item.lesson) for item in todo}
        arms = {
            (item.lesson, arm) for item in todo for arm in planned_arms(known[item.lesson], item)
        }
        build_missing([arm_spec(known[slug], arm) for slug, arm in sorted(arms)], kernels)
        whole = asyncio.run(interruptible(record_items(todo, pace, kernels, done)))
    if as_json:
        emit(result_of(items, pace, done))
    else:
        print("\n".join(lines(items, todo, pace, done, listing)))
    if not whole:
        return INTERRUPTED
    return max((error.exit_code for error in done.errors.values()), default=0)


PACE = "record-pace.json"
"""File in the cache folder with the time that each item took."""
TABLES = "measured"
"""LESSON/measured is the name of a lesson's recorded tables."""


@dataclass(slots=True)
class ItemResults:
    """Duration of each finished item, and the error of each failed item."""

    seconds: dict[str, float] = field(default_factory=dict)
    errors: dict[str, DuetError] = field(default_factory=dict)


def find_items(which: Sequence[str], kernels: KernelSettings) -> list[Item]:
    """Find the recordings and tables that arguments name as LESSON or LESSON/NAME.

    Without arguments, find the recordings and tables of all lessons.

    Raises:
        InputError: a lesson or recording does not exist or cannot be opened.
    """
    from duet.lessons import load as lessons
    from duet.server.recorded_items import recordings_of, tables_of

    found: dict[str, Item] = {}
    for word in which or lessons.slugs():
        slug, _, name = word.partition("/")
        folder = lessons.load(slug)
        there = [*recordings_of(folder, kernels), *tables_of(folder, kernels)]
        chosen = [one for one in there if not name or name in (one.name, one.name.split(" ")[0])]
        if name and not chosen:
            names = [one.name for one in there if one.kind == "recording"] + [TABLES]
            raise InputError(
                f"lesson {slug} has no recording '{name:.60}'.",
                remedy=f"Choose from: {', '.join(names)}.",
            )
        found |= {one.title: one for one in chosen}
    return list(found.values())


def planned_arms(folder: LessonFolder, item: Item) -> tuple[str, ...]:
    """Return the arms that an item will be recorded on. A cell is recorded on its grid's arms.

    Raises:
        InputError: the lesson no longer has what the item needs.
    """
    if item.path in folder.cells():
        return cell_of(folder, item).arms
    from duet.server.recorded_items import checked_params

    checked_params(folder, item)
    return item.arms


def cell_of(folder: LessonFolder, item: Item) -> Cell:
    """Return the grid's cell that belongs to an item.

    Raises:
        InputError: no grid has the cell any more.
    """
    from duet.lessons.grid import cells_of

    cells = {cell.name: cell for cell in cells_of(folder)}
    if item.name not in cells:
        raise InputError(
            f"the grids of lesson {item.lesson} no longer have the cell {item.name}.",
            remedy=f"Delete {item.path}.",
        )
    return cells[item.name]


async def record_items(
    todo: Sequence[Item], pace: Pace, kernels: KernelSettings, done: ItemResults
) -> None:
    """Record the items one after another.

    If an item fails, its old file stays, and the next item is recorded.
    """
    from duet.base.clock import format_duration
    from duet.server.recorded_items import remove_stale

    for number, item in enumerate(todo):
        left = format_duration(pace.left_s(todo[number:]))
        note(f"{number + 1} of {len(todo)}: {item.title} (about {left} left)")
        began = time.monotonic()
        try:
            await record_item(item, kernels)
        except DuetError as error:
            done.errors[item.title] = error
            note(f"error: {item.title}: {error.sentence}\nremedy: {error.remedy}")
            continue
        remove_stale(item)
        done.seconds[item.title] = round(time.monotonic() - began, 1)
        pace.took(item, done.seconds[item.title])


async def record_item(item: Item, kernels: KernelSettings) -> None:
    """Record an item again, with the same parameters.

    Raises:
        DuetError: a lane failed, or the file cannot be written. The old file is then kept.
    """
    from duet.cli.record_grid import record_cell
    from duet.cli.recorded_table import record_table
    from duet.cli.recording import record_run
    from duet.lessons import load as lessons
    from duet.server.recorded_items import checked_params
    from duet.session import RunSpec

    folder = lessons.load(item.lesson)
    if item.path in folder.cells():
        await record_cell(folder, cell_of(folder, item), kernels)
        return
    params = checked_params(folder, item)
    request = RunSpec(folder, item.arms, item.workload, params, item.clock)
    if item.kind == "table":
        await record_table(request, kernels)
        return
    await record_run(request, item.path, item.window_ms, kernels, seed=item.seed, shift=item.shift)


def lines(
    items: Sequence[Item], todo: Sequence[Item], pace: Pace, done: ItemResults, listing: bool
) -> list[str]:
    """Format what is stale and why, or what was recorded, for people."""
    from duet.base.clock import format_duration

    if listing:
        found = [f"{item.title}: {item.why or 'up to date'}" for item in items]
        stale = sum(1 for item in items if item.stale)
        time_left = f", about {format_duration(pace.left_s(todo))}" if todo else ""
        return [*found, f"{stale} of {len(items)} are stale{time_left}."]
    failed = f", {len(done.errors)} failed" if done.errors else ""
    rest = len(todo) - len(done.seconds) - len(done.errors)
    not_begun = f", {rest} not begun" if rest else ""
    fresh = len(items) - len(todo)
    return [f"Recorded {len(done.seconds)} again{failed}{not_begun}; left {fresh} unchanged."]


def result_of(items: Sequence[Item], pace: Pace, done: ItemResults) -> RecordAllResult:
    def state(item: Item) -> str:
        if item.title in done.seconds:
            return "made"
        if item.title in done.errors:
            return "failed"
        return "stale" if item.stale else "current"

    return RecordAllResult(
        items=[
            RecordedItem(
                lesson=item.lesson,
                name=item.name,
                kind=item.kind,
                clock=item.clock,
                arms=item.arms,
                state=state(item),
                why={arm: list(found) for arm, found in item.stale.items()},
                seconds=done.seconds.get(item.title),
                error=done.errors[item.title].sentence if item.title in done.errors else None,
            )
            for item in items
        ],
        left_s=round(pace.left_s(i for i in items if state(i) == "stale"), 1),
    )
