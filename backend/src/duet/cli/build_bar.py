# SPDX-License-Identifier: GPL-2.0-or-later
"""The terminal of `duet serve`: a bar while kernels are built, with the log above it."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from duet import messages as m
from duet.cli.build_progress import BuildLines, BuildProgress, end_words
from duet.cli.terminal import raw, visible

REFRESH_PER_S = 2.0


class BuildBar(BuildProgress):
    """For a terminal: one bar, which goes away when all kernels are built.

    Other output of the program appears above the bar.

    Args:
        console: a terminal.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._console = console
        self._bar: Progress | None = None
        self._is_shown = False
        self._task = TaskID(0)

    def show(self) -> None:
        self._is_shown = True
        self._draw()

    def started(self, kernels: int) -> None:
        super().started(kernels)
        self._draw()

    def _draw(self) -> None:
        if self._kernels and self._is_shown and self._bar is None:
            columns = (BarColumn(20), TextColumn("{task.description}", markup=False))
            self._bar = Progress(
                *columns,
                console=self._console,
                refresh_per_second=REFRESH_PER_S,
                redirect_stdout=False,
                transient=True,
            )
            self._task = self._bar.add_task("kernels", total=None)
            self._bar.start()

    def _show(self, build: m.Build, words: str, is_new: bool) -> None:
        if self._bar is not None:
            total = build.total if build.phase == "compile" else None
            self._bar.update(self._task, description=words, completed=build.done, total=total)

    def _show_end(self, build: m.Build) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=end_words(build), total=None)
            if build.phase == "done":
                self._console.print(end_words(build), markup=False, highlight=False)

    def finished(self) -> None:
        shown = self._bar is not None
        self._kernels = 0
        self.close()
        if shown:
            self._console.print("all kernels are built")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


class BuildLog(BuildLines):
    """For a log that programs read."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    def _write(self, line: str) -> None:
        self._written_s = self.clock()
        logging.getLogger("duet.builds").info(line)


class ConsoleLog(logging.Handler):
    """Log records appear above a bar, in whole lines, and cannot act on the terminal."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = visible(self.format(record))
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)
        except Exception:
            self.handleError(record)


def stderr_console() -> Console:
    """Standard error; what is printed to it has to be visible() already."""
    return Console(file=raw(sys.stderr))


@contextlib.contextmanager
def build_progress(console: Console, in_log: bool = False) -> Iterator[BuildProgress]:
    """A bar or lines on the console, or lines in the log; a terminal is as before when it ends."""
    shown: BuildProgress = BuildLog() if in_log else BuildLines(console.file)
    if console.file.isatty() and not in_log:
        shown = BuildBar(console)
    try:
        yield shown
    finally:
        shown.close()
