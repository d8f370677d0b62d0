# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet replay`: plays a recording through the code of a live run, and compares its figures."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from duet.cli.keys import key, keys_text
from duet.cli.options import File, Json, find_recording
from duet.cli.output import emit

if TYPE_CHECKING:
    from pydantic import JsonValue

    from duet.bundle import Bundle, Figures
    from duet.lessons.load import LessonFolder


@dataclass(frozen=True, slots=True)
class ReplayedLane:
    """One lane."""

    arm: str
    same: bool | None
    differences: Sequence[Mapping[str, object]] = key(shape="[{figure, recorded, now}]")
    figures: Mapping[str, object] = key()


@dataclass(frozen=True, slots=True)
class ReplayResult:
    file: str
    lesson: str
    workload: str
    clock: str
    params: Mapping[str, int]
    recorded_at: str
    same: bool | None = key("bool; null when the recording has no figures")
    lanes: Sequence[ReplayedLane] = key()


KEYS = keys_text(ReplayResult, "Exit code 1 when a figure differs from the recorded one.")


def replay(file: File, as_json: Json = False) -> int:
    """Play a recording again and print its metrics.

    The data takes the same path as in a live run. The metrics are compared with the recorded ones.
    """
    from duet.bundle import open_bundle
    from duet.lessons import load as lessons

    path = find_recording(file)
    bundle = open_bundle(path)
    manifest = bundle.manifest
    lanes = replayed(lessons.load(manifest.lesson), bundle)
    verdicts = [lane.same for lane in lanes]
    same = None if None in verdicts else all(verdicts)
    if as_json:
        emit(
            ReplayResult(
                file=str(file),
                lesson=manifest.lesson,
                workload=manifest.workload,
                clock=manifest.clock,
                params=manifest.params,
                recorded_at=manifest.created,
                same=same,
                lanes=[
                    ReplayedLane(
                        lane.arm, lane.same, lane.differences, lane.now.model_dump(mode="json")
                    )
                    for lane in lanes
                ],
            )
        )
    else:
        print("\n".join([*table(lanes), "", *difference_lines(lanes)]))
    return 1 if same is False else 0


@dataclass(frozen=True, slots=True)
class LaneReplay:
    """Figures of one lane, as computed now and as recorded."""

    arm: str
    now: Figures
    recorded: Figures | None

    @property
    def same(self) -> bool | None:
        """Whether the figures are equal; None if the recording has no figures."""
        return None if self.recorded is None else not self.differences

    @property
    def differences(self) -> list[dict[str, JsonValue]]:
        """Figures that differ, sorted by name."""
        if self.recorded is None:
            return []
        return differences(self.recorded, self.now)


def differences(recorded: Figures, now: Figures) -> list[dict[str, JsonValue]]:
    """Compare two lanes' figures.

    The comparison ignores metrics that were added to the lesson after the recording. If one lane
    has no tables, the comparison ignores all tables. It also ignores which version of Kernel Duet
    computed the figures.
    """
    from duet.runs.compare import flat

    one, other = flat(recorded), flat(now)
    new = {f"tallies.{name}" for name in now.tallies.keys() - recorded.tallies.keys()}
    other = {name: value for name, value in other.items() if name not in new}
    if not recorded.tables or not now.tables:
        one, other = (
            {name: value for name, value in flat.items() if not name.startswith("tables.")}
            for flat in (one, other)
        )
    return [
        {"figure": name, "recorded": one.get(name), "now": other.get(name)}
        for name in sorted(set(one) | set(other))
        if one.get(name) != other.get(name)
    ]


def replayed(folder: LessonFolder, bundle: Bundle) -> list[LaneReplay]:
    """Play a bundle.

    Raises:
        DuetError: the bundle cannot be played to its end.
    """
    from duet.runs.replay import play_bundle

    played = asyncio.run(play_bundle(folder, bundle))
    found: list[LaneReplay] = []
    for entry in bundle.manifest.arms:
        now = played.figures(entry.name)
        assert now is not None  # play_bundle raises an error if a lane fails
        found.append(LaneReplay(entry.name, now, entry.figures))
    return found


def table(lanes: list[LaneReplay]) -> list[str]:
    """Format a table with figures as rows and lanes as columns. Rows of zeros are left out."""
    from duet.runs.compare import flat

    columns = [flat(lane.now) for lane in lanes]
    names = dict.fromkeys(name for column in columns for name in column)
    shown = [n for n in names if any(column.get(n) not in (None, 0) for column in columns)]
    rows = [("", *(lane.arm for lane in lanes))]
    rows += [(name, *(_cell(column.get(name)) for column in columns)) for name in shown]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        ).rstrip()
        for row in rows
    ]


def _cell(value: JsonValue) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def difference_lines(lanes: list[LaneReplay]) -> list[str]:
    """Say for each lane which figures differ, or that all are equal, in one or more sentences."""
    lines: list[str] = []
    for lane in lanes:
        if lane.recorded is None:
            lines.append(f"{lane.arm}: the recording has no figures to compare with.")
        elif not lane.differences:
            by = f" (counted by Kernel Duet {lane.recorded.by})" if lane.recorded.by else ""
            lines.append(f"{lane.arm}: every figure equals the recorded one{by}.")
        for found in lane.differences:
            lines.append(
                f"{lane.arm}: {found['figure']} was recorded as {found['recorded']}, "
                f"and is {found['now']} now."
            )
    return lines
