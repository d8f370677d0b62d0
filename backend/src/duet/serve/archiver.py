# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes live runs that have ended into the folder of saved runs, beside whatever goes on."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor

from duet.errors import DuetError
from duet.serve.archive import ArchiveFolder
from duet.serve.interfaces import Run

NICE = 10
"""Packing takes seconds of a CPU that guests and the page would have."""

log = logging.getLogger("duet.api")


class Archiver:
    """One thread that packs, one run after another."""

    def __init__(self, folder: ArchiveFolder) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, "archiver", initializer=_step_back)
        self._going: set[asyncio.Task[None]] = set()

    def save(self, run: Run, owner: str = "") -> asyncio.Task[None] | None:
        """Save a run that has ended, under the name in its id; returns at once.

        Args:
            owner: ident of the visitor who started it; empty: the operator's.

        Returns:
            The task that saves it; None when runs are not saved.
        """
        if self._folder.most == 0:
            return None
        task = asyncio.create_task(self._save(run, owner), name=f"keep {run.log.run_id}")
        self._going.add(task)
        task.add_done_callback(self._going.discard)
        return task

    async def idle(self) -> None:
        """Wait until nothing is being packed: a measurement wants the CPUs for itself."""
        if self._going:
            await asyncio.wait(self._going)

    async def close(self) -> None:
        """Give up what has not begun."""
        for task in self._going:
            task.cancel()
        await asyncio.gather(*self._going, return_exceptions=True)
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _save(self, run: Run, owner: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            name = await loop.run_in_executor(self._thread, self._write, run, owner)
        except DuetError as error:
            log.warning("%s is not saved: %s", run.log.run_id, error.sentence)
        except Exception:
            log.exception("%s could not be saved", run.log.run_id)
        else:
            log.info("%s is saved as %s", run.log.run_id, name or "nothing: it has no whole lane")

    def _write(self, run: Run, owner: str) -> str | None:
        content = run.bundle()
        if not isinstance(content, bytes):
            return None
        return self._folder.save(content, owner=owner, name=run.log.run_id.rpartition(":")[2])


def _step_back() -> None:
    """Linux gives each thread a niceness of its own."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
