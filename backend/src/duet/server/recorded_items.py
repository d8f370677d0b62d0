# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists a lesson's recordings and tables with their parameters, and finds stale ones.

A recording is stale if the patches or the config of its kernels differ from those in the source
tree now. The source package and the compiler do not count, because an update of the host must not
make every recording stale.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from duet import messages as m
from duet.base import files as durable
from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.bundle import ArmEntry, patches_of, read_manifest
from duet.kernels import KernelSettings, MadeOf, arm_made_of, changes_since
from duet.lessons.grid import CELLS, Cell
from duet.lessons.load import LessonFolder
from duet.measure import Report
from duet.measure.model import ArmFacts
from duet.messages.lesson import NativeView
from duet.server.recordings import MEASURED, read_tables

# Provenance of recorded tables. It is written into each table, and later compared with the source
# tree. Pure.


def made(report: Report, seeds: Iterable[int]) -> m.Made:
    """Return the kernels, machine and seeds of a measurement with one table.

    Args:
        seeds: seeds of the measurement's perturbed starts.
    """
    return m.Made(
        arms=[_arm(arm) for arm in report.arms],
        host=dict(report.host),
        shift=report.tables[0].condition.shift,
        seeds=list(seeds),
    )


def _arm(arm: ArmFacts) -> m.MadeArm:
    patches = [m.MadePatch(path=path, sha256=sha) for path, sha in (*arm.both, *arm.patches)]
    return m.MadeArm(
        arm=arm.name,
        key=arm.key,
        kernel=arm.kernel,
        config_sha256=arm.config_sha256,
        compiler=arm.compiler,
        patches=patches,
        writes=list(arm.writes),
    )


def made_of_table(table: m.MeasuredTable) -> dict[str, MadeOf]:
    """Return the config and the patches of each arm's kernel.

    An arm's entry is empty if the table does not contain this information.
    """
    arms = {arm.arm: arm for arm in table.made.arms} if table.made else {}
    return {
        row.arm: MadeOf(
            arms[row.arm].config_sha256,
            {patch.path: patch.sha256 for patch in arms[row.arm].patches},
            tuple(arms[row.arm].writes),
        )
        if row.arm in arms
        else MadeOf("", {})
        for row in table.rows
    }


MOST = 3
"""Maximum number of changes of one arm that a sentence lists."""
Kind = Literal["recording", "table"]


@dataclass(frozen=True, slots=True)
class Item:
    """One recording, or one recorded table.

    Args:
        name: the recording's file name, or "measured" plus what distinguishes the table from
            others.
        shift, seed: shift and seed of a recording on the count clock.
        window_ms: how much of each lane the recording keeps; None means all.
        on: name of another host that measured the table. Only a new pack can measure it again.
        stale: what has changed in each stale arm's kernel; empty if the item is up to date.
    """

    lesson: str
    name: str
    kind: Kind
    path: Path
    arms: tuple[str, ...]
    workload: str
    clock: Clock
    params: Mapping[str, int]
    stale: Mapping[str, tuple[str, ...]]
    shift: int = 0
    seed: int = 1
    window_ms: int | None = None
    on: str = ""

    @property
    def title(self) -> str:
        return f"{self.lesson}/{self.name}"

    @property
    def why(self) -> str:
        """Description of what is stale; "" if nothing is stale."""
        arms: dict[str, list[str]] = {}
        for arm, found in self.stale.items():
            arms.setdefault(first_changes(found), []).append(arm)
        return "; ".join(f"{', '.join(names)}: {words}" for words, names in arms.items())


def first_changes(changed: Sequence[str]) -> str:
    """Describe the first few changes, and count the other changes."""
    more = [f"{len(changed) - MOST} more"] if len(changed) > MOST else []
    return ", ".join([*changed[:MOST], *more])


def recordings_of(folder: LessonFolder, settings: KernelSettings) -> Iterator[Item]:
    """Yield a lesson's recordings, then the cells of its grids.

    Raises:
        InputError: a bundle cannot be opened, or a patch or the config cannot be read.
    """
    for path in folder.bundles().values():
        manifest = read_manifest(path)
        yield Item(
            lesson=folder.slug,
            name=path.stem,
            kind="recording",
            path=path,
            arms=tuple(entry.name for entry in manifest.arms),
            workload=manifest.workload,
            clock=manifest.clock,
            params=manifest.params,
            stale=_stale(folder, {x.name: _made_of_entry(x) for x in manifest.arms}, settings),
            shift=manifest.shift,
            seed=manifest.seed,
            window_ms=manifest.window_ms,
        )


def tables_of(folder: LessonFolder, settings: KernelSettings) -> Iterator[Item]:
    """Yield a lesson's recorded tables.

    Raises:
        InputError: the file is unusable, or a patch or the config cannot be read.
    """
    path = folder.folder / "recorded" / MEASURED
    for table in read_tables(path):
        knobs = [
            f"{name}={value}"
            for name, value in table.params.items()
            if name not in folder.lesson.params or value != folder.lesson.params[name].default
        ]
        where = [f"on {table.on}"] if table.on else []
        yield Item(
            lesson=folder.slug,
            on=table.on,
            name=" ".join(["measured", table.workload, table.clock, *knobs, *where]),
            kind="table",
            path=path,
            arms=tuple(row.arm for row in table.rows),
            workload=table.workload,
            clock=table.clock,
            params=table.params,
            stale=_stale(folder, made_of_table(table), settings),
        )


def cell_fault(folder: LessonFolder, cell: Cell, entry: m.GridCell | None) -> str:
    """Return why a recorded cell is not what the lesson's grid asks for; "" if it is.

    Args:
        entry: the cell in the lesson's list; None if it is not listed.
    """
    path = folder.folder / CELLS / f"{cell.name}.duet"
    if entry is None or not path.is_file():
        return f"the cell {cell.name} is not recorded"
    asked = (cell.grid, cell.arms, cell.workload, cell.clock, cell.window_ms, dict(cell.params))
    made = (entry.grid, entry.arms, entry.workload, entry.clock, entry.window_ms, entry.params)
    if asked != made or entry.lesson != folder.slug:
        return f"the cell {cell.name} was recorded with other knobs, arms, workload or window"
    metrics = {curve.metric for curve in folder.lesson.grids[cell.grid].curves.values()}
    if set(entry.values) != metrics or any(
        set(of) != set(cell.arms) for of in entry.values.values()
    ):
        return f"the cell {cell.name} was recorded for other curves"
    if hashlib.sha256(path.read_bytes()).hexdigest() != entry.sha256:
        return f"the cell {cell.name} differs from the file that the list names"
    return ""


def _stale(
    folder: LessonFolder, recorded: Mapping[str, MadeOf], settings: KernelSettings
) -> dict[str, tuple[str, ...]]:
    """Return what has changed, for each stale arm."""
    known = {arm.name for arm in folder.lesson.arms}
    found: dict[str, tuple[str, ...]] = {}
    for arm, one in recorded.items():
        if arm not in known:
            found[arm] = ("the lesson no longer has this arm",)
        elif differs := changes_since(one, arm_made_of(folder, arm, settings)):
            found[arm] = differs
    return found


def _made_of_entry(entry: ArmEntry) -> MadeOf:
    """Return what a lane's kernel was made from, according to its bundle."""
    return MadeOf(entry.config_sha256, patches_of(entry), entry.writes)


def checked_params(folder: LessonFolder, item: Item) -> dict[str, int]:
    """Check an item's knobs against today's lesson and return them. Knobs that no longer exist are
    dropped.

    Raises:
        InputError: the lesson no longer has the arm, the workload, the clock or the value.
    """
    for arm in item.arms:
        folder.arm(arm)
    if item.workload not in folder.lesson.workloads or item.clock not in folder.lesson.clocks:
        raise InputError(
            f"{item.title} was made with the workload {item.workload:.40} on the {item.clock} "
            "clock, "
            "but the lesson no longer has this workload or this clock.",
            remedy="Delete the recorded file, and record a new one with ./duet record.",
        )
    return folder.check_recorded_params(item.params, item.clock)


# A lesson's file recorded/stale.txt lists known stale recordings and tables.
#
# Each line is a name that `duet record-all --list` prints. Lint reports these items as not checked.
# `duet record-all` removes the lines of items that it has made again, and deletes the file when no
# line is left.


STALE = "stale.txt"


def known_stale(recorded: Path) -> tuple[str, ...]:
    """Return the names in this folder's stale.txt; empty if there is no such file."""
    path = recorded / STALE
    if not path.is_file():
        return ()
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def remove_stale(item: Item) -> None:
    """Remove an item from stale.txt after it was made again.

    Raises:
        OSError: the file cannot be written.
    """
    above = item.path.parent
    recorded = above.parent if above.name == Path(CELLS).name else above
    left = [name for name in known_stale(recorded) if name != item.name]
    if left:
        durable.write(recorded / STALE, "".join(f"{name}\n" for name in left).encode())
    else:
        (recorded / STALE).unlink(missing_ok=True)


# The result file of `duet microscope --native`, which is stored with a lesson's recordings.

NATIVE: Final = "recorded/native.json"
"""Path of the result file in the lesson's folder."""


def read_native(folder: Path) -> NativeView | None:
    """Read the result of `duet microscope --native` in a lesson's folder; None if there is no file.

    Raises:
        InputError: the file is not what --native writes, or belongs to another lesson.
    """
    path = folder / NATIVE
    if not path.is_file():
        return None
    remedy = f"Make it again with ./duet microscope {folder.name} --native, or delete it."
    try:
        found = NativeView.model_validate(json.loads(path.read_bytes()))
    except (ValueError, ValidationError) as error:
        raise InputError(
            f"{folder.name}/{NATIVE} is not a result of ./duet microscope --native.",
            remedy=remedy,
            detail=str(error),
        ) from error
    if found.lesson != folder.name:
        raise InputError(
            f"{folder.name}/{NATIVE} was measured for lesson {found.lesson:.60}.", remedy=remedy
        )
    return found
