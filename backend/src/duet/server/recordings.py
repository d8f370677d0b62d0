# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded runs. Each bundle is decoded once, and its packets go to all viewers as they are
decoded."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import JsonValue, TypeAdapter, ValidationError

from duet import messages as m
from duet.base.errors import DuetError, InputError
from duet.base.files import Stamp, stamp
from duet.base.logs import about
from duet.bundle import Bundle, Manifest, open_bundle, read_manifest
from duet.host.feed import Feed
from duet.kernels import brought
from duet.lessons import load as lesson_cache
from duet.lessons.grid import INDEX
from duet.lessons.load import LessonFolder, knob
from duet.lessons.own import are_changed
from duet.messages.codec import Packet, failure, pack
from duet.runs.pack import APART
from duet.runs.replay import recorded_spec
from duet.runs.sources import bundle_sources
from duet.server.interfaces import Run
from duet.session import Batch, Contention, LaneGuests, Limits, RunSession
from duet.stream.hub import RunLog

# One recording, which goes through the same decoder and session as a live lane.

LIMITS = Limits(backlog_bytes=2 << 20, transcript_bytes=0)
"""The backlog is small, so that a page that watches gets its first events soon. There is no
transcript, because a recording is not recorded again."""
STEPS = 50
"""Maximum number of progress reports."""

Publish = Callable[[RunLog, Packet], None]
"""Function that adds a packet to a log, and may send it to viewers."""


class Progress:
    """Reports how much of a recording is decoded.

    When a lane's watermark moves, all bytes that were fed before the watermark's previous move have
    been decoded. Later bytes may have been decoded, too.

    Args:
        sizes: size of each lane's transcript in bytes.
        tell: called with the total number of bytes that are decoded so far.
    """

    def __init__(self, sizes: Mapping[str, int], tell: Callable[[int], None]) -> None:
        self._step = sum(sizes.values()) / STEPS
        self._tell = tell
        self._reported = 0
        self._fed: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._read: Counter[str] = Counter()
        self._marks: dict[str, float] = {}

    def fed(self, arm: str, length: int) -> None:
        self._fed[arm] += length

    def decoded(self, arm: str, watermark_ns: float) -> None:
        """Record that a lane's watermark has moved."""
        if self._marks.get(arm) == watermark_ns:
            return
        self._marks[arm] = watermark_ns
        self._read[arm], self._before[arm] = self._before[arm], self._fed[arm]
        read = self._read.total()
        if read - self._reported >= self._step:
            self._reported = read
            self._tell(read)


class ProgressFeed(Feed):
    """A feed that also reports the progress of its lanes."""

    progress: Progress | None = None

    def on_batch(self, arm: str, new: Batch) -> None:
        super().on_batch(arm, new)
        if self.progress is not None:
            self.progress.decoded(arm, new.watermark_ns)


class RecordedRun:
    """A decoded recording (implements server.interfaces.Run).

    Args:
        run_id: the run's id for pages.
        publish: receives packets.
    """

    def __init__(
        self, folder: LessonFolder, path: Path, run_id: str, publish: Publish = RunLog.add
    ) -> None:
        self.log = RunLog(run_id, folder.slug, recorded=True)
        self._folder = folder
        self._path = path
        self._publish = publish
        self._session: RunSession | None = None

    async def perform(self) -> None:
        """Read the bundle into the log. Viewers get packets as they are decoded.

        Raises:
            InputError: the bundle is unusable.
        """
        manifest = await asyncio.to_thread(read_manifest, self._path)
        if manifest.lesson != self._folder.slug:
            raise InputError(
                f"the recording {self._path.stem} does not belong to lesson {self._folder.slug}.",
                remedy="List the saved runs of a lesson with ./duet runs.",
            )
        own = are_changed(entry.name for entry in manifest.arms)
        # Load the patches first, because viewers need the lesson with these arms before the run's
        # packets.
        bundle = await asyncio.to_thread(self._with_changes, own) if own else None
        spec = recorded_spec(self._folder, manifest, self.log.run_id)
        waited = {x.name: x.contention for x in manifest.arms if x.contention is not None}
        contention = {arm: Contention(w.ran_s, w.waited_s) for arm, w in waited.items()}
        cpus = manifest.host.get("cpus", "")
        feed = ProgressFeed(
            self._message(manifest, spec.arms),
            self._add,
            contention,
            int(cpus) if cpus.isascii() and cpus.isdigit() and len(cpus) < 6 else None,
            lesson_cache.cpus(self._folder.lesson, manifest.params),
        )
        feed.announce()
        self._reading(0, 0)
        if bundle is None:
            bundle = await asyncio.to_thread(open_bundle, self._path)
        sizes = {arm: bundle.stream_bytes(arm) for arm in spec.arms}
        total = sum(sizes.values())
        progress = Progress(sizes, lambda read: self._reading(read, total))
        feed.progress = progress
        async with LaneGuests(LIMITS) as lanes:
            self._session = RunSession(lanes, spec, bundle_sources(bundle, progress.fed), feed)
            result = await self._session.execute()
        for lane in result.lanes.values():
            if lane.error is not None:
                raise lane.error
        self._reading(total, total, whole=True)

    def _with_changes(self, arms: Iterable[str]) -> Bundle:
        """Load the patches of changed arms from the recording. Blocking."""
        bundle = open_bundle(self._path)
        for arm in arms:
            if f"{arm}.patch" in bundle.patches:
                brought.take(self._folder, arm, bundle.patch(f"{arm}.patch"))
        return bundle

    def _reading(self, read: int, total: int, *, whole: bool = False) -> None:
        message = m.Reading(run_id=self.log.run_id, read=read, total=total, whole=whole)
        self._add(pack(message))

    def _add(self, packet: Packet) -> None:
        self._publish(self.log, packet)

    def _message(self, manifest: Manifest, arms: tuple[str, ...]) -> m.Run:
        return m.Run.model_validate(
            {
                "run_id": self.log.run_id,
                "lesson": self._folder.slug,
                "source": "recorded",
                "clock": manifest.clock,
                "shift": manifest.shift,
                "params": dict(manifest.params),
                "workload": manifest.workload,
                "arms": list(arms),
                "phase": "preparing",
                "started_at": manifest.created,
                "recorded_at": manifest.created,
                "apart": manifest.host.get("lanes") == APART,
            }
        )

    def close(self) -> None:
        """Release the decoded records and end the decoding processes."""
        if self._session is not None:
            self._session.close()

    async def stop(self) -> None: ...

    async def act(self, name: str, value: int) -> None:
        """Refuse the act, because a recording cannot perform acts.

        Raises:
            InputError: always.
        """
        raise InputError(
            f"a recording cannot perform the act {name} {value}.", remedy="Press run first."
        )

    async def hold(self, on: bool, after: int) -> None:
        """Refuse the command, because a recording has no guests to hold.

        Raises:
            InputError: always.
        """
        raise InputError("a recording has no guests that could be held.", remedy="Press run first.")

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Return raw records near a moment."""
        if self._session is None:
            return []
        return self._session.raw_events(arm, around_ns, row, n, cpu)

    def bundle(self) -> Path | bytes | None:
        return self._path


MAX_OPEN_RUNS = 4
"""Maximum number of decoded recordings in memory. Each takes a few megabytes."""
READERS = 2
"""Maximum number of recordings that are read at once. Further recordings would only slow each other
down.
"""
MEASURED = "measured.json"
CELL_LIST = TypeAdapter(list[m.GridCell])
LARGE = 8 << 20
"""Size above which a listing reads only a recording's manifest, because unpacking it takes
seconds."""
MANIFESTS = 64
"""Size of the manifest cache, which all servers in a process share. Tests start hundreds of
servers."""

log = logging.getLogger("duet.api")


@dataclass(frozen=True, slots=True)
class OpenedRecording:
    """A recording, and the task that reads it. The task is None once the recording is read."""

    run: RecordedRun
    task: asyncio.Task[Exception | None] | None = None


class LessonRecordings:
    """The recordings in the lessons' folders (implements server.interfaces.Recordings)."""

    kind = "recorded"
    """First part of these runs' ids."""

    def __init__(self) -> None:
        self.publish: Publish = RunLog.add
        """Function that receives the packets of recordings that are being read."""
        self._open_runs: OrderedDict[tuple[str, str], RecordedRun] = OrderedDict()
        self._coming: dict[tuple[str, str], OpenedRecording] = {}
        self._readers = asyncio.Semaphore(READERS)
        self._tables: dict[Path, tuple[Stamp | None, list[m.Measured]]] = {}
        self._cells: dict[Path, tuple[Stamp | None, list[m.GridCell]]] = {}
        self._listed: dict[Path, tuple[tuple[int, int], dict[str, JsonValue] | None]] = {}

    def paths(self, slug: str) -> dict[str, Path]:
        """Return the bundles by name, the lesson's first recording first, cells of grids last."""
        return lesson_cache.find(slug).bundles()

    def file(self, slug: str, name: str) -> Path | None:
        """Return the bundle of that name, or None."""
        return self.paths(slug).get(name)

    def listing(self, slug: str) -> list[dict[str, JsonValue]]:
        """List the recordings. A bundle that cannot be opened is omitted, and lint reports it.

        The cells of grids have a list of their own.
        """
        cells = lesson_cache.find(slug).cells()
        named = ((name, path) for name, path in self.paths(slug).items() if path not in cells)
        listed = (self._entry(name, path) for name, path in named)
        return [entry for entry in listed if entry is not None]

    def cells(self, slug: str) -> list[m.GridCell]:
        """Return the recorded cells of the lesson's grids; none if their list is unreadable, which
        lint reports."""
        path = lesson_cache.find(slug).folder / INDEX
        now = stamp(path)
        known = self._cells.get(path)
        if known is None or known[0] != now:
            try:
                cells = read_cells(path)
            except InputError:
                cells = []
            known = (now, cells)
            self._cells[path] = known
        paths = self.paths(slug)
        return [cell for cell in known[1] if cell.name in paths]

    def _entry(self, name: str, path: Path) -> dict[str, JsonValue] | None:
        """Return one entry of the listing. A bundle is opened again only if it has changed."""
        status = path.stat()
        stamp = (status.st_size, status.st_mtime_ns)
        known = self._listed.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, describe(name, path, whole=status.st_size <= LARGE))
            self._listed[path] = known
        return known[1]

    def begin(self, slug: str, name: str | None = None) -> Run | None:
        """Return the named recording, or the first one, even if it is not completely read yet.

        Its packets go to `publish` as they are decoded. If the recording is unusable, the error
        goes to `publish`, too.

        Raises:
            InputError: there is no recording of that name.
        """
        found = self._find(slug, name)
        return None if found is None else found.run

    async def load(self, slug: str, name: str | None = None) -> Run | None:
        """Return the named recording, or the first one, after it has been read completely.

        Raises:
            InputError: there is no recording of that name, or it is unusable.
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
        """Cancel the reading of recordings that is in progress."""
        tasks = [one.task for one in self._coming.values() if one.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _find(self, slug: str, name: str | None) -> OpenedRecording | None:
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
            return OpenedRecording(self._open_runs[key])
        if key not in self._coming:  # another page may be loading this recording already
            run_id = f"{self.kind}:{slug}:{chosen}"
            run = RecordedRun(folder, path, run_id, self.publish)
            with about(run=run_id, lesson=slug):
                task = asyncio.create_task(self._read(key, run), name=f"read {run_id}")
            self._coming[key] = OpenedRecording(run, task)
        return self._coming[key]

    async def _read(self, key: tuple[str, str], run: RecordedRun) -> Exception | None:
        """Read a recording. Return the error if it cannot be read."""
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
        """Return all recorded tables of measurements as trees; empty if they are unreadable."""
        try:
            tables = self._read_tables(slug)
        except DuetError:  # the error is reported when the table itself is requested
            return []
        return [table.model_dump(mode="json", exclude={"type"}) for table in tables]

    def measured(self, slug: str) -> m.Measured | None:
        """Return the first recorded table of this host with the headline metric, or None.

        Raises:
            InputError: the tables are unreadable.
        """
        tables = self._read_tables(slug)
        return next((table for table in tables if not (table.on or table.curve)), None)

    def _read_tables(self, slug: str) -> list[m.Measured]:
        """Read the tables.

        The tables are cached until the file changes, because each `open` command reads them.
        """
        folder = lesson_cache.find(slug)
        path = folder.folder / "recorded" / MEASURED
        now = stamp(path)
        known = self._tables.get(path)
        if known is None or known[0] != now:
            known = (now, read_tables(path))
            self._tables[path] = known
        return known[1]


class ChosenRecordings(LessonRecordings):
    """Recordings from any folder, which replace one lesson's own recordings.

    Args:
        chosen: the bundles by name.
    """

    def __init__(self, slug: str, chosen: Mapping[str, Path]) -> None:
        super().__init__()
        self._chosen = {slug: dict(chosen)}

    def paths(self, slug: str) -> dict[str, Path]:
        """Return the chosen bundles by name."""
        return self._chosen.get(slug, {})


def read_cells(path: Path) -> list[m.GridCell]:
    """Read the list of a lesson's recorded cells; empty if there is no file.

    Raises:
        InputError: the file is not a list that `duet record --grid` writes.
    """
    try:
        return CELL_LIST.validate_json(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValidationError) as error:
        raise InputError(
            f"{path.name} is not a list of recorded cells that ./duet record --grid writes.",
            remedy=f"Delete {path}, and record the grid again with --grid all.",
            detail=str(error),
        ) from error


def describe(name: str, path: Path, *, whole: bool) -> dict[str, JsonValue] | None:
    """Return one entry of a listing; None if the bundle cannot be opened.

    Args:
        whole: whether to unpack the complete bundle and check its checksums, or read only the
            manifest.
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
    """Return a file's manifest, cached by the file's stamp. Errors are not cached."""
    return open_bundle(path).manifest if whole else read_manifest(path)


def length_s(manifest: Manifest) -> int | None:
    """Return for how many seconds the workload ran.

    Return None if the lesson is unknown or has no knob for the duration.
    """
    try:
        name = knob(lesson_cache.find(manifest.lesson).lesson, "duration")
    except DuetError:
        return None
    return None if name is None else manifest.params.get(name)


def read_own_tables(path: Path) -> list[m.Measured]:
    """Read the recorded tables of this host that have the headline metric.

    A verdict never mixes hosts, and only curves show other metrics.

    Raises:
        InputError: see read_tables.
    """
    return [table for table in read_tables(path) if not (table.on or table.curve)]


def read_tables(path: Path) -> list[m.Measured]:
    """Read recorded tables of measurements, the headline table first; empty if there is no file.

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
            remedy="Make the table again with ./duet record --measured.",
            detail=str(error),
        ) from error
