# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded runs: each bundle goes once through the same decode and session as a live lane."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue, ValidationError

from duet.api import shelf
from duet.api.feed import Feed
from duet.api.parts import Performance
from duet.api.replaying import recorded_spec
from duet.api.sources import bundle_sources
from duet.bundle import Bundle, open_bundle, read_manifest
from duet.errors import DuetError, InputError
from duet.lessons.load import LessonFolder
from duet.session import Lanes, RunSession
from duet.stream import messages as m
from duet.stream.codec import Packet
from duet.stream.runlog import RunLog

KEPT = 4
"""Recordings kept decoded; each is a few megabytes."""
MEASURED = "measured.json"
LARGE = 8 << 20
"""Of larger recordings a listing reads the manifest alone; unpacking them takes seconds."""


class RecordedRun:
    """A recording, decoded (see api.parts.Performance).

    Args:
        run_id: what the page calls it.
    """

    def __init__(self, folder: LessonFolder, path: Path, run_id: str) -> None:
        self.log = RunLog(run_id, folder.slug)
        self._folder = folder
        self._path = path
        self._session: RunSession | None = None

    async def perform(self) -> None:
        """Read the bundle into the log.

        Raises:
            InputError: the bundle is not usable.
        """
        bundle = open_bundle(self._path)
        spec = recorded_spec(self._folder, bundle.manifest, self.log.run_id)
        feed = Feed(self._message(bundle, spec.arms), self._add)
        feed.announce()
        async with Lanes() as lanes:
            self._session = RunSession(lanes, spec, bundle_sources(bundle), feed)
            result = await self._session.execute()
        for lane in result.lanes.values():
            if lane.error is not None:
                raise lane.error

    def _add(self, packet: Packet) -> None:
        self.log.add(packet)

    def _message(self, bundle: Bundle, arms: tuple[str, ...]) -> m.Run:
        manifest = bundle.manifest
        return m.Run.model_validate(
            {
                "run_id": self.log.run_id,
                "lesson": self._folder.slug,
                "source": "recorded",
                "clock": str(manifest.clock),
                "params": dict(manifest.params),
                "workload": manifest.workload,
                "arms": list(arms),
                "phase": "preparing",
                "started_at": manifest.created,
                "recorded_at": manifest.created,
            }
        )

    async def stop(self) -> None:
        """Nothing: it is over."""

    async def act(self, name: str, value: int) -> None:
        """A recording has happened.

        Raises:
            InputError: always.
        """
        raise InputError(
            f"{name} {value} cannot be done to a recording.", remedy="Press run first."
        )

    async def hold(self, on: bool, after: int) -> None:
        """Likewise.

        Raises:
            InputError: always.
        """
        raise InputError("A recording's guests cannot be held.", remedy="Press run first.")

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int
    ) -> list[dict[str, JsonValue]]:
        """Raw records near a moment."""
        if self._session is None:
            return []
        return self._session.raw_events(arm, around_ns, row, n)

    def bundle(self) -> Path | bytes | None:
        """The file itself."""
        return self._path


class LessonRecordings:
    """The recordings that lie in the lessons' folders (see api.parts.Recordings)."""

    kind = "recorded"
    """What ids of runs begin with."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], RecordedRun] = OrderedDict()
        self._reading = asyncio.Lock()
        self._listed: dict[Path, tuple[tuple[int, int], dict[str, JsonValue] | None]] = {}

    def paths(self, slug: str) -> dict[str, Path]:
        """Name -> bundle, the lesson's first one first."""
        return {path.stem: path for path in shelf.find(slug).recordings()}

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
            known = (stamp, describe(name, path, status.st_size))
            self._listed[path] = known
        return known[1]

    async def load(self, slug: str, name: str | None = None) -> Performance | None:
        """The recording of that name, or the first.

        Raises:
            InputError: none of that name, or it is not usable.
        """
        folder = shelf.find(slug)
        paths = self.paths(slug)
        if name is None and not paths:
            return None
        chosen = next(iter(paths)) if name is None else name
        if chosen not in paths:
            raise InputError(
                f"lesson {slug} has no recording '{chosen:.60}'.",
                remedy=f"Choose from: {', '.join(paths) or 'none'}.",
            )
        async with self._reading:  # many pages open the same recording at once
            return await self._read(folder, chosen, paths[chosen])

    async def _read(self, folder: LessonFolder, name: str, path: Path) -> RecordedRun:
        key = (folder.slug, name)
        if key not in self._kept:
            run = RecordedRun(folder, path, f"{self.kind}:{folder.slug}:{name}")
            await run.perform()
            self._kept[key] = run
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def tables(self, slug: str) -> list[JsonValue]:
        """All recorded measured tables as trees; none when they are unreadable."""
        try:
            tables = read_tables(shelf.find(slug).folder / "recorded" / MEASURED)
        except DuetError:  # told where the table itself is asked for
            return []
        return [table.model_dump(mode="json", exclude={"type"}) for table in tables]

    def measured(self, slug: str) -> m.Measured | None:
        """The first recorded measured table; None when there is none or it is unreadable."""
        tables = read_tables(shelf.find(slug).folder / "recorded" / MEASURED)
        return tables[0] if tables else None


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


def describe(name: str, path: Path, size: int) -> dict[str, JsonValue] | None:
    """One line of a listing; None: it cannot be opened."""
    try:
        manifest = read_manifest(path) if size > LARGE else open_bundle(path).manifest
    except DuetError:
        return None
    return {
        "name": name,
        "lesson": manifest.lesson,
        "params": dict(manifest.params),
        "arms": [entry.name for entry in manifest.arms],
        "clock": manifest.clock,
        "workload": manifest.workload,
        "seconds": manifest.params.get("seconds"),
        "bytes": size,
        "recorded_at": manifest.created,
    }


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
