# SPDX-License-Identifier: GPL-2.0-or-later
"""Measured tables of published figures in one JSON file: read, written, looked up.

The file holds samples, not verdicts: rows are judged when they are printed, so that a change of
the rule or of a figure needs no guest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from duet.durable import write
from duet.errors import InputError
from duet.guests.types import Clock
from duet.measure.model import ArmFacts, Condition, Evidence, Series, Table
from duet.measure.published import Key

VERSION = 1


class StoredSeries(BaseModel):
    """See model.Series."""

    model_config = ConfigDict(extra="forbid")
    metric: str
    title: str
    unit: str
    better: Any
    evidence: Evidence
    arm: str
    samples: list[float]
    perturbed: list[float] = []
    resolution: float = 0.0
    extra: bool = False
    refused: str | None = None
    layouts: dict[int, list[float]] = {}


class StoredTable(BaseModel):
    """All of one condition, and what it was made of.

    Args:
        at: ISO 8601, UTC.
        host: fingerprint, as in a report.
        arms: facts of the arms that ran, by hash.
    """

    model_config = ConfigDict(extra="forbid")
    lesson: str
    workload: str
    clock: Clock
    shift: int
    params: dict[str, int]
    at: str
    host: dict[str, str]
    arms: list[ArmFacts]
    series: list[StoredSeries]
    refusals: list[str] = []

    @property
    def key(self) -> Key:
        """As rows look it up."""
        return self.workload, self.clock, self.shift, tuple(self.params.items())

    def table(self) -> Table:
        """The numbers alone."""
        shift = self.shift if self.clock is Clock.COUNT else None
        condition = Condition(self.clock, shift, self.workload, self.params)
        series = [Series(**one.model_dump()) for one in self.series]
        return Table(condition, series=series, refusals=list(self.refusals))

    def has(self, arms: Mapping[str, str], metrics: Iterable[str]) -> bool:
        """Are there numbers of all these metrics, on these kernels (arm -> key)?"""
        keys = {arm.name: arm.key for arm in self.arms}
        return all(keys.get(arm) == key for arm, key in arms.items()) and all(
            any(s.metric == m and s.arm == a and s.samples for s in self.series)
            for m in metrics
            for a in arms
        )


class Stored(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid")
    version: int = VERSION
    tables: list[StoredTable] = []

    def of(self, lesson: str) -> dict[Key, StoredTable]:
        """The tables of one lesson."""
        return {table.key: table for table in self.tables if table.lesson == lesson}

    def fitted(self, knobs: Mapping[str, Mapping[str, int]]) -> Stored:
        """With the usual value of each knob that a lesson has got since, in the lesson's order.

        Args:
            knobs: lesson -> knob -> its usual value. Where a knob is gone, the table stays.
        """
        tables = []
        for table in self.tables:
            usual = knobs.get(table.lesson, {})
            if set(table.params) <= set(usual):
                now = {name: table.params.get(name, value) for name, value in usual.items()}
                table = table.model_copy(update={"params": now})
            tables.append(table)
        return Stored(tables=tables)

    def put(self, table: StoredTable) -> None:
        """In place of the one of the same condition, or at its place in the order."""
        others = [one for one in self.tables if (one.lesson, one.key) != (table.lesson, table.key)]
        order = lambda one: (one.lesson, one.workload, one.clock, one.shift, str(one.params))  # noqa: E731
        self.tables = sorted([*others, table], key=order)


def stored_table(
    lesson: str, table: Table, arms: Iterable[ArmFacts], host: Mapping[str, str], at: str
) -> StoredTable:
    """What of a table goes into the file."""
    condition = table.condition
    return StoredTable(
        lesson=lesson,
        workload=condition.workload,
        clock=condition.clock,
        shift=condition.shift or 0,
        params=condition.params,
        at=at,
        host=dict(host),
        arms=list(arms),
        series=[StoredSeries(**asdict(one)) for one in table.series],
        refusals=table.refusals,
    )


def read_stored(path: Path) -> Stored:
    """The file; an empty one where there is none.

    Raises:
        InputError: it cannot be read, or is something else.
    """
    try:
        return Stored.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Stored()
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(
            f"{path.name} does not hold results of published figures.",
            remedy="Name another file, or delete it to measure all anew.",
        ) from error


def write_stored(path: Path, stored: Stored) -> None:
    """Write it, whole or not at all."""
    tree = stored.model_dump(mode="json", exclude_defaults=True)
    text = json.dumps({"version": VERSION, **tree}, indent=1, ensure_ascii=False)
    write(path, f"{text}\n".encode())
