# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings and recorded tables: they open, they lost nothing, and they say what is claimed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from duet.bundle import Manifest, read_manifest
from duet.errors import DuetError, InputError
from duet.lessons import load as lessons
from duet.lessons.files import stamp
from duet.lessons.load import LessonFolder
from duet.lint.claims import broken_claims
from duet.lint.finding import Finding, NotChecked, Subject
from duet.lint.metrics import Lines, unmatched
from duet.serve.interfaces import Run
from duet.serve.labs.recorded import table_ratio
from duet.serve.native_file import NATIVE, read_native
from duet.serve.recordings import MEASURED, LessonRecordings, read_tables

Found = Iterator[Finding | NotChecked]
MAX_RECORDING_BYTES = 1_000_000
"""A bundle in the repository; larger ones belong elsewhere."""
CLEAR = 0.1
"""A measured ratio this near to a bound of its prediction, as a share of it, decides nothing."""
DECODED_BY = ("lesson.yaml", "trace.yaml")
"""Files of a lesson on which it depends what a recording says."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a recording says, as far as rules ask.

    Args:
        lacks: sentence and remedy for each thing that it does not have.
    """

    manifest: Manifest
    lines: Lines
    lacks: tuple[tuple[str, str], ...]


def recordings(subject: Subject) -> Found:
    """Each recording is small and whole and has operations; each pattern matches a line."""
    folder = subject.folder
    found: list[Recorded] = []
    # Decoded again only when it or what decodes it changed: --watch asks often.
    by = tuple(one for one in stamp(folder.folder) if one[0] in DECODED_BY)
    for path in folder.recordings():
        status = path.stat()
        if status.st_size > MAX_RECORDING_BYTES:
            sentence = f"the recording has {status.st_size} bytes, more than {MAX_RECORDING_BYTES}"
            yield Finding(sentence, "Record a shorter --window-ms.", file=path, where=path.name)
        try:
            one = _read(folder.slug, path, (by, status.st_size, status.st_mtime_ns))
        except DuetError as error:
            sentence = error.sentence.removesuffix(".")
            yield Finding(sentence, error.remedy, file=path, where=path.name)
            continue
        found.append(one)
        for sentence, remedy in one.lacks:
            yield Finding(sentence, remedy, file=path, where=path.name)
    yield from unmatched(subject, [(one.manifest, one.lines) for one in found])


@lru_cache(maxsize=64)
def _read(slug: str, path: Path, key: object) -> Recorded:
    """Decode a recording; `key` is there for the cache."""
    del key
    run = asyncio.run(LessonRecordings().load(slug, path.stem))
    assert run is not None
    manifest = read_manifest(path)
    lacks = tuple(_lacking(lessons.load(slug), run, manifest.workload))
    return Recorded(manifest, run.log.lines(), lacks)


def _lacking(folder: LessonFolder, run: Run, workload: str) -> Iterator[tuple[str, str]]:
    """Sentence and remedy for each thing that a recording does not have."""
    again = f"Make it anew with ./duet record {folder.slug}."
    operation = folder.lesson.operation_of(workload)
    for arm, metrics in run.log.metrics().items():
        if operation is not None and operation.open:
            if metrics.ops == 0:
                ends = f"from the probe {operation.open} to {operation.close}"
                remedy = (
                    f"If the workload {workload} does something else, give it an `operation` of "
                    f"its own in lesson.yaml; else correct the probes and record it anew."
                )
                yield f"lane {arm} has no {operation.name}, {ends}", remedy
        elif _watched(folder, workload) and not run.log.seen(arm):
            # No event marks its operations: what its lenses saw is all that it shows.
            yield f"no lens has seen anything of lane {arm}", again
        if metrics.events_lost:
            yield f"lane {arm} has lost {metrics.events_lost} events", again


def _watched(folder: LessonFolder, workload: str) -> bool:
    """Whether a lens looks at the workload."""
    lesson = folder.lesson
    scope = lesson.microscope is not None and workload in lesson.microscope.workloads
    return scope or any(workload in (x.workloads or lesson.workloads) for x in lesson.xray)


def native(subject: Subject) -> Found:
    """A result of `duet microscope --native` can be read."""
    try:
        read_native(subject.folder.folder)
    except InputError as error:
        yield Finding(str(error).removesuffix("."), error.remedy, where=NATIVE)


def claims(subject: Subject) -> Found:
    """The recorded tables say what is claimed."""
    folder = subject.folder
    tables = read_tables(folder.folder / "recorded" / MEASURED)
    for index, sentence in broken_claims(folder.lesson, tables):
        remedy = "Measure anew with ./duet record --measured, or correct the claim."
        place = ("claims", index)
        yield Finding(sentence.removesuffix("."), remedy, place, where=f"claim {index + 1}")


def table(subject: Subject) -> Found:
    """A step that shows the table of untraced runs has one, or the lesson says why it has none."""
    folder = subject.folder
    lesson = folder.lesson
    if (folder.folder / "recorded" / MEASURED).is_file():
        if lesson.no_table:
            sentence = "a table is recorded, and `no_table` says why there is none"
            yield Finding(sentence, "Leave `no_table` out.", ("no_table",))
        return
    # A lesson without any recording is still being written.
    if lesson.no_table or not folder.recordings():
        return
    for number, scene in enumerate(lesson.scenes):
        if "measured" in scene.show:
            yield Finding(
                "this step shows the table of untraced runs, and none is recorded",
                f"Record one with ./duet record {folder.slug} --only-measured, or say under "
                "`no_table` in evidence.yaml why there is none.",
                ("scenes", number, "show"),
            )


def predictions(subject: Subject) -> Found:
    """A prediction that a recorded table answers has that table, and a clear answer in it."""
    folder = subject.folder
    tables = read_tables(folder.folder / "recorded" / MEASURED)
    if not tables:
        return
    usual = next(iter(folder.lesson.workloads), "")
    for key, one in folder.lesson.predictions.items():
        if one.measured_on is None:
            continue
        if one.metric != "ops_ratio":
            sentence = f"a table answers ops_ratio, not {one.metric}"
            remedy = "Leave `measured_on` out."
            yield Finding(sentence, remedy, ("predictions", key, "measured_on"))
            continue
        ratio = table_ratio(one, [table for table in tables if table.workload == usual])
        if ratio is None:
            sentence = (
                f"no recorded table of the {one.measured_on} clock with these params has "
                f"{one.arms[0]} and {one.arms[1]}"
            )
            remedy = f"Measure with ./duet record {folder.slug} --only-measured, or correct it."
            yield Finding(sentence, remedy, ("predictions", key, "measured_on"))
            continue
        for bound in one.bounds:
            if abs(ratio / bound - 1) < CLEAR:
                sentence = f"the table says {ratio:.3g}, too near to the bound {bound:g} to decide"
                remedy = "Ask for something with a clear answer."
                yield Finding(sentence, remedy, ("predictions", key, "bounds"))
