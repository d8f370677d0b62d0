# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet lint`: is each lesson whole, fair and true? Boots nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass

from duet.cli.claims import broken_claims
from duet.cli.output import emit
from duet.errors import DuetError
from duet.kernels.arms import arm_specs
from duet.kernels.recipe import arm_patches, build_inputs
from duet.lenses import probe_names
from duet.lessons import load as lessons
from duet.lessons import words
from duet.lessons.load import LessonFolder
from duet.lessons.manifest import Lesson
from duet.lessons.view import Patch, read_patch, sections
from duet.serve.recordings import MEASURED, LessonRecordings, read_tables
from duet.settings import repo_root

MAX_RECORDING_BYTES = 1_000_000
"""A bundle in the repository; larger ones belong elsewhere."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a lesson."""

    lesson: str
    where: str
    sentence: str
    remedy: str


def lint(lesson: str | None, as_json: bool) -> int:
    """See `duet lint --help`."""
    slugs = [lesson] if lesson else lessons.slugs()
    problems = [problem for slug in slugs for problem in lint_lesson(slug)]
    problems += words_in_generic_code(slugs)
    if as_json:
        emit(
            {"ok": not problems, "lessons": slugs, "problems": [asdict(p) for p in problems]},
        )
    else:
        for p in problems:
            print(f"{p.lesson}/{p.where}: {p.sentence}\n  remedy: {p.remedy}")
        count = len(problems)
        print(f"{len(slugs)} lessons, {count} problem{'' if count == 1 else 's'}.")
    return 2 if problems else 0


def lint_lesson(slug: str) -> list[Problem]:
    """All problems of one lesson.

    Raises:
        InputError: there is no such lesson.
    """
    if slug not in lessons.slugs():
        lessons.load(slug)
    try:
        folder = lessons.load(slug)
    except DuetError as error:
        return [Problem(slug, "lesson.yaml", error.sentence, error.remedy)]
    found: list[Problem] = []
    for check in CHECKS:
        try:
            found += check(folder)
        except DuetError as error:
            found.append(Problem(slug, check.__name__.strip("_"), error.sentence, error.remedy))
    return found


def words_in_generic_code(slugs: list[str]) -> list[Problem]:
    """Names of these lessons that generic code knows; lessons that cannot be read have none."""
    usable: dict[str, Lesson] = {}
    for slug in slugs:
        with suppress(DuetError):
            usable[slug] = lessons.load(slug).lesson
    remedy = "Move it into the lesson's folder or its view, or give the manifest a key for it."
    return [
        Problem(
            found.lesson, f"{found.path}:{found.line}", f"'{found.word}' is this lesson's.", remedy
        )
        for found in words.search(repo_root(), usable)
    ]


def _patches(folder: LessonFolder) -> Iterator[Problem]:
    named: set[str] = set()
    for arm in folder.lesson.arms:
        for path in folder.patch_files(arm.name):
            named.add(path.name)
            try:
                read_patch(path)
            except DuetError as error:
                yield Problem(folder.slug, f"arm {arm.name}", error.sentence, error.remedy)
    for path in sorted(folder.patch_dir.glob("*.patch")):
        if path.name not in named:
            sentence = f"no arm uses the patch {path.name}."
            yield Problem(folder.slug, "arms", sentence, "Name it in an arm, or remove it.")


def _fair_arms(folder: LessonFolder) -> Iterator[Problem]:
    """The build inputs of all arms may differ by the arm's own patches alone.

    Source and compiler are those of the machine, the same for every arm; config and shared
    patches are compared here as the builder takes them.
    """
    patches_dir = repo_root() / "kernel-patches"
    base: tuple[object, ...] | None = None
    for name, spec in arm_specs(folder).items():
        if not all(path.is_file() for path in spec.patches):
            continue
        built = build_inputs(
            arm_patches(spec, patches_dir),
            patches_dir=patches_dir,
            tarball_sha256="",
            compiler="",
            linker="",
        )
        shared = built.patches[: len(built.patches) - len(spec.patches)]
        if base is None:
            base = (built.config_sha256, shared)
        elif (built.config_sha256, shared) != base:
            sentence = f"arm {name} differs from the others by more than its own patches."
            yield Problem(folder.slug, f"arm {name}", sentence, "Move what is shared to both/.")


def _prose(folder: LessonFolder) -> Iterator[Problem]:
    texts = sections(folder.content())
    scenes = [scene.id for scene in folder.lesson.scenes]
    for ident in scenes:
        if not texts.get(ident):
            sentence = f"content.md has no text for the scene '{ident}'."
            yield Problem(folder.slug, "content.md", sentence, f"Add a section '## {ident}'.")
    for ident in texts:
        if ident not in scenes:
            sentence = f"content.md has a section '{ident}', which is no scene."
            remedy = "Name it after a scene of lesson.yaml, or remove it."
            yield Problem(folder.slug, "content.md", sentence, remedy)


def _lit_lines(folder: LessonFolder) -> Iterator[Problem]:
    for lit in folder.lesson.lit:
        for arm in lit.arms or tuple(a.name for a in folder.lesson.arms):
            paths = [p for p in folder.patch_files(arm) if p.is_file()]
            patches: list[Patch] = [read_patch(path) for path in paths]
            lines = [line for patch in patches for line in patch.text.splitlines()]
            if not any(line[:1] in "+- " and lit.match in line for line in lines):
                sentence = f"no line of the patches of {arm} has '{lit.match}'."
                yield Problem(folder.slug, "lit", sentence, "Copy the line from the patch.")


def _xray(folder: LessonFolder) -> Iterator[Problem]:
    for wish in folder.lesson.xray:
        if wish.probe not in probe_names():
            sentence = f"there is no x-ray probe '{wish.probe}'."
            remedy = f"Choose from: {', '.join(probe_names())}."
            yield Problem(folder.slug, "xray", sentence, remedy)


def _recordings(folder: LessonFolder) -> Iterator[Problem]:
    remedy = f"Make it anew with ./duet record {folder.slug}."
    recordings = LessonRecordings()
    for path in folder.recordings():
        size = path.stat().st_size
        if size > MAX_RECORDING_BYTES:
            sentence = f"it has {size} bytes, more than {MAX_RECORDING_BYTES}."
            yield Problem(folder.slug, path.name, sentence, "Record a shorter --window-ms.")
        try:
            run = asyncio.run(recordings.load(folder.slug, path.stem))
        except DuetError as error:
            yield Problem(folder.slug, path.name, error.sentence, error.remedy)
            continue
        assert run is not None
        for arm, metrics in run.log.metrics().items():
            if folder.lesson.operation and folder.lesson.operation.open:
                if metrics.ops == 0:
                    yield Problem(folder.slug, path.name, f"lane {arm} has no operation.", remedy)
            elif not run.log.seen(arm):
                # No event tells of its operations: what its lenses saw is all there is.
                sentence = f"no lens has seen anything of lane {arm}."
                yield Problem(folder.slug, path.name, sentence, remedy)
            if metrics.events_lost:
                sentence = f"lane {arm} has lost {metrics.events_lost} events."
                yield Problem(folder.slug, path.name, sentence, remedy)


def _claims(folder: LessonFolder) -> Iterator[Problem]:
    tables = read_tables(folder.folder / "recorded" / MEASURED)
    for where, sentence in broken_claims(folder.lesson, tables):
        remedy = "Measure anew with ./duet record --measured, or correct the claim."
        yield Problem(folder.slug, where, sentence, remedy)


CHECKS: tuple[Callable[[LessonFolder], Iterator[Problem]], ...] = (
    _patches,
    _fair_arms,
    _prose,
    _lit_lines,
    _xray,
    _recordings,
    _claims,
)
