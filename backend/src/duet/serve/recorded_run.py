# SPDX-License-Identifier: GPL-2.0-or-later
"""One recording, which goes through the same decode and session as a live lane."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pydantic import JsonValue

from duet.bundle import Bundle, Manifest, open_bundle, read_manifest
from duet.changes import brought
from duet.errors import InputError
from duet.hosts.feed import Feed
from duet.lessons import roles
from duet.lessons.load import LessonFolder
from duet.lessons.own import are_changed
from duet.runs.pack import APART
from duet.runs.replay import recorded_spec
from duet.runs.sources import bundle_sources
from duet.session import Batch, Contention, Lanes, Limits, RunSession
from duet.stream import messages as m
from duet.stream.codec import Packet, pack
from duet.stream.runlog import RunLog

LIMITS = Limits(backlog_bytes=2 << 20, transcript_bytes=0)
"""Little is decoded at a time, so that a page that watches gets its first events soon; and what was
read is not recorded again."""
STEPS = 50
"""Progress is reported so many times, at most."""

Publish = Callable[[RunLog, Packet], None]
"""Adds a packet to a log, and may send it to those who watch."""


class Progress:
    """How much of a recording is decoded, from what was fed when a lane's watermark moved.

    A lane works on what was fed before its last step; so that much is decoded, at least.

    Args:
        sizes: lane -> bytes of its transcript.
        tell: called with the bytes read.
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
        """A record was taken in."""
        self._fed[arm] += length

    def decoded(self, arm: str, watermark_ns: float) -> None:
        """Events of a lane came, complete up to there."""
        if self._marks.get(arm) == watermark_ns:
            return
        self._marks[arm] = watermark_ns
        self._read[arm], self._before[arm] = self._before[arm], self._fed[arm]
        read = self._read.total()
        if read - self._reported >= self._step:
            self._reported = read
            self._tell(read)


class ProgressFeed(Feed):
    """A feed that also reports how far lanes are."""

    progress: Progress | None = None

    def on_batch(self, arm: str, new: Batch) -> None:
        """New rows of one table."""
        super().on_batch(arm, new)
        if self.progress is not None:
            self.progress.decoded(arm, new.watermark_ns)


class RecordedRun:
    """A recording, decoded (see serve.interfaces.Run).

    Args:
        run_id: what the page calls it.
        publish: where packets go.
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
        """Read the bundle into the log; those who watch get what has been decoded so far.

        Raises:
            InputError: the bundle is not usable.
        """
        manifest = await asyncio.to_thread(read_manifest, self._path)
        if manifest.lesson != self._folder.slug:
            raise InputError(
                f"the recording {self._path.stem} is of another lesson than {self._folder.slug}.",
                remedy="List the saved runs of a lesson with ./duet runs.",
            )
        own = are_changed(entry.name for entry in manifest.arms)
        # Their patches first: whoever watches gets the lesson with these arms as the run comes.
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
            roles.cpus(self._folder.lesson, manifest.params),
        )
        feed.announce()
        self._reading(0, 0)
        if bundle is None:
            bundle = await asyncio.to_thread(open_bundle, self._path)
        sizes = {arm: bundle.stream_bytes(arm) for arm in spec.arms}
        total = sum(sizes.values())
        progress = Progress(sizes, lambda read: self._reading(read, total))
        feed.progress = progress
        async with Lanes(LIMITS) as lanes:
            self._session = RunSession(lanes, spec, bundle_sources(bundle, progress.fed), feed)
            result = await self._session.execute()
        for lane in result.lanes.values():
            if lane.error is not None:
                raise lane.error
        self._reading(total, total, whole=True)

    def _with_changes(self, arms: Iterable[str]) -> Bundle:
        """Take in what the recording has of arms that somebody changed. Blocking."""
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
                "clock": str(manifest.clock),
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
        """Give up the decoded records, and the processes that have them."""
        if self._session is not None:
            self._session.close()

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
        """The same.

        Raises:
            InputError: always.
        """
        raise InputError("a recording's guests cannot be held.", remedy="Press run first.")

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Raw records near a moment."""
        if self._session is None:
            return []
        return self._session.raw_events(arm, around_ns, row, n, cpu)

    def bundle(self) -> Path | bytes | None:
        """The file itself."""
        return self._path
