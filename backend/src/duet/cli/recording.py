# SPDX-License-Identifier: GPL-2.0-or-later
"""Records a run of real kernels into one file, one lane at a time, and estimates the time left."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from duet.base import files as durable
from duet.base.errors import KernelError
from duet.cli.output import note

if TYPE_CHECKING:
    from duet.bundle import Figures, Record
    from duet.kernels import KernelSettings
    from duet.server.recorded_items import Item
    from duet.session import LaneResult, LaneSource, RunSpec

SEED = 1


async def record_run(
    spec: RunSpec,
    path: Path,
    window_ms: int | None,
    kernels: KernelSettings,
    *,
    seed: int = SEED,
    shift: int = 0,
    refuse: Callable[[LaneResult], None] = lambda lane: None,
) -> tuple[dict[str, LaneResult], int]:
    """Run one lane at a time and write all lanes to a file.

    Args:
        window_ms: how many milliseconds of each lane to keep, from its start; None keeps all.
        refuse: called with each finished lane; raises an error to stop the recording.

    Raises:
        DuetError: a lane failed or sent too much, or the file cannot be written.
    """
    from duet.bundle import trim
    from duet.cli.sinks import CollectingConsoleSink
    from duet.lessons.plan import workload_of
    from duet.runs.pack import APART, RecordingFacts, figures, write_run
    from duet.runs.sources import kernel_sources
    from duet.session import LaneGuests, RunSession

    sources = await kernel_sources(spec.folder, spec.arms, kernels)
    marker = workload_of(spec.folder.lesson, spec.workload).start_marker
    lanes: dict[str, LaneResult] = {}
    records: dict[str, list[Record]] = {}
    figures_of: dict[str, Figures | None] = {}
    async with LaneGuests() as guests:
        for arm in spec.arms:
            note(f"recording {arm}")
            one = replace(spec.only([arm]), run_id=f"record-{arm}", seed=seed, shift=shift)
            sink = CollectingConsoleSink()
            session = RunSession(guests, one, {arm: sources[arm]}, sink)
            lane = (await session.execute()).lanes[arm]
            await guests.close(arm)
            if lane.error is not None:
                raise lane.error
            refuse(lane)
            if lane.transcript is None or lane.transcript.truncated:
                raise KernelError(
                    f"lane {arm} sent more data than a recording may contain.",
                    remedy="Record a shorter run: --set seconds=NUMBER.",
                )
            lanes[arm] = lane
            records[arm] = list(lane.transcript.records())
            figures_of[arm] = figures(lane, sink.tables(arm))
            if window_ms is not None:
                records[arm] = trim(records[arm], marker, window_ms)
                figures_of[arm] = await _figures(one, records[arm], sources[arm])
    path.parent.mkdir(parents=True, exist_ok=True)
    how = RecordingFacts(APART, window_ms, shift, seed, figures_of)
    return lanes, write_run(path, spec, lanes, records, kernels, how)


async def _figures(spec: RunSpec, records: list[Record], source: LaneSource) -> Figures | None:
    """Compute a lane's figures from its trimmed records."""
    from duet.runs.replay import play, records_source

    cut = records_source(source.arm, records, source.symbols)
    played = await play(replace(spec, source="recorded"), {source.arm: cut})
    if error := played.lanes[source.arm].error:
        raise error
    return played.figures(source.arm)


GUEST_S = 12.0
"""Assumed seconds for a guest's run until one has been timed on this machine."""


def guest_runs(item: Item) -> int:
    """Return how many runs of a guest are needed to record an item."""
    from duet.measure.plan import PERTURBED, default_repeats

    if item.kind == "recording":
        return len(item.arms)
    count = item.clock == "count"
    return len(item.arms) * (default_repeats(item.clock) + (PERTURBED if count else 0))


class Pace:
    """Stores how many seconds each item took on this machine, to estimate the time left.

    Args:
        path: file with the times; an unreadable file counts as empty.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, float] = {}
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(path.read_bytes())
            if isinstance(found, dict):
                self._known = {
                    str(title): float(seconds)
                    for title, seconds in found.items()
                    if isinstance(seconds, int | float) and seconds > 0
                }
        self._runs = 0
        self._seconds = 0.0

    def left_s(self, items: Iterable[Item]) -> float:
        """Estimate how many seconds the items take.

        For an item recorded before, use its last duration. For a new item, multiply its number of
        guest runs by the mean duration of a guest run.
        """
        each = self._seconds / self._runs if self._runs else GUEST_S
        return sum(self._known.get(item.title, each * guest_runs(item)) for item in items)

    def took(self, item: Item, seconds: float) -> None:
        """Store how long an item took."""
        self._runs += guest_runs(item)
        self._seconds += seconds
        self._known[item.title] = round(seconds, 1)
        with contextlib.suppress(OSError):  # only an estimate
            self._path.parent.mkdir(parents=True, exist_ok=True)
            durable.write(self._path, json.dumps(self._known, indent=1).encode())
