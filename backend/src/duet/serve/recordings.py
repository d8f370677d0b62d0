# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded runs: each bundle is read once, whoever opens it, and those who look see it come."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import JsonValue, ValidationError

from duet.bundle import Manifest, open_bundle, read_manifest
from duet.errors import DuetError, InputError
from duet.lessons import cache as lesson_cache
from duet.lessons.roles import knob
from duet.logs import about
from duet.serve.interfaces import Run
from duet.serve.recorded_run import Publish, RecordedRun
from duet.serve.stamps import Stamp, stamp
from duet.stream import messages as m
from duet.stream.codec import failure, pack
from duet.stream.runlog import RunLog

MAX_OPEN_RUNS = 4
"""Recordings kept decoded; each is a few megabytes."""
READERS = 2
"""So many are read at once; others wait, since more would only take longer each."""
MEASURED = "measured.json"
LARGE = 8 << 20
"""Of larger recordings a listing reads the manifest alone; unpacking them takes seconds."""
MANIFESTS = 64
"""So many manifests are kept for all servers of a process; tests start hundreds."""

log = logging.getLogger("duet.api")


@dataclass(frozen=True, slots=True)
class Found:
    """A recording, and the task that reads it; none when it is whole."""

    run: RecordedRun
    task: asyncio.Task[Exception | None] | None = None


class LessonRecordings:
    """The recordings that lie in the lessons' folders (see serve.interfaces.Recordings)."""

    kind = "recorded"
    """What ids of runs begin with."""

    def __init__(self) -> None:
        self.publish: Publish = RunLog.add
        """Where packets go of recordings that are being read."""
        self._open_runs: OrderedDict[tuple[str, str], RecordedRun] = OrderedDict()
        self._coming: dict[tuple[str, str], Found] = {}
        self._readers = asyncio.Semaphore(READERS)
        self._tables: dict[Path, tuple[Stamp | None, list[m.Measured]]] = {}
        self._listed: dict[Path, tuple[tuple[int, int], dict[str, JsonValue] | None]] = {}

    def paths(self, slug: str) -> dict[str, Path]:
        """Name -> bundle, the lesson's first one first."""
        return {path.stem: path for path in lesson_cache.find(slug).recordings()}

    def file(self, slug: str, name: str) -> Path | None:
        """The bundle of that name; None: there is none."""
        return self.paths(slug).get(name)

    def listing(self, slug: str) -> list[dict[str, JsonValue]]:
        """What is recorded; a bundle that cannot be opened is left out (lint names it)."""
        listed = (self._entry(name, path) for name, path in self.paths(slug).items())
        return [entry for entry in listed if entry is not None]

    def _entry(self, name: str, path: Path) -> dict[str, JsonValue] | None:
        """One line of the listing; a bundle is opened again only when it changed."""
        status = path.stat()
        stamp = (status.st_size, status.st_mtime_ns)
        known = self._listed.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, describe(name, path, whole=status.st_size <= LARGE))
            self._listed[path] = known
        return known[1]

    def begin(self, slug: str, name: str | None = None) -> Run | None:
        """The recording of that name, or the first; it may still be read, see `load`.

        Its packets go to `publish` as they come, and so does the error if it is not usable.

        Raises:
            InputError: none of that name.
        """
        found = self._find(slug, name)
        return None if found is None else found.run

    async def load(self, slug: str, name: str | None = None) -> Run | None:
        """The recording of that name, or the first, once it is whole.

        Raises:
            InputError: none of that name, or it is not usable.
        """
        found = self._find(slug, name)
        if found is None:
            return None
        if found.task is not None:
            error = await asyncio.shield(found.task)
            if error is not None:
                raise error
        return found.run

    async def close(self) -> None:
        """Give up what is being read."""
        tasks = [one.task for one in self._coming.values() if one.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _find(self, slug: str, name: str | None) -> Found | None:
        folder = lesson_cache.find(slug)
        chosen = next(iter(self.paths(slug)), None) if name is None else name
        if chosen is None:
            return None
        path = self.file(slug, chosen)
        if path is None:
            raise InputError(
                f"lesson {slug} has no recording '{chosen:.60}'.",
                remedy=f"Choose from: {', '.join(self.paths(slug)) or 'none'}.",
            )
        key = (slug, chosen)
        if key in self._open_runs:
            self._open_runs.move_to_end(key)
            return Found(self._open_runs[key])
        if key not in self._coming:  # many pages open the same recording at once
            run_id = f"{self.kind}:{slug}:{chosen}"
            run = RecordedRun(folder, path, run_id, self.publish)
            with about(run=run_id, lesson=slug):
                task = asyncio.create_task(self._read(key, run), name=f"read {run_id}")
            self._coming[key] = Found(run, task)
        return self._coming[key]

    async def _read(self, key: tuple[str, str], run: RecordedRun) -> Exception | None:
        """Read a recording; what comes back is why it could not be."""
        try:
            async with self._readers:
                await run.perform()
        except Exception as error:
            if not isinstance(error, DuetError):
                log.exception("reading %s failed", run.log.run_id)
            self.publish(run.log, pack(failure(error, run.log.run_id)))
            run.close()
            return error
        finally:
            del self._coming[key]
        self._open_runs[key] = run
        while len(self._open_runs) > MAX_OPEN_RUNS:
            self._open_runs.popitem(last=False)[1].close()
        return None

    def tables(self, slug: str) -> list[JsonValue]:
        """All recorded measured tables as trees; none when they are unreadable."""
        try:
            tables = self._read_tables(slug)
        except DuetError:  # reported where the table itself is asked for
            return []
        return [table.model_dump(mode="json", exclude={"type"}) for table in tables]

    def measured(self, slug: str) -> m.Measured | None:
        """The first recorded measured table; None when there is none or it is unreadable."""
        tables = self._read_tables(slug)
        return tables[0] if tables else None

    def _read_tables(self, slug: str) -> list[m.Measured]:
        """Read again only when the file changed: each `open` asks."""
        folder = lesson_cache.find(slug)
        path = folder.folder / "recorded" / MEASURED
        now = stamp(path)
        known = self._tables.get(path)
        if known is None or known[0] != now:
            known = (now, read_tables(path))
            self._tables[path] = known
        return known[1]


class ChosenRecordings(LessonRecordings):
    """Recordings of one lesson, from wherever they lie, in place of its own.

    Args:
        chosen: name -> bundle.
    """

    def __init__(self, slug: str, chosen: Mapping[str, Path]) -> None:
        super().__init__()
        self._chosen = {slug: dict(chosen)}

    def paths(self, slug: str) -> dict[str, Path]:
        """Those that were chosen."""
        return self._chosen.get(slug, {})


def describe(name: str, path: Path, *, whole: bool) -> dict[str, JsonValue] | None:
    """One line of a listing; None: it cannot be opened.

    Args:
        whole: unpack all of it and check its sums; else the manifest is read alone.
    """
    try:
        size = path.stat().st_size
        manifest = _manifest(path, stamp(path), whole)
    except (DuetError, OSError):
        return None
    return {
        "name": name,
        "lesson": manifest.lesson,
        "params": dict(manifest.params),
        "arms": [entry.name for entry in manifest.arms],
        "clock": manifest.clock,
        "workload": manifest.workload,
        "seconds": length_s(manifest),
        "bytes": size,
        "recorded_at": manifest.created,
    }


@lru_cache(MANIFESTS)
def _manifest(path: Path, seen: Stamp | None, whole: bool) -> Manifest:
    """Of a file as it was seen. What fails is tried again, since no error is kept."""
    return open_bundle(path).manifest if whole else read_manifest(path)


def length_s(manifest: Manifest) -> int | None:
    """How long the workload ran, in seconds; None where no knob of a known lesson says it."""
    try:
        name = knob(lesson_cache.find(manifest.lesson).lesson, "duration")
    except DuetError:
        return None
    return None if name is None else manifest.params.get(name)


def read_tables(path: Path) -> list[m.Measured]:
    """Recorded measured tables, the headline first; empty when there is no file.

    Raises:
        InputError: the file is not what `duet record --measured` writes.
    """
    if not path.is_file():
        return []
    try:
        trees = json.loads(path.read_bytes())["tables"]
        return [m.Measured.model_validate(tree) for tree in trees]
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise InputError(
            f"{path.parent.parent.name}/recorded/{path.name} is not a measured table.",
            remedy="Make it anew with ./duet record --measured.",
            detail=str(error),
        ) from error
