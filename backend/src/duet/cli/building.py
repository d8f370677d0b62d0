# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches the sources of the kernels that a verb needs, and builds them, with progress."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from threading import Event

from duet.cli.output import note, raw
from duet.kernels import ArmSpec, BuildProgress, KernelImage, KernelSettings, Phase, lookup, plan
from duet.kernels import build as build_kernels
from duet.kernels.arms import arm_spec
from duet.kernels.source_fetch import bring_sources
from duet.lessons.load import LessonFolder


def install_sources(specs: Sequence[ArmSpec], settings: KernelSettings) -> None:
    """Fetch the sources of the kernels that are not built yet.

    Raises:
        NoSource: a source is not available.
    """

    def stored(spec: ArmSpec) -> KernelImage | None:
        return lookup(plan(spec, settings), settings)

    bring_sources(specs, settings, stored, lambda progress: note(progress.note), Event())


def build_missing(specs: list[ArmSpec], settings: KernelSettings) -> None:
    """Build the kernels that are not in the cache, with a progress bar.

    Raises:
        DuetError: a kernel cannot be built.
    """
    todo = [spec for spec in specs if lookup(plan(spec, settings), settings) is None]
    if todo:
        build_with_bar(todo, settings)


def build_optional(folder: LessonFolder, arms: Iterable[str], settings: KernelSettings) -> None:
    """Build the optional arms in `arms`.

    `duet build` without options skips optional arms.

    Raises:
        DuetError: a kernel cannot be built.
    """
    specs = [arm_spec(folder, name) for name in arms if folder.arm(name).optional]
    install_sources(specs, settings)
    build_missing(specs, settings)


def build_with_bar(
    todo: list[ArmSpec], settings: KernelSettings, work: Callable[..., object] = build_kernels
) -> None:
    """Run `work` on the arms. Show progress as a bar on a terminal, otherwise as lines.

    Raises:
        DuetError: `work` raised it.
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
    """Return a callback that prints a line per phase, per 100 objects, and per extra link order."""
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
