# SPDX-License-Identifier: GPL-2.0-or-later
"""List the cells of a lesson's grids: one recording for each combination of the knobs' values.

The recordings are in the folder recorded/grid of the lesson. The file recorded/grid.json lists
them with their SHA-256 and the numbers of the grids' curves (messages.lesson.GridCell).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.lessons.load import LessonFolder

INDEX: Final = "recorded/grid.json"
"""Path of the list of recorded cells in the lesson's folder."""
CELLS: Final = "recorded/grid"
"""Path of the folder with the cells' recordings in the lesson's folder."""
PREFIX: Final = "grid-"
"""Names of cells begin with this, and names of other recordings do not."""
CELLS_BYTES: Final = 1_500_000
"""Largest size of all cells of a lesson."""
TURNS = re.compile(r"([a-z0-9_-]+)=([^=]*)(?:,|$)")
NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)
RANGE = re.compile(r"(-?\d{1,18})\.\.(-?\d{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of values, and the run that is to be recorded.

    Args:
        values: the values of the grid's knobs, in the grid's order.
        params: all knobs of the run.
        window_ms: how much of each lane to keep; None means all.
    """

    grid: str
    values: Mapping[str, int]
    arms: tuple[str, ...]
    workload: str
    clock: Clock
    params: Mapping[str, int]
    window_ms: int | None

    @property
    def name(self) -> str:
        """Name of the recording, such as grid-tasks-3-vcpus-2."""
        values = "-".join(f"{knob}-{value}" for knob, value in self.values.items())
        return PREFIX + values.replace("_", "-")


def cells_of(folder: LessonFolder) -> list[Cell]:
    """Return the cells of all grids of a lesson, in the order in which the lesson lists the values.

    Raises:
        InputError: a value is out of range, or two cells have the same name.
    """
    found: dict[str, Cell] = {}
    lesson = folder.lesson
    for grid, one in lesson.grids.items():
        workload = one.workload or next(iter(lesson.workloads))
        for values in itertools.product(*one.over.values()):
            turned = dict(zip(one.over, values, strict=True))
            params = folder.check_params({**one.params, **turned}, lesson.clock)
            arms, window = one.arms, one.window_ms
            cell = Cell(grid, turned, arms, workload, lesson.clock, params, window)
            if cell.name in found:
                raise InputError(
                    f"two cells of the grids of {folder.slug} are called {cell.name}.",
                    remedy="Let the grids differ in a knob of `over`.",
                )
            if kept := [name for name, value in turned.items() if params.get(name) != value]:
                raise InputError(
                    f"the grid {grid} varies {kept[0]}, but no run on the {lesson.clock} clock "
                    "has this value.",
                    remedy="Leave the knob out of `over`.",
                )
            found[cell.name] = cell
    return list(found.values())


def chosen_cells(folder: LessonFolder, selection: str) -> list[Cell]:
    """Return the cells that a selection such as `tasks=1..9,vcpus=1,2` names, or all for `all`.

    A knob that the selection does not name keeps all of its values.

    Raises:
        InputError: the lesson has no grid, or the selection names what the grids do not have.
    """
    cells = cells_of(folder)
    if not cells:
        raise InputError(
            f"lesson {folder.slug} has no grid.", remedy="Add `grids:` to its lesson.yaml."
        )
    if selection == "all":
        return cells
    wanted = read_selection(selection)
    known: dict[str, set[int]] = {}
    for cell in cells:
        for knob, value in cell.values.items():
            known.setdefault(knob, set()).add(value)
    for knob, values in wanted.items():
        if knob not in known:
            raise InputError(
                f"no grid of lesson {folder.slug} varies '{knob:.40}'.",
                remedy=f"Choose from: {', '.join(known)}.",
            )
        if missing := [value for value in values if value not in known[knob]]:
            there = ", ".join(map(str, sorted(known[knob])))
            raise InputError(
                f"the grids of lesson {folder.slug} have no {knob}={missing[0]}.",
                remedy=f"Choose from: {there}. Or add the value to `grids:` in lesson.yaml.",
            )
    chosen = [
        cell
        for cell in cells
        if all(cell.values.get(knob) in values for knob, values in wanted.items())
    ]
    if not chosen:
        raise InputError(
            f"no grid of lesson {folder.slug} varies {' and '.join(wanted)} together.",
            remedy="Choose knobs of one grid.",
        )
    return chosen


def read_selection(text: str) -> dict[str, list[int]]:
    """Read a selection such as `tasks=1..9,vcpus=1,2`.

    Raises:
        InputError: the text is no selection.
    """
    wanted: dict[str, list[int]] = {}
    end = 0
    for match in TURNS.finditer(text):
        if match.start() != end:
            break
        end = match.end()
        values: list[int] = []
        for part in match[2].split(","):
            ends = RANGE.fullmatch(part)
            if ends is not None and int(ends[1]) <= int(ends[2]) < int(ends[1]) + 1000:
                values += range(int(ends[1]), int(ends[2]) + 1)
            elif NUMBER.fullmatch(part):
                values.append(int(part))
            else:
                raise _no_selection(text)
        if match[1] in wanted:
            raise _no_selection(text)
        wanted[match[1]] = values
    if not wanted or end != len(text):
        raise _no_selection(text)
    return wanted


def _no_selection(text: str) -> InputError:
    return InputError(
        f"--grid needs `all` or values of knobs, but got '{text:.60}'.",
        remedy="Write for example: --grid KNOB=1..9,OTHER=1,2",
    )
