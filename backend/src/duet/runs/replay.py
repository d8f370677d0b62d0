# SPDX-License-Identifier: GPL-2.0-or-later
"""Replay a recording through the code path of a live run, and collect the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from duet.base.errors import InputError
from duet.bundle import Bundle, Figures, Manifest, Record
from duet.guests.replay import ReplayGuest
from duet.lenses import Sample
from duet.lessons.load import LessonFolder
from duet.lessons.load import rows as rows_of
from duet.lessons.own import with_recorded
from duet.lessons.plan import workload_of
from duet.runs.pack import figures
from duet.runs.sources import bundle_sources
from duet.session import (
    Batch,
    LaneGuests,
    LaneResult,
    LaneSource,
    Limits,
    Row,
    RunSession,
    RunSpec,
    SessionSink,
)

HISTORY_EVENTS = 10_000
"""Number of decoded events that are kept per lane. Replays here do not use them."""
MAX_ROWS = 4096
"""Maximum number of thread rows that a recording may request in the picture."""


class CollectingSink(SessionSink):
    """A sink that counts rows, and optionally keeps batches and samples.

    Args:
        with_batches: keep batches and samples, so that the complete run stays in memory.
    """

    def __init__(self, *, with_batches: bool = False) -> None:
        self._with_batches = with_batches
        self.counts: dict[str, Counter[str]] = {}
        self.batches: dict[tuple[str, str], list[Batch]] = {}
        self.rows: dict[str, tuple[Row, ...]] = {}
        self.samples: dict[str, list[tuple[Sample, float]]] = {}

    def tables(self, arm: str) -> dict[str, int]:
        """Return a lane's row counts by table, without `open`, whose rows are replaced."""
        return dict(sorted(self.counts.get(arm, Counter()).items()))

    def on_rows(self, arm: str, rows: tuple[Row, ...]) -> None:
        """Keep only the newest list of rows, because every list is complete."""
        self.rows[arm] = rows

    def on_batch(self, arm: str, new: Batch) -> None:
        if new.table != "open":
            self.counts.setdefault(arm, Counter())[new.table] += new.n
        elif self._with_batches:
            self.batches[arm, "open"] = []
        if self._with_batches:
            self.batches.setdefault((arm, new.table), []).append(new)

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        if self._with_batches:
            self.samples.setdefault(arm, []).append((sample, t_ns))


@dataclass(frozen=True, slots=True)
class Played:
    """The results of a replay."""

    lanes: dict[str, LaneResult]
    sink: CollectingSink = field(repr=False)

    def figures(self, arm: str) -> Figures | None:
        return figures(self.lanes[arm], self.sink.tables(arm))


def recorded_spec(folder: LessonFolder, manifest: Manifest, run_id: str = "replay") -> RunSpec:
    """Return the spec of a recorded run.

    Raises:
        InputError: the lesson in this checkout lacks an arm, or the recording has more than
            MAX_ROWS threads.
    """
    folder = with_recorded(folder, [entry.name for entry in manifest.arms])
    arms = tuple(folder.arm(entry.name).name for entry in manifest.arms)
    workload = workload_of(folder.lesson, manifest.workload)
    rows = rows_of(folder.lesson, workload, manifest.params)
    if not 0 <= rows <= MAX_ROWS:
        raise InputError(
            f"the recording has {rows} threads, but only 0 to {MAX_ROWS} can be drawn.",
            remedy="Download the file again, or record it again with ./duet record.",
        )
    return RunSpec(
        run_id=run_id,
        folder=folder,
        arms=arms,
        workload=manifest.workload,
        params=manifest.params,
        clock=manifest.clock,
        source="recorded",
        recorded_at=manifest.created,
        shift=manifest.shift,
        seed=manifest.seed,
    )


async def play(
    spec: RunSpec,
    sources: Mapping[str, LaneSource],
    *,
    with_batches: bool = False,
) -> Played:
    """Replay lanes to their end. The result includes lanes that fail.

    Args:
        with_batches: keep batches and samples, for an export.
    """
    sink = CollectingSink(with_batches=with_batches)
    async with LaneGuests(Limits(history_events=HISTORY_EVENTS, transcript_bytes=0)) as lanes:
        session = RunSession(lanes, spec, sources, sink)
        try:
            result = await session.execute()
        finally:
            session.close()
    return Played(result.lanes, sink)


async def play_bundle(
    folder: LessonFolder, bundle: Bundle, *, with_batches: bool = False
) -> Played:
    """Replay a bundle.

    Raises:
        InputError: recorded_spec() refuses the manifest.
        DuetError: a lane failed. If several lanes failed, the error is that of the first failed
            lane.
    """
    spec = recorded_spec(folder, bundle.manifest)
    played = await play(spec, bundle_sources(bundle), with_batches=with_batches)
    for lane in played.lanes.values():
        if lane.error is not None:
            raise lane.error
    return played


def records_source(arm: str, records: Iterable[Record], symbols: Mapping[str, int]) -> LaneSource:
    """Return a source that replays a transcript without a bundle."""
    return LaneSource(arm, symbols, lambda _: ReplayGuest(records))
