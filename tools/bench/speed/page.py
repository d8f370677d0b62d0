# SPDX-License-Identifier: GPL-2.0-or-later
"""Write docs/SPEED.md, with tables, curves and the machine of the last run, and SPEED.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from duet.base.errors import InputError
from duet.cli.keys import from_tree
from duet.cli.output import note
from tools.bench.speed.curves import Curve, curves_of, picture
from tools.bench.speed.results import SpeedResult, StageResult
from tools.bench.speed.tables import (
    FIGURE_HEAD,
    ROW_HEAD,
    TARGET_HEAD,
    figure_cells,
    markdown_table,
    notes,
    number,
    row_cells,
    target_cells,
)

PICTURES = "images/speed"
SAME = ("cpu", "cpus", "memory_mib")
"""Facts of the host that figures on one page must share."""
HEAD = """\
<!-- SPDX-License-Identifier: GPL-2.0-or-later -->
<!-- Written by `python -m tools.bench speed --write docs/SPEED.md`. Do not edit. -->
# Speed

How fast each stage of Kernel Duet is: beside the best program that does the same work, on the \
same input, in the same run. For people who compare us with trace-cmd, virtme-ng, perf or \
Perfetto, and for those who make a stage faster.

```
make bench                  all stages, in less than 20 minutes
make bench STAGE=decode     one of them
make bench ARGS='speed --write docs/SPEED.md'
```

The last line writes this page; `SPEED.json` has every number of it.

## How to read it
- **Ratio**: the peer's time by ours. Above 1, we are faster. Both sides run in turns (A B A B, \
at least seven pairs); each pair gives one ratio, and the table has their median and quartiles. \
Absolute times depend on the machine and its load, ratios hardly.
- **Equal results**: before the first pair both sides do the work once, and their results are \
compared. If they differ, the stage fails.
- **Clock**: the ratio is of CPU time (of the process and its children) or of wall time; the \
table has both times of both sides, as medians.
- **A second**: amount of work by this clock.
- **Growth**: the exponent of the power law that fits a curve's points best: 1 is linear.
- A comparison whose program is not installed is skipped, with a sentence.
- CI runs small forms of some stages, and warns if a ratio fell below 3/4 of the one in \
`tools/bench/speed/ratios.json`."""


def write_page(path: Path, result: SpeedResult, names: Sequence[str]) -> None:
    """Write the page, its pictures and its JSON file.

    Stages that did not run keep their earlier results if these are from the same machine.

    Args:
        path: docs/SPEED.md, or a file elsewhere.
        names: all stages, in order.

    Raises:
        InputError: a smoke run has no figures for the page.
    """
    if result.smoke:
        raise InputError(
            "a smoke run is too short for the page.", remedy="Leave --smoke out, or --write."
        )
    stored = path.with_suffix(".json")
    result = SpeedResult(
        False, result.seconds, result.machine, _merged(stored, result, names), result.fallen
    )
    stored.write_text(json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n")
    folder = path.parent / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {
        curve.file_name: picture(curve)
        for stage in result.stages
        for curve in curves_of(stage.points)
    }
    for old in folder.glob("*.svg"):
        if old.name not in drawn:
            old.unlink()
    for name, text in drawn.items():
        (folder / name).write_text(text)
    path.write_text(page(result))


def page(result: SpeedResult) -> str:
    """Return the text of the page."""
    parts = [HEAD, *_targets(result.stages)]
    for stage in result.stages:
        parts += _stage(stage)
    return "\n\n".join([*parts, *_machine(result)]) + "\n"


def _merged(stored: Path, result: SpeedResult, names: Sequence[str]) -> list[StageResult]:
    """Return the new results, and the stored ones of other stages, in order."""
    found: dict[str, StageResult] = {}
    if stored.is_file():
        old = from_tree(SpeedResult, json.loads(stored.read_text()))
        if all(old.machine.host.get(fact) == result.machine.host.get(fact) for fact in SAME):
            found = {stage.name: stage for stage in old.stages}
        else:
            note("the page's other stages were measured on another machine, and are left out")
    found |= {stage.name: stage for stage in result.stages}
    return [found[name] for name in names if name in found]


def _targets(stages: Sequence[StageResult]) -> list[str]:
    cells = target_cells(stages)
    if not cells:
        return []
    missed = sum(row[-1] != "met" for row in cells)
    words = "all are met" if not missed else f"{missed} missed"
    return [
        "## Targets",
        f"{len(cells)} targets: {words}. A target for a ratio is a multiple of the peer's speed.",
        "\n".join(markdown_table(TARGET_HEAD, cells)),
    ]


def _stage(stage: StageResult) -> list[str]:
    parts = [
        f"## {stage.name}",
        f"{stage.summary[:1].upper()}{stage.summary[1:]}. Measured {stage.day}, "
        f"load {stage.load:.1f} before it, {stage.seconds:.0f} s.",
    ]
    if stage.failed:
        parts.append(f"**This stage failed**: {stage.failed}")
    if stage.rows:
        parts.append("\n".join(markdown_table(ROW_HEAD, row_cells(stage.rows))))
    if stage.figures:
        parts.append("\n".join(markdown_table(FIGURE_HEAD, figure_cells(stage.figures))))
    items = [f"- {text}" for text in notes(stage)]
    items += [f"- Skipped: {one.case}. {one.why}" for one in stage.skipped]
    if items:
        parts.append("\n".join(items))
    for curve in curves_of(stage.points):
        parts += _curve(curve)
    return parts


def _curve(curve: Curve) -> list[str]:
    first = curve.points[0]
    cells = [
        (first.unit, *(number(point.size) for point in curve.points)),
        (first.cost_unit, *(number(point.cost) for point in curve.points)),
    ]
    return [
        f"**{curve.name}**: {curve.growth}.",
        "\n".join(markdown_table(cells[0], cells[1:])),
        f"![{curve.name}, on logarithmic axes; dashed: linear growth]"
        f"({PICTURES}/{curve.file_name})",
    ]


def _machine(result: SpeedResult) -> list[str]:
    host = dict(result.machine.host)
    memory = int(host.pop("memory_mib", "0")) / 1024
    facts = [f"{name} {text}" for name, text in host.items()] + [f"memory {memory:.1f} GiB"]
    versions = [f"{name} {text}" for name, text in result.machine.versions.items() if text]
    missing = [name for name, text in result.machine.versions.items() if not text]
    lines = [
        f"- {', '.join(facts)}",
        f"- Kernel Duet {result.machine.duet}",
        f"- {', '.join(versions)}",
    ]
    if missing:
        lines.append(f"- not installed: {', '.join(missing)}")
    return ["## Machine", "\n".join(lines)]
