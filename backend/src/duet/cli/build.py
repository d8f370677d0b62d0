# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet build`: the kernels that are not there yet, with a progress bar."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from duet.base.errors import InputError
from duet.cli.output import emit, note, raw
from duet.cli.results.host import BuildResult, BuiltKernel
from duet.cli.sources import install_sources
from duet.kernels import ArmSpec, BuildProgress, KernelSettings, Phase, lookup, plan
from duet.kernels import build as build_kernels
from duet.kernels.arms import arm_spec
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder


def wanted_arms(
    folders: Sequence[LessonFolder], only: list[str], *, optional: bool = False
) -> list[ArmSpec]:
    """The arms that were asked for.

    Args:
        optional: those that are marked so, too, where no arm is named.

    Raises:
        InputError: unknown arm.
    """
    specs: list[ArmSpec] = []
    for folder in folders:
        usual = [arm.name for arm in folder.lesson.arms] if optional else folder.usual_arms
        names = only or usual
        specs += [arm_spec(folder, name) for name in names]
    return specs


def build(
    lesson: str | None,
    source: Path | None,
    only: list[str],
    as_json: bool,
    *,
    debug: bool = False,
    optional: bool = False,
    base: str | None = None,
) -> int:
    """See `duet build --help`."""
    if only and not lesson:
        raise InputError("--arm needs the lesson it belongs to.", remedy="Name the lesson first.")
    began = time.monotonic()
    settings = KernelSettings.default(source, debug=debug, base=base)
    if base and not lesson:
        specs = [ArmSpec(settings.base.name, "stock")]
    else:
        folders = [lessons.load(slug) for slug in ([lesson] if lesson else lessons.slugs())]
        specs = wanted_arms(folders, only, optional=optional)
        if not only and not optional:
            _tell_left_out(folders)
    install_sources(specs, settings)
    keys = [plan(spec, settings) for spec in specs]
    before = [lookup(key, settings) for key in keys]
    todo = [spec for spec, image in zip(specs, before, strict=True) if image is None]
    if todo:
        build_with_bar(todo, settings)
    images = [lookup(key, settings) for key in keys] if todo else before
    rows = [
        BuiltKernel(
            lesson=spec.lesson,
            arm=spec.name,
            key=str(image.key),
            folder=str(image.folder),
            kernel_version=image.manifest.kernel_version,
            built=former is None,
        )
        for spec, image, former in zip(specs, images, before, strict=True)
        if image is not None
    ]
    seconds = round(time.monotonic() - began, 2)
    if as_json:
        emit(BuildResult(len(todo), seconds, rows))
    elif todo:
        print(f"Built {len(todo)} kernels in {seconds:.0f} s.")
    else:
        print(f"All {len(rows)} kernels are there already.")
    return 0


def _tell_left_out(folders: Sequence[LessonFolder]) -> None:
    """Say which arms are not built, since nobody named them."""
    for folder in folders:
        later = ", ".join(arm.name for arm in folder.lesson.arms if arm.optional)
        if later:
            note(f"{folder.slug}: left out, since optional: {later} (--optional builds them)")


def build_missing(specs: list[ArmSpec], settings: KernelSettings) -> None:
    """Build those that are not in the cache, with a progress bar.

    Raises:
        DuetError: one cannot be built.
    """
    todo = [spec for spec in specs if lookup(plan(spec, settings), settings) is None]
    if todo:
        build_with_bar(todo, settings)


def build_optional(folder: LessonFolder, arms: Iterable[str], settings: KernelSettings) -> None:
    """Build the optional ones of these arms, which a plain `duet build` leaves out.

    Raises:
        DuetError: one cannot be built.
    """
    specs = [arm_spec(folder, name) for name in arms if folder.arm(name).optional]
    install_sources(specs, settings)
    build_missing(specs, settings)


def build_with_bar(
    todo: list[ArmSpec], settings: KernelSettings, work: Callable[..., object] = build_kernels
) -> None:
    """Have `work` done on these arms, with a progress bar on a terminal, else with lines.

    Raises:
        DuetError: it cannot be done.
    """
    stop = threading.Event()
    former = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        if sys.stderr.isatty():
            _on_terminal(todo, settings, stop, work)
        else:
            work(todo, settings=settings, on_progress=_plain_lines(), stop=stop)
    finally:
        signal.signal(signal.SIGTERM, former)


def _on_terminal(
    todo: list[ArmSpec],
    settings: KernelSettings,
    stop: threading.Event,
    work: Callable[..., object],
) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f} objects"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=raw(sys.stderr))) as bar:
        task = bar.add_task("kernels", total=1)

        def tell(progress: BuildProgress) -> None:
            bar.update(
                task,
                description=_words(progress),
                completed=progress.objects_done,
                total=max(progress.objects_expected, 1),
            )
            if progress.note:
                bar.console.print(progress.note)

        work(todo, settings=settings, on_progress=tell, stop=stop)


def _plain_lines() -> Callable[[BuildProgress], None]:
    """One line per phase, per 100 objects and per link in another order, for logs."""
    last: list[tuple[str, Phase, int, str]] = []

    def tell(progress: BuildProgress) -> None:
        link = progress.note if progress.phase is Phase.LINK else ""
        moment = (progress.arm, progress.phase, progress.objects_done // 100, link)
        if last != [moment]:
            last[:] = [moment]
            count = f" {progress.objects_done}/{progress.objects_expected}"
            shown = count if progress.objects_done else ""
            note(f"{_words(progress)}{shown} ({progress.elapsed_s:.0f} s) {progress.note}".rstrip())

    return tell


def _words(progress: BuildProgress) -> str:
    place = f"kernel {progress.arm_index + 1} of {progress.arms_total}"
    return f"{place}, {progress.lesson} {progress.arm}: {progress.phase}"
