# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench speed`: finds the stages, runs them, and prints what they found."""

from __future__ import annotations

import importlib
import os
import pkgutil
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import tools.bench.speed as package
from duet.base.errors import DuetError, InputError
from duet.cli.output import emit, note
from tools.bench.speed import history
from tools.bench.speed.curves import curves_of
from tools.bench.speed.machine import load, machine
from tools.bench.speed.page import write_page
from tools.bench.speed.pairs import Bench, DifferentResultsError, Figure, Row, Skipped, Stage
from tools.bench.speed.results import SpeedResult, StageResult
from tools.bench.speed.tables import (
    FIGURE_HEAD,
    ROW_HEAD,
    TARGET_HEAD,
    figure_cells,
    line,
    notes,
    number,
    row_cells,
    target_cells,
    text_table,
)

LIMIT_S = 20 * 60
STORE_RUNS = 3
Say = Callable[[str], None]


def stages() -> list[Stage]:
    """Return the stages of all modules of this package that have a stage, in order."""
    names = sorted(each.name for each in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    found = [stage for one in modules if isinstance(stage := getattr(one, "STAGE", None), Stage)]
    return sorted(found, key=lambda stage: (stage.order, stage.name))


def chosen(names: Sequence[str]) -> list[Stage]:
    """Return the named stages, or all stages if none is named.

    Raises:
        InputError: there is no such stage.
    """
    known = {stage.name: stage for stage in stages()}
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no stage '{name}'.", remedy=f"Choose from: {', '.join(known)}."
            )
    return [stage for name, stage in known.items() if not names or name in names]


def speed(
    names: Sequence[str], *, smoke: bool, check: bool, store: bool, write: Path | None, js: bool
) -> int:
    """Run the stages and print the result; return the exit code.

    Args:
        check: compare the ratios with the stored ones. A stage whose ratio fell runs once more.
        store: store the lowest ratios of STORE_RUNS runs.
        write: page to write.

    Raises:
        InputError: there is no such stage, or options contradict each other.
    """
    if (check or store) and not smoke:
        raise InputError(
            "stored ratios are those of smoke runs.", remedy="Add --smoke to --check or --store."
        )
    wanted = chosen(names)
    say: Say = note if js else _print
    began = time.monotonic()
    found = _run_all(wanted, smoke, say)
    if store:
        history.store([found, *(_run_all(wanted, smoke, say) for _ in range(STORE_RUNS - 1))])
    fallen = _check(wanted, found, smoke, say) if check else []
    result = SpeedResult(smoke, time.monotonic() - began, machine(), found, fallen)
    if js:
        emit(result)
    else:
        print("\n".join(text_of(result)))
    if write is not None:
        write_page(write, result, [stage.name for stage in stages()])
    for sentence in (*fallen, *(one.failed for one in found if one.failed)):
        note(sentence)
    return int(bool(fallen) or any(one.failed for one in found))


def run_stage(stage: Stage, smoke: bool, say: Say) -> StageResult:
    """Run one stage in a scratch folder.

    If the host lacks something that the whole stage needs, the stage is skipped. If the two sides
    differ or the stage has a fault, it has failed.
    """
    day = datetime.now(UTC).date().isoformat()
    result = StageResult(stage.name, stage.summary, day, load())
    say(f"== {stage.name}: {stage.summary}")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="duet-bench-") as folder:
        try:
            for one in stage.run(Bench(smoke, Path(folder))):
                result.add(one)
                if isinstance(one, Row | Figure):
                    say(f"{stage.name}: {line(one)}")
                elif isinstance(one, Skipped):
                    say(f"{stage.name}: skipped {one.case}: {one.why}")
        except DuetError as error:
            why = f"{error.sentence[:1].upper()}{error.sentence[1:]} {error.remedy}"
            result.add(Skipped(stage.name, "the rest of the stage", why))
            say(f"{stage.name}: skipped the rest: {why}")
        except DifferentResultsError as error:
            result.failed = str(error)
        except Exception as error:
            if os.environ.get("DUET_DEBUG"):
                raise
            result.failed = f"{stage.name} failed ({type(error).__name__}: {error})."
    result.seconds = round(time.monotonic() - began, 1)
    if result.failed:
        say(f"{stage.name}: FAILED: {result.failed}")
    return result


def text_of(result: SpeedResult) -> list[str]:
    """Return the lines of the report."""
    lines: list[str] = []
    for stage in result.stages:
        lines += ["", f"{stage.name}: {stage.summary} ({stage.seconds:.0f} s, load {stage.load})"]
        if stage.rows:
            lines += text_table(ROW_HEAD, row_cells(stage.rows))
        if stage.figures:
            lines += text_table(FIGURE_HEAD, figure_cells(stage.figures))
        lines += [f"  {text}" for text in notes(stage)]
        lines += [f"  skipped: {one.case}. {one.why}" for one in stage.skipped]
        for curve in curves_of(stage.points):
            places = ", ".join(f"{number(p.size)}: {number(p.cost)}" for p in curve.points)
            cost = curve.points[0].cost_unit
            lines.append(f"  {curve.name} {curve.growth} ({places} {cost})")
        if stage.failed:
            lines.append(f"  FAILED: {stage.failed}")
    if cells := target_cells(result.stages):
        lines += ["", *text_table(TARGET_HEAD, cells)]
    host = ", ".join(f"{name} {text}" for name, text in result.machine.host.items())
    versions = ", ".join(
        f"{name} {text or 'not installed'}" for name, text in result.machine.versions.items()
    )
    lines += ["", host, f"Kernel Duet {result.machine.duet}", versions]
    took = f"took {result.seconds:.0f} s"
    late = result.seconds > LIMIT_S
    return [
        *lines,
        f"{took}, more than the {LIMIT_S // 60} minutes that all may take" if late else took,
    ]


def _run_all(wanted: Sequence[Stage], smoke: bool, say: Say) -> list[StageResult]:
    return [run_stage(stage, smoke, say) for stage in wanted]


def _check(
    wanted: Sequence[Stage], found: Sequence[StageResult], smoke: bool, say: Say
) -> list[str]:
    """Return a sentence for each stage whose ratio fell in two runs."""
    stored = history.read()
    sentences = []
    for stage, first in zip(wanted, found, strict=True):
        tries = [first]
        if not _fallen(tries, stored):
            continue
        say(f"{stage.name}: a ratio fell; the stage runs once more")
        tries.append(run_stage(stage, smoke, say))
        if sentence := _fallen(tries, stored):
            sentences.append(sentence)
    return sentences


def _fallen(tries: Sequence[StageResult], stored: history.Ratios) -> str:
    skipped = any(one.skipped for one in tries)
    return history.fallen(tries[0].name, history.best(tries), skipped, stored)


def _print(text: str) -> None:
    print(text, flush=True)
