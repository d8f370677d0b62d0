# SPDX-License-Identifier: GPL-2.0-or-later
"""A played recording, as exports want it: whole tables by lane, with names for numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duet.bundle import Manifest
from duet.lenses import Sample
from duet.lessons.schema import Lesson
from duet.runs.replay import Played
from duet.session import TABLES, Columns, Row


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a replay with `with_batches` gave."""

    lesson: Lesson
    manifest: Manifest
    played: Played

    @property
    def arms(self) -> list[str]:
        """Lanes, in the recording's order."""
        return [entry.name for entry in self.manifest.arms]

    def table(self, arm: str, table: str) -> Columns:
        """All rows of a table; empty columns where there are none."""
        batches = self.played.sink.batches.get((arm, table), [])
        return {
            name: np.concatenate([batch.columns[name] for batch in batches])
            if batches
            else np.empty(0, dtype)
            for name, dtype in TABLES[table].items()
        }

    def rows(self, arm: str) -> tuple[Row, ...]:
        """Threads and tracks."""
        return self.played.sink.rows.get(arm, ())

    def samples(self, arm: str) -> list[tuple[Sample, float]]:
        """Samples of lenses, with their guest time since the start marker."""
        return self.played.sink.samples.get(arm, [])

    @property
    def probes(self) -> list[str]:
        """What lenses looked at, in any lane."""
        return sorted({sample.probe for arm in self.arms for sample, _ in self.samples(arm)})

    def kind_names(self, table: str) -> dict[int, str]:
        """Names behind the numbers of a table's `kind`."""
        lesson = self.lesson
        names = {
            "points": [point.name for point in lesson.points],
            "links": [link.name for link in lesson.links],
        }
        return dict(enumerate(names.get(table, [kind.name for kind in lesson.kinds])))

    def figures(self, arm: str) -> dict[str, float | str | None]:
        """Figures of a lane, flat."""
        found: dict[str, float | str | None] = {}
        figures = self.played.figures(arm)

        def walk(place: str, value: object) -> None:
            if isinstance(value, dict):
                for key, inner in value.items():
                    walk(f"{place}.{key}" if place else str(key), inner)
            elif value is None or isinstance(value, int | float | str):
                found[place] = value

        if figures is not None:
            walk("", figures.model_dump(mode="json", exclude={"by"}))
        return found
