# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows background kernel builds in the terminal of `duet serve`, as lines or as a bar.

The lines and the bar show the kernel being built, how many of its objects are compiled, and the
time left. The page shows the same messages for each lesson.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from duet import messages as m
from duet.cli.output import raw, visible

LINE_EVERY_S = 60.0
"""Minimum interval between two lines about one kernel, if the output is not a terminal."""
ESTIMATE_AFTER_S = 5.0
ESTIMATE_AFTER_OBJECTS = 20
"""Minimum time and number of compiled objects for an estimate. Before that the rate is too
uncertain.
"""

DOING: dict[m.BuildPhase, str] = {
    "wait": "waiting for another build",
    "extract": "fetching and unpacking the source",
    "patch": "patching",
    "config": "configuring",
    "compile": "compiling",
    "link": "linking",
    "store": "storing",
    "done": "done",
    "failed": "failed",
}


@dataclass
class Estimate:
    """Estimate of the time left for one kernel, from the rate at which its objects are compiled.

    Args:
        objects: number of objects that were compiled at `since_s`.
        since_s: time of a monotonic clock, in seconds.
    """

    objects: int
    since_s: float

    def left_s(self, build: m.Build, now_s: float) -> float | None:
        """Return the seconds until all objects are compiled, or None without enough data."""
        made, took_s = build.done - self.objects, now_s - self.since_s
        if made < ESTIMATE_AFTER_OBJECTS or took_s < ESTIMATE_AFTER_S:
            return None
        return max(build.total - build.done, 0) * took_s / made


def left_words(left_s: float | None) -> str:
    """Return text such as `about 9 min left`, or "" if the time is unknown."""
    if left_s is None:
        return ""
    return f"about {left_s / 60:.0f} min left" if left_s >= 90 else "about a minute left"


def end_words(build: m.Build) -> str:
    """Return a sentence that says that a kernel was built, or that its build failed."""
    again = " to build; the next try is in a minute" if build.phase == "failed" else ""
    return f"kernel {build.lesson} {build.arm}: {DOING[build.phase]}{again}"


class BuildProgress:
    """State of all builds on a server. Subclasses display it.

    Args:
        clock: returns monotonic time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._kernels = 0
        self._done = 0
        self._kernel: tuple[str, str] | None = None
        self._estimate: Estimate | None = None

    def show(self) -> None:
        """Allow drawing on the terminal. Before this call, the server prints its greeting there."""

    def started(self, kernels: int) -> None:
        """Begin a round of builds.

        Args:
            kernels: number of missing kernels in all lessons.
        """
        self._kernels, self._done = kernels, 0

    def update(self, build: m.Build) -> None:
        """Process a progress message from one build."""
        if build.phase in ("done", "failed"):
            self._done += build.phase == "done"
            self._kernel = None
            self._show_end(build)  # the log has the reason for a failed build
            return
        is_new = (build.lesson, build.arm) != self._kernel
        if is_new:
            self._kernel, self._estimate = (build.lesson, build.arm), None
        if build.phase == "compile" and self._estimate is None:
            self._estimate = Estimate(build.done, self.clock())
        self._show(build, self._words(build), is_new)

    def finished(self) -> None:
        """End a round of builds, because all kernels are built."""

    def close(self) -> None:
        """Stop showing anything."""

    def _words(self, build: m.Build) -> str:
        number = self._done + 1
        place = f"kernel {number} of {max(self._kernels, number)}, {build.lesson} {build.arm}"
        counted = f" {build.done} of {build.total} objects" if build.phase == "compile" else ""
        left = self._estimate.left_s(build, self.clock()) if self._estimate else None
        end = f", {left_words(left)}" if build.phase == "compile" and left is not None else ""
        return f"{place}: {DOING[build.phase]}{counted}{end}"

    def _show(self, build: m.Build, words: str, is_new: bool) -> None:
        raise NotImplementedError

    def _show_end(self, build: m.Build) -> None:
        raise NotImplementedError


class BuildLines(BuildProgress):
    """Prints lines about builds to a log: when a build begins or ends, and once per minute.

    Args:
        out: stream to which the lines are written.
    """

    def __init__(self, out: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._out = out
        self._written_s = 0.0

    def _show(self, build: m.Build, words: str, is_new: bool) -> None:
        if is_new or self.clock() - self._written_s >= LINE_EVERY_S:
            self._write(words)

    def _show_end(self, build: m.Build) -> None:
        if build.phase == "done":
            self._write(end_words(build))

    def finished(self) -> None:
        if self._kernels:
            self._write("all kernels are built")

    def _write(self, line: str) -> None:
        self._written_s = self.clock()
        print(line, file=self._out, flush=True)


REFRESH_PER_S = 2.0


class BuildBar(BuildProgress):
    """Draws one bar on a terminal. The bar disappears when all kernels are built.

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
    """Writes messages about builds as log records, for a log that programs read."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    def _write(self, line: str) -> None:
        self._written_s = self.clock()
        logging.getLogger("duet.builds").info(line)


class ConsoleLog(logging.Handler):
    """Log handler that prints complete lines above a bar, with control characters escaped."""

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
    """Return a console for stderr. Callers must escape control characters with visible()."""
    return Console(file=raw(sys.stderr))


@contextlib.contextmanager
def build_progress(console: Console, in_log: bool = False) -> Iterator[BuildProgress]:
    """Show builds as a bar or lines on the console, or as lines in the log.

    The terminal is restored at exit.
    """
    shown: BuildProgress = BuildLog() if in_log else BuildLines(console.file)
    if console.file.isatty() and not in_log:
        shown = BuildBar(console)
    try:
        yield shown
    finally:
        shown.close()
