# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare two recordings of one lesson: their differences, then their figures side by side."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue

from duet.base.errors import InputError
from duet.bundle import Bundle, Figures, open_bundle
from duet.bundle.decoding import Difference, differences
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder
from duet.runs.pack import CYCLES_IN_FILES
from duet.runs.replay import play_bundle

SHOWN = ("ops", "metrics.wait_ns.p50", "metrics.wait_ns.p95", "metrics.op_ns.p50")
SHOWN_TOO = (f"metrics.{CYCLES_IN_FILES}", "metrics.events_lost", "ops_per_s")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison.

    Args:
        differences: differences between the manifests: first in kernels and configs, then in host
            and programs.
        figures: rows of {arm, figure, recorded, now, ratio}; `recorded` is the first recording's
            value, and `now` is the second's.
        only: "first" or "second" for each arm that only one recording contains, by arm.
    """

    one: Bundle
    other: Bundle
    differences: list[Difference]
    figures: list[dict[str, JsonValue]]
    only: dict[str, str]

    @property
    def worth(self) -> str:
        """Sentence that says to what extent the figures of the two recordings can be compared."""
        found = {difference.of for difference in self.differences}
        named = [
            word
            for of, word in (
                *(("kernel", "kernels"), ("config", "configs"), ("patches", "patches")),
                *(("host", "hosts"), ("run", "knobs or windows")),
            )
            if of in found
        ]
        start = "These are figures of traced runs: they explain, and prove nothing."
        return f"{start} The two differ in {' and '.join(named)}." if named else start

    def tree(self) -> dict[str, JsonValue]:
        sides: list[JsonValue] = [
            {
                "created": bundle.manifest.created,
                "clock": bundle.manifest.clock,
                "workload": bundle.manifest.workload,
                "params": dict(bundle.manifest.params),
                "arms": [entry.name for entry in bundle.manifest.arms],
                "host": dict(bundle.manifest.host),
            }
            for bundle in (self.one, self.other)
        ]
        return {
            "lesson": self.one.manifest.lesson,
            "sides": sides,
            "differences": [asdict(difference) for difference in self.differences],
            "figures": [dict(row) for row in self.figures],
            "only": dict(self.only),
            "worth": self.worth,
        }


def compare(first: Path, second: Path) -> Comparison:
    """Compare two recordings. Blocking: recordings without stored figures are replayed.

    Raises:
        InputError: a recording is unusable, or the recordings have different lessons or no common
            arm.
    """
    one, other = open_bundle(first), open_bundle(second)
    slugs = one.manifest.lesson, other.manifest.lesson
    if slugs[0] != slugs[1]:
        raise InputError(
            f"{first.name} belongs to lesson {slugs[0]}, and {second.name} to {slugs[1]}.",
            remedy="Compare two recordings of the same lesson.",
        )
    arms = [[entry.name for entry in bundle.manifest.arms] for bundle in (one, other)]
    if not set(arms[0]) & set(arms[1]):
        raise InputError(
            f"{first.name} has the arms {', '.join(arms[0])}, but {second.name} has "
            f"{', '.join(arms[1])}: they have no common arm.",
            remedy="Record one of them again with the other's arms.",
        )
    only = {arm: "first" for arm in arms[0] if arm not in arms[1]}
    only |= {arm: "second" for arm in arms[1] if arm not in arms[0]}
    folder = lessons.load(slugs[0])
    rows = figure_rows(figures_of(folder, one), figures_of(folder, other))
    return Comparison(one, other, differences(one.manifest, other.manifest), rows, only)


def figures_of(folder: LessonFolder, bundle: Bundle) -> dict[str, Figures]:
    """Return each lane's figures, from the recording or from a replay.

    Raises:
        DuetError: the recording has no figures and cannot be replayed.
    """
    recorded = {entry.name: entry.figures for entry in bundle.manifest.arms if entry.figures}
    if len(recorded) == len(bundle.manifest.arms):
        return recorded
    played = asyncio.run(play_bundle(folder, bundle))
    found = {entry.name: played.figures(entry.name) for entry in bundle.manifest.arms}
    return {arm: figures for arm, figures in found.items() if figures is not None}


def figure_rows(one: dict[str, Figures], other: dict[str, Figures]) -> list[dict[str, JsonValue]]:
    """Return the rows of Comparison.figures for common arms. `ratio` is `now` / `recorded`."""
    rows: list[dict[str, JsonValue]] = []
    for arm in (arm for arm in one if arm in other):
        before, now = flat(one[arm]), flat(other[arm])
        tallies = [name for name in before if name.startswith("tallies.")]
        for name in (*SHOWN, *SHOWN_TOO, *tallies):
            pair = before.get(name), now.get(name)
            if pair != (None, None) and pair != (0, 0):
                rows.append(
                    {"arm": arm, "figure": name, "recorded": pair[0], "now": pair[1],
                     "ratio": _ratio(*pair)}
                )  # fmt: skip
    return rows


def flat(figures: Figures) -> dict[str, JsonValue]:
    """Flatten nested figures to keys such as `metrics.wait_ns.p50`."""
    found: dict[str, JsonValue] = {}

    def walk(place: str, value: JsonValue) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(f"{place}.{key}" if place else key, inner)
        else:
            found[place] = value

    walk("", figures.model_dump(mode="json", exclude={"by"}))
    return found


def _ratio(before: JsonValue, now: JsonValue) -> float | None:
    if isinstance(before, int | float) and isinstance(now, int | float) and before:
        return round(now / before, 4)
    return None
