# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lesson's recordings and recorded tables say to its predictions of `ops_ratio`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from duet.base.files import stamp
from duet.bundle import read_manifest
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Prediction
from duet.messages import Measured
from duet.server.recordings import MEASURED, read_tables

OPS_RATIO: Final = "ops_ratio"
"""Other answers to predictions are a view's, and only the page can compute them."""


def recorded_choice(prediction: Prediction, folder: LessonFolder) -> int | None:
    """Which choice of a prediction is right, from 0; None: nothing recorded says it.

    Raises:
        InputError: a recording or a table cannot be read.
    """
    ratio = recorded_ratio(prediction, folder)
    return None if ratio is None else bisect_right(prediction.bounds, ratio)


def recorded_ratio(prediction: Prediction, folder: LessonFolder) -> float | None:
    """The first arm's operations over the second's; None: nothing recorded says it.

    Raises:
        InputError: a recording or a table cannot be read.
    """
    if prediction.metric != OPS_RATIO:
        return None
    if prediction.measured_on is not None:
        path = folder.folder / "recorded" / MEASURED
        usual = next(iter(folder.lesson.workloads), "")
        return table_ratio(
            prediction, [t for t in _tables(path, stamp(path)) if t.workload == usual]
        )
    for path in folder.recordings():
        params, ops = _figures(path, stamp(path))
        of, to = (ops.get(arm) for arm in prediction.arms)
        if prediction.params.items() <= params.items() and of and to:
            return of / to
    return None


@lru_cache(maxsize=64)
def _tables(path: Path, when: object) -> list[Measured]:
    """Recorded tables of a lesson; `when` is there for the cache."""
    del when
    return read_tables(path)


@lru_cache(maxsize=64)
def _figures(path: Path, when: object) -> tuple[dict[str, int], dict[str, int | None]]:
    """Knobs of a recording, and operations of each lane; `when` is there for the cache."""
    del when
    manifest = read_manifest(path)
    ops = {one.name: one.figures.ops for one in manifest.arms if one.figures is not None}
    return dict(manifest.params), ops


def table_ratio(prediction: Prediction, tables: Sequence[Measured]) -> float | None:
    """The first arm's median over the second's; None: no table fits."""
    for table in tables:
        params = prediction.params.items()
        if table.clock != prediction.measured_on or not params <= table.params.items():
            continue
        medians = {row.arm: row.ops_per_s_median for row in table.rows}
        of, to = (medians.get(arm) for arm in prediction.arms)
        if of and to:
            return of / to
    return None
