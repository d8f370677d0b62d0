# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lesson has recorded, with the parameters it was made by, and what of it is stale.

Stale is what was made with other patches or another config than the tree's. The source package and
the compiler do not count: an update of the host must not make every recording stale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from duet.bundle import ArmEntry, patches_of, read_manifest
from duet.errors import InputError
from duet.kernels import KernelSettings, MadeOf, changes, made_of
from duet.kernels.arms import arm_spec
from duet.lessons.load import LessonFolder
from duet.lessons.schema import ClockName
from duet.serve.made import made_of_table
from duet.serve.recordings import MEASURED, read_tables

MOST = 3
"""Changes of one arm that a sentence names."""
Kind = Literal["recording", "table"]


@dataclass(frozen=True, slots=True)
class Item:
    """One recording, or one recorded table.

    Args:
        name: of the file, or "measured" with what tells the table from others.
        shift, seed: of a recording on the count clock.
        window_ms: what a recording keeps of each lane; None: all.
        stale: arm -> what of its kernel has changed; empty: it is up to date.
    """

    lesson: str
    name: str
    kind: Kind
    path: Path
    arms: tuple[str, ...]
    workload: str
    clock: ClockName
    params: Mapping[str, int]
    stale: Mapping[str, tuple[str, ...]]
    shift: int = 0
    seed: int = 1
    window_ms: int | None = None

    @property
    def title(self) -> str:
        """Lesson and name."""
        return f"{self.lesson}/{self.name}"

    @property
    def why(self) -> str:
        """What is stale, in words; empty: nothing."""
        arms: dict[str, list[str]] = {}
        for arm, found in self.stale.items():
            arms.setdefault(in_short(found), []).append(arm)
        return "; ".join(f"{', '.join(names)}: {words}" for words, names in arms.items())


def in_short(changed: Sequence[str]) -> str:
    """The first of what has changed, and how much more has."""
    more = [f"{len(changed) - MOST} more"] if len(changed) > MOST else []
    return ", ".join([*changed[:MOST], *more])


def recordings_of(folder: LessonFolder, settings: KernelSettings) -> Iterator[Item]:
    """The bundles of a lesson.

    Raises:
        InputError: one cannot be opened, or a patch or the config cannot be read.
    """
    for path in folder.recordings():
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
    """The recorded tables of a lesson.

    Raises:
        InputError: the file is not usable, or a patch or the config cannot be read.
    """
    path = folder.folder / "recorded" / MEASURED
    for table in read_tables(path):
        knobs = [
            f"{name}={value}"
            for name, value in table.params.items()
            if name not in folder.lesson.params or value != folder.lesson.params[name].default
        ]
        yield Item(
            lesson=folder.slug,
            name=" ".join(["measured", table.workload, table.clock, *knobs]),
            kind="table",
            path=path,
            arms=tuple(row.arm for row in table.rows),
            workload=table.workload,
            clock=table.clock,
            params=table.params,
            stale=_stale(folder, made_of_table(table), settings),
        )


def _stale(
    folder: LessonFolder, recorded: Mapping[str, MadeOf], settings: KernelSettings
) -> dict[str, tuple[str, ...]]:
    """Arm -> what has changed, of those arms where something has."""
    known = {arm.name for arm in folder.lesson.arms}
    found: dict[str, tuple[str, ...]] = {}
    for arm, one in recorded.items():
        if arm not in known:
            found[arm] = ("the lesson has no such arm any more",)
        elif differs := changes(one, made_of(arm_spec(folder, arm), settings)):
            found[arm] = differs
    return found


def _made_of_entry(entry: ArmEntry) -> MadeOf:
    """What a bundle says of a lane's kernel."""
    return MadeOf(entry.config_sha256, patches_of(entry))


def checked_params(folder: LessonFolder, item: Item) -> dict[str, int]:
    """The knobs of an item as the lesson takes them today; knobs that it lost are left out.

    Raises:
        InputError: an arm, the workload or a value is not the lesson's any more.
    """
    for arm in item.arms:
        folder.arm(arm)
    if item.workload not in folder.lesson.workloads or item.clock not in folder.lesson.clocks:
        raise InputError(
            f"{item.title} is of the workload {item.workload:.40} on the {item.clock} clock, "
            "which the lesson no longer has.",
            remedy="Delete it, and record another with ./duet record.",
        )
    return folder.check_recorded_params(item.params, item.clock)
