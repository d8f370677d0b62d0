# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a measurement on a terminal: shows progress with an ETA on stderr, and ends cleanly on
signals.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from duet.base.clock import format_duration
from duet.cli.output import note, raw
from duet.measure import Progress

SIGNALS = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = 130
SAME_SIGNAL_S = 1.0
"""Signals within this time count as one, because timeout(1) signals a process and then its
group.
"""


async def interruptible(work: Coroutine[Any, Any, object]) -> bool:
    """Run a measurement, but cancel it on SIGINT or SIGTERM. Return False if it was cancelled.

    All guests have ended when this returns. A second signal more than SAME_SIGNAL_S later ends this
    process and its guests immediately. After an interruption, the handler stays installed: the
    results are still to be written, and a repetition of the first signal must not prevent this.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    signalled: float | None = None

    def stop() -> None:
        # Print here and not in the handler, which may interrupt a write to standard error.
        note("ending; the results so far follow")
        task.cancel()

    def end(number: int, frame: object) -> None:
        nonlocal signalled
        if signalled is None:
            signalled = time.monotonic()
            loop.call_soon_threadsafe(stop)
        elif time.monotonic() - signalled > SAME_SIGNAL_S:
            os._exit(INTERRUPTED)

    before = {number: signal.signal(number, end) for number in SIGNALS}
    try:
        await task
    except asyncio.CancelledError:
        if signalled is None:
            raise
        return False
    finally:
        if signalled is None:
            for number, handler in before.items():
                signal.signal(number, handler)
    return True


def interrupted_exit_code() -> int:
    """Return the exit code of an interrupted measurement. Call this after writing the report.

    After this call, the process ignores the signals. Python removes its signal handlers at exit, so
    otherwise a repeated signal would kill the process.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    return INTERRUPTED


class ProgressBar:
    """Context manager that shows progress on stderr: a bar on a terminal, or a line per run."""

    def __init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._bar = (
            Bar(*columns, console=Console(file=raw(sys.stderr))) if sys.stderr.isatty() else None
        )
        self._task = self._bar.add_task("booting", total=None, left="") if self._bar else None

    def __enter__(self) -> Callable[[Progress], None]:
        if self._bar:
            self._bar.start()
        return self.tell

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def tell(self, step: Progress) -> None:
        """Report that a run begins."""
        left = "" if step.left_s is None else f"about {format_duration(step.left_s)} left"
        if self._bar and self._task is not None:
            self._bar.update(
                self._task,
                description=f"{step.step.arm}, {step.step.kind}",
                completed=step.done,
                total=step.total,
                left=left,
            )
        else:
            note(f"{step} ({left})" if left else str(step))
