# SPDX-License-Identifier: GPL-2.0-or-later
"""The history: ratios of smoke runs in ratios.json, and which ratios have lost a quarter.

The ratio of a stage to its peer in the same run depends little on the machine and its load. So if a
ratio falls, the stage has become slower, or the peer has become faster.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.bench.speed.pairs import Row
from tools.bench.speed.results import StageResult
from tools.bench.speed.tables import ratio_text

FILE = Path(__file__).with_name("ratios.json")
KEPT_SHARE = 0.75
Ratios = dict[str, dict[str, float]]
"""Stage -> comparison -> ratio."""


def read(path: Path | None = None) -> Ratios:
    """Return the ratios stored in a file (FILE if None); {} if there is no file."""
    path = path or FILE
    if not path.is_file():
        return {}
    found: Ratios = json.loads(path.read_text())
    return found


def key_of(row: Row) -> str:
    """Return the name of a comparison within its stage."""
    return f"{row.case}, beside {row.peer}"


def best(tries: Sequence[StageResult]) -> dict[str, float]:
    """Return each comparison's best ratio in several runs of one stage.

    Here the ratio of a run is its third quartile. On a busy machine, some pairs are bad, but if a
    stage has become slower, no pair is good.
    """
    found: dict[str, float] = {}
    for one in tries:
        for row in one.rows:
            name = key_of(row)
            found[name] = max(row.high, found.get(name, 0.0))
    return found


def fallen(stage: str, found: Mapping[str, float], skipped: bool, stored: Ratios) -> str:
    """Say in a sentence which ratios fell below KEPT_SHARE of the stored ones; "" if none did.

    Args:
        skipped: whether the run skipped comparisons, so that stored comparisons may be missing.
    """
    parts = []
    for name, was in stored.get(stage, {}).items():
        if name not in found:
            if not skipped:
                parts.append(f"{name}: no such comparison in this run")
        elif found[name] < KEPT_SHARE * was:
            parts.append(f"{name}: ratio {ratio_text(found[name])}, stored {ratio_text(was)}")
    if not parts:
        return ""
    return f"{stage} lost more than a quarter of its ratio ({'; '.join(parts)})."


def store(runs: Sequence[Sequence[StageResult]], path: Path | None = None) -> None:
    """Store each comparison's lowest ratio in several runs; other stages keep theirs.

    Here the ratio of a run is its first quartile, which a run on a busy machine also reaches.
    """
    stored = read(path)
    for name in dict.fromkeys(stage.name for run in runs for stage in run):
        seen: dict[str, list[float]] = {}
        for run in runs:
            for row in (row for stage in run if stage.name == name for row in stage.rows):
                seen.setdefault(key_of(row), []).append(row.low)
        stored[name] = {each: float(f"{min(lows):.3g}") for each, lows in seen.items()}
    text = json.dumps(dict(sorted(stored.items())), indent=1, ensure_ascii=False)
    (path or FILE).write_text(f"{text}\n")
