# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules on recordings and recorded tables: they are readable, complete, and support the claims."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

from duet.base.errors import DuetError, InputError
from duet.base.files import stamp
from duet.bundle import Manifest, read_manifest
from duet.kernels import KernelSettings
from duet.lessons import load as lessons
from duet.lessons.grid import CELLS, CELLS_BYTES, INDEX, PREFIX, cells_of
from duet.lessons.load import LessonFolder, folder_stamp
from duet.lessons.schema import Crossing, Place, Scene
from duet.lint.arms import lanes_of
from duet.lint.finding import Finding, NotChecked, Subject, unknown
from duet.lint.names import Lines, broken_claims, unmatched
from duet.measure.plan import applies
from duet.runs.fitting import Entry, best_recording, wanted_params
from duet.runs.sought import LaneTables, Names, StepInRun, is_shown
from duet.server.figures import crossing_ratios, table_ratio
from duet.server.interfaces import Run
from duet.server.recorded_items import (
    NATIVE,
    STALE,
    Item,
    cell_fault,
    first_changes,
    known_stale,
    read_native,
    recordings_of,
    tables_of,
)
from duet.server.recordings import (
    MEASURED,
    LessonRecordings,
    RecordedRun,
    describe,
    read_cells,
    read_own_tables,
)

Found = Iterator[Finding | NotChecked]
MAX_RECORDING_BYTES = 1_000_000
"""Maximum size of a bundle in the repository."""
CLEAR = 0.1
"""Minimum relative distance between a prediction's bound and a measured ratio for a clear
answer.
"""
DECODED_BY = ("lesson.yaml", "trace.yaml")
"""Lesson files that affect a recording."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The data of a recording that rules need.

    Args:
        lacks: sentence and remedy for each fault of the recording.
        lanes: tables of each arm.
    """

    manifest: Manifest
    lines: Lines
    lacks: tuple[tuple[str, str], ...]
    lanes: dict[str, LaneTables]


def recordings(subject: Subject) -> Found:
    """Check that recordings are small and complete and have operations, and that patterns match."""
    folder = subject.folder
    found: list[Recorded] = []
    for path in folder.recordings():
        size = path.stat().st_size
        if size > MAX_RECORDING_BYTES:
            sentence = f"the recording has {size} bytes, more than {MAX_RECORDING_BYTES}"
            yield Finding(
                sentence, "Record again with a shorter --window-ms.", file=path, where=path.name
            )
        try:
            one = read_recording(folder, path)
        except DuetError as error:
            sentence = error.sentence.removesuffix(".")
            yield Finding(sentence, error.remedy, file=path, where=path.name)
            continue
        found.append(one)
        for sentence, remedy in one.lacks:
            yield Finding(sentence, remedy, file=path, where=path.name)
    yield from unmatched(subject, [(one.manifest, one.lines) for one in found])


def read_recording(folder: LessonFolder, path: Path) -> Recorded:
    """Decode a recording, once for all rules.

    Results are cached, because --watch asks often. The cache's key covers the recording and the
    files that affect its decoding.

    Raises:
        DuetError: the recording cannot be played.
    """
    by = tuple(one for one in folder_stamp(folder.folder) if one[0] in DECODED_BY)
    return _decoded(folder.slug, path, (by, stamp(path)))


@lru_cache(maxsize=64)
def _decoded(slug: str, path: Path, key: object) -> Recorded:
    """Decode a recording. The argument `key` serves only as cache key."""
    del key
    return asyncio.run(_play(slug, path))


async def _play(slug: str, path: Path) -> Recorded:
    run = await LessonRecordings().load(slug, path.stem)
    assert isinstance(run, RecordedRun)
    try:
        manifest = read_manifest(path)
        lacks = tuple(_lacking(lessons.load(slug), run, manifest.workload))
        return Recorded(manifest, run.log.lines(), lacks, lanes_of(run.log))
    finally:
        run.close()


def _lacking(folder: LessonFolder, run: Run, workload: str) -> Iterator[tuple[str, str]]:
    """Yield sentence and remedy for each fault of a recording."""
    again = f"Make it again with ./duet record {folder.slug}."
    operation = folder.lesson.operation_of(workload)
    for arm, metrics in run.log.metrics().items():
        if operation is not None and operation.open:
            if metrics.ops == 0:
                ends = f"from the probe {operation.open} to {operation.close}"
                remedy = (
                    f"If the workload {workload} does something else, give it a separate "
                    "`operation` in lesson.yaml. Otherwise correct the probes and record it again."
                )
                yield f"lane {arm} has no {operation.name}, {ends}", remedy
        elif _watched(folder, workload) and not run.log.seen(arm):
            # No event marks the operations of this workload, so only lenses can show data.
            yield f"no lens has observed anything in lane {arm}", again
        if metrics.events_lost:
            yield f"lane {arm} has lost {metrics.events_lost} events", again


def _watched(folder: LessonFolder, workload: str) -> bool:
    """Return whether a lens (x-ray or microscope) watches the workload."""
    lesson = folder.lesson
    scope = lesson.microscope is not None and workload in lesson.microscope.workloads
    return scope or any(workload in (x.workloads or lesson.workloads) for x in lesson.xray)


def native(subject: Subject) -> Found:
    """Check that a result of `duet microscope --native` can be read."""
    try:
        read_native(subject.folder.folder)
    except InputError as error:
        yield Finding(str(error).removesuffix("."), error.remedy, where=NATIVE)


def claims(subject: Subject) -> Found:
    """Check that the recorded tables satisfy the claims."""
    folder = subject.folder
    tables = read_own_tables(folder.folder / "recorded" / MEASURED)
    for index, sentence in broken_claims(folder.lesson, tables):
        remedy = "Measure again with ./duet record --measured, or correct the claim."
        place = ("claims", index)
        yield Finding(sentence.removesuffix("."), remedy, place, where=f"claim {index + 1}")


def table(subject: Subject) -> Found:
    """Check that a step's untraced table exists, or that the lesson explains its absence."""
    folder = subject.folder
    lesson = folder.lesson
    if read_own_tables(folder.folder / "recorded" / MEASURED):
        if lesson.no_table:
            sentence = "a table is recorded, but `no_table` says why there is none"
            yield Finding(sentence, "Leave `no_table` out.", ("no_table",))
        return
    # A lesson without any recording is unfinished.
    if lesson.no_table or not folder.recordings():
        return
    for number, scene in enumerate(lesson.scenes):
        if "measured" in scene.show:
            yield Finding(
                "this step shows the table of untraced runs, but none is recorded",
                f"Record one with ./duet record {folder.slug} --only-measured, or write into "
                "`no_table` in evidence.yaml why there is none.",
                ("scenes", number, "show"),
            )


def predictions(subject: Subject) -> Found:
    """Check that a prediction about a recorded table has a clear answer in the table."""
    folder = subject.folder
    tables = read_own_tables(folder.folder / "recorded" / MEASURED)
    if not tables:
        return
    usual = next(iter(folder.lesson.workloads), "")
    for key, one in folder.lesson.predictions.items():
        if one.measured_on is None:
            continue
        if one.metric != "ops_ratio":
            sentence = f"a table can answer only ops_ratio, not {one.metric}"
            remedy = "Leave `measured_on` out."
            yield Finding(sentence, remedy, ("predictions", key, "measured_on"))
            continue
        ratio = table_ratio(one, [table for table in tables if table.workload == usual])
        if ratio is None:
            sentence = (
                f"no recorded table on the {one.measured_on} clock with these params has "
                f"{one.arms[0]} and {one.arms[1]}"
            )
            remedy = (
                f"Measure with ./duet record {folder.slug} --only-measured, "
                "or correct the prediction."
            )
            yield Finding(sentence, remedy, ("predictions", key, "measured_on"))
            continue
        for bound in one.bounds:
            if abs(ratio / bound - 1) < CLEAR:
                sentence = f"the table says {ratio:.3g}, which is too close to the bound {bound:g}"
                remedy = "Ask a question with a clear answer."
                yield Finding(sentence, remedy, ("predictions", key, "bounds"))


def grid(subject: Subject) -> Found:
    """Check that each cell of a grid is recorded as the grid says, and check the total size."""
    folder = subject.folder
    try:
        cells = cells_of(folder)
        listed = {cell.name: cell for cell in read_cells(folder.folder / INDEX)}
    except InputError as error:
        yield Finding(error.sentence.removesuffix("."), error.remedy, ("grids",))
        return
    yield from _curves_without_numbers(subject)
    for path in folder.recordings():
        if path.stem.startswith(PREFIX):
            sentence = f"only cells of grids have names that begin with {PREFIX}"
            yield Finding(sentence, "Give the recording another name.", file=path, where=path.name)
    again = f"Record it with ./duet record {folder.slug} --grid all."
    if not listed and not folder.cells() and cells:
        yield NotChecked("no cell of its grids is recorded yet")
        return
    for cell in cells:
        if fault := cell_fault(folder, cell, listed.get(cell.name)):
            yield Finding(fault, again, ("grids", cell.grid), where=f"cell {cell.name}")
    known = {cell.name for cell in cells}
    for name in sorted({*listed, *(path.stem for path in folder.cells())} - known):
        sentence = f"no grid of the lesson has the cell {name}"
        remedy = f"Delete {CELLS}/{name}.duet, and the cell in {INDEX}."
        yield Finding(sentence, remedy, ("grids",), where=f"cell {name}")
    size = sum(path.stat().st_size for path in folder.cells())
    if size > CELLS_BYTES:
        sentence = f"the cells of the lesson's grids have {size} bytes, more than {CELLS_BYTES}"
        yield Finding(sentence, "Record fewer values, or a shorter window_ms.", ("grids",))


def _curves_without_numbers(subject: Subject) -> Found:
    """Report curves whose metric a run of the grid does not have."""
    lesson = subject.folder.lesson
    for name, one in lesson.grids.items():
        workload = one.workload or next(iter(lesson.workloads))
        for key, curve in one.curves.items():
            metric = lesson.metrics[curve.metric]
            without = [
                arm for arm in one.arms if not applies(lesson, metric, workload, lesson.clock, arm)
            ]
            if without:
                sentence = f"a run of {workload} on {without[0]} has no {curve.metric}"
                remedy = "Choose a metric of this workload that all arms of the grid have."
                yield Finding(sentence, remedy, ("grids", name, "curves", key, "metric"))


def crossings(subject: Subject) -> Found:
    """Check that a prediction over a grid has a clear answer in the recorded cells."""
    folder = subject.folder
    lesson = folder.lesson
    for key, one in lesson.predictions.items():
        place = ("predictions", key, "crossing")
        if (one.crossing is None) != (one.metric != "crossing"):
            sentence = "`crossing:` and the metric crossing belong together"
            yield Finding(sentence, "Write both, or neither.", place)
        if one.crossing is None:
            continue
        grid = lesson.grids.get(one.crossing.grid)
        if grid is None or one.crossing.curve not in grid.curves:
            sentence = f"no grid has the curve {one.crossing.grid}.{one.crossing.curve}"
            yield Finding(sentence, "Name a grid and one of its curves.", place)
            continue
        if missing := [arm for arm in one.arms if arm not in grid.arms]:
            arms = ("predictions", key, "arms")
            yield unknown("the grid has no arm", missing[0], grid.arms, arms)
            continue
        try:
            cells = read_cells(folder.folder / INDEX)
        except InputError:
            continue  # another rule reports this error
        yield from _unclear(one.crossing, crossing_ratios(lesson, one, cells), place)


def _unclear(asked: Crossing, ratios: list[tuple[int, float]], place: Place) -> Found:
    """Report each ratio next to the crossing of the limit that is too close to the limit."""
    limit = asked.below or asked.above or 0.0
    passed = [ratio < limit if asked.below else ratio > limit for _, ratio in ratios]
    if not ratios:
        yield NotChecked("no cell answers the prediction over the grid yet")
        return
    first = passed.index(True) if True in passed else len(passed)
    for value, ratio in ratios[max(first - 1, 0) : first + 1]:
        if abs(ratio / limit - 1) < CLEAR:
            sentence = f"the ratio at {value} is {ratio:.3g}, too close to the limit {limit:g}"
            yield Finding(sentence, "Ask for another limit, with a clear answer.", place)


# Rule: recordings and recorded tables were made with the current patches and config of the
# checkout.


def fresh(subject: Subject) -> Iterator[Finding | NotChecked]:
    """Check that recordings and recorded tables are of the kernels that the checkout builds now."""
    slug = subject.folder.slug
    known = known_stale(subject.folder.folder / "recorded")
    for item in chain(_found(recordings_of, subject), _found(tables_of, subject)):
        if item.stale and item.name in known:
            yield NotChecked(f"{item.name} is stale, and {STALE} lists it to be made again")
            continue
        remedy = f"Make it again with ./duet record-all {slug}."
        if item.on:
            remedy = f"Measure there again with ./duet pack {slug}, or delete the table."
        for arm, changed in item.stale.items():
            which = f"{item.name}: " if item.kind == "table" else ""
            sentence = (
                f"{which}the kernel of {arm} differs from the recorded one "
                f"({first_changes(changed)})"
            )
            yield Finding(sentence, remedy, file=item.path, where=item.path.name)


def _found(
    items: Callable[[LessonFolder, KernelSettings], Iterator[Item]], subject: Subject
) -> Iterator[Item]:
    """Yield items of one type. Another rule reports unreadable items."""
    try:
        yield from items(subject.folder, KernelSettings.default())
    except InputError:
        return


# Rule: each step's claim is visible. The recording that the page opens must have a window that
# shows the claim.

HZ = 250
"""Ticks per second, unless the base sets another number (messages.lesson)."""


def spans(subject: Subject) -> Iterator[Finding | NotChecked]:
    """Check that the marks that a step's window must show name only kinds that have spans."""
    drawn = {kind.name for kind in subject.folder.lesson.kinds if kind.layer == "mark"}
    for index, scene in enumerate(subject.folder.lesson.scenes):
        for number, one in enumerate(scene.must_show.marks if scene.must_show else ()):
            for key in ("kind", "during"):
                if (name := getattr(one, key)) in drawn:
                    sentence = (
                        f"the kind '{name}' is drawn by the view from points and has no spans"
                    )
                    place = ("scenes", index, "must_show", "marks", number, key)
                    yield Finding(sentence, "Name the `point:` for which it stands.", place)


def windows(subject: Subject) -> Iterator[Finding | NotChecked]:
    """Check that each step's `must_show` is visible in its recording."""
    folder = subject.folder
    known = (describe(path.stem, path, whole=False) for path in folder.recordings())
    listing = [entry for entry in known if entry is not None]
    for index, scene in enumerate(folder.lesson.scenes):
        if scene.must_show is None or not listing:
            continue
        best = best_recording(folder, scene, listing)
        entry = next(one for one in listing if one["name"] == best)
        if why := _why_unfit(folder, scene, entry):
            yield NotChecked(f"the `must_show` of the step '{scene.id}' was not checked: {why}")
            continue
        path = folder.folder / "recorded" / f"{best}.duet"
        try:
            seen = _shows_claim(folder, scene, path, str(entry["workload"]))
        except DuetError:
            continue  # another rule reports this error
        if not seen:
            sentence = f"no window of the recording {best} shows that {scene.must_show.that}"
            remedy = (
                "Record a run that shows it, or change `must_show:` to what the recording shows, "
                "and the prose with it."
            )
            yield Finding(sentence, remedy, ("scenes", index, "must_show"))


def _why_unfit(folder: LessonFolder, scene: Scene, entry: Entry) -> str:
    """Return why the recording does not fit the step's run; "" if it fits."""
    arms, params = entry["arms"], entry["params"]
    assert isinstance(arms, list) and isinstance(params, dict)
    lacking = [arm for arm in scene.arms if arm not in arms]
    if lacking:
        return f"the recording that fits best has no lane {', '.join(lacking)}"
    wanted = wanted_params(folder, scene)
    off = [name for name, value in wanted.items() if params.get(name, value) != value]
    if off:
        return f"the recording that fits best has other values of {', '.join(off)}"
    return ""


def _shows_claim(folder: LessonFolder, scene: Scene, path: Path, workload: str) -> bool:
    lesson = folder.lesson
    lanes = read_recording(folder, path).lanes
    axis = lesson.axis
    if axis is not None and (not axis.workloads or workload in axis.workloads):
        number = next(i for i, point in enumerate(lesson.points) if point.name == axis.point)
        lanes = {arm: lane.on_axis(number) for arm, lane in lanes.items()}
    shown = {arm: lanes[arm] for arm in scene.arms if arm in lanes}
    return is_shown(StepInRun(scene, shown, Names.of(lesson), 1e9 / HZ))
