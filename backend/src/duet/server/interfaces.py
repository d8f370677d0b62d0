# SPDX-License-Identifier: GPL-2.0-or-later
"""Interfaces of the stage, the recordings and the kernels, which a director uses.

The implementations are in hosts/, recordings.py and builds.py. Tests have synthetic
implementations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

from pydantic import JsonValue

from duet.guests.clones import TemplateCounts
from duet.messages import Build, GridCell, Judged, Measured, ServerMessage
from duet.messages.codec import Packet
from duet.runs.sources import JudgeRequest, MeasureRequest
from duet.session import RunSpec
from duet.stream.hub import Hub, RunLog


class Run(Protocol):
    """A live or recorded run, with its log and the requests that it can answer."""

    log: RunLog

    async def perform(self) -> None:
        """Run until all lanes have ended. A lane's failure goes into `log` and raises no error."""
        ...

    async def stop(self) -> None:
        """End the workload, so that perform() returns."""
        ...

    async def act(self, name: str, value: int) -> None:
        """Perform one of the lesson's acts.

        Raises:
            DuetError: no running workload can perform the act, or the value is out of range.
        """
        ...

    async def hold(self, on: bool, after: int) -> None:
        """Hold each guest after `after` more accesses (0 means immediately), or resume all guests.

        Raises:
            DuetError: no guest can be held now.
        """
        ...

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Return raw records near a moment.

        `row` or `cpu` selects the records of one row or one CPU.
        """
        ...

    def bundle(self) -> Path | bytes | None:
        """Return the run as a .duet file; None until it has ended. Blocking."""
        ...


class QueuedRun(Run, Protocol):
    """A live run. Its log exists, and may be watched, as soon as the run is requested."""

    async def perform(self, slot: int = 0) -> None:
        """Run until all lanes have ended, on the guests of a slot that no other run uses."""
        ...

    def withdraw(self) -> None:
        """Cancel the run before it begins, and say so in its log."""
        ...

    def close(self) -> None:
        """Release all resources of an ended run that nobody can request any more."""
        ...


class Stage(Protocol):
    """Executes live runs in slots that share no guests. Owns all guests."""

    async def __aenter__(self) -> Stage: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def saves_first(self) -> bool:
        """Whether a run's file must be saved before the next run in the same slot starts."""
        ...

    def prepare(self, spec: RunSpec, hub: Hub) -> QueuedRun:
        """Make a run that publishes into the hub."""
        ...

    def expect(self, spec: RunSpec, others: Callable[[], Sequence[RunSpec]]) -> None:
        """Prepare for a run that may be requested soon, then for other runs.

        Pages do not show these preparations.

        Args:
            others: returns the other runs; it is called in a thread.
        """
        ...

    def parked(self) -> TemplateCounts:
        """Return how many guests are parked. New lanes are copied from parked guests."""
        ...

    async def measure(self, request: MeasureRequest, publish: Callable[[Measured], None]) -> None:
        """Measure lanes one after another. Publish `measured` messages; the last message is
        complete.

        Raises:
            DuetError: no table can be made.
        """
        ...

    async def judge(self, request: JudgeRequest, publish: Callable[[Judged], None]) -> None:
        """Judge whether an arm meets a challenge. Publish `judged` messages.

        The last message contains the verdict.

        Raises:
            DuetError: nothing can be measured.
        """
        ...

    async def rest(self) -> None:
        """Close all lanes. The next run boots its lanes again."""
        ...


class Recordings(Protocol):
    """Recorded runs of lessons."""

    publish: Callable[[RunLog, Packet], None]
    """Function that receives the packets of recordings that are being read. The director sets
    it."""

    def listing(self, slug: str) -> list[dict[str, JsonValue]]:
        """List the recordings: name, params, arms, clock, seconds, bytes, recorded_at."""
        ...

    def cells(self, slug: str) -> list[GridCell]:
        """Return the recorded cells of the lesson's grids."""
        ...

    def paths(self, slug: str) -> dict[str, Path]:
        """Return the bundles by name, with those of cells."""
        ...

    def file(self, slug: str, name: str) -> Path | None:
        """Return the bundle of that name, or None."""
        ...

    def begin(self, slug: str, name: str | None = None) -> Run | None:
        """Return the named recording, or the lesson's first recording; None if there is none.

        The recording may not be completely read yet. Its packets go to `publish`. If the recording
        cannot be read, the error goes to `publish`, too.

        Raises:
            InputError: there is no recording of that name.
        """
        ...

    async def load(self, slug: str, name: str | None = None) -> Run | None:
        """Return the named recording, or the lesson's first recording, once it is read completely.

        Raises:
            InputError: there is no recording of that name, or it is unusable.
        """
        ...

    async def close(self) -> None:
        """Cancel the reading of recordings that is in progress."""
        ...

    def tables(self, slug: str) -> list[JsonValue]:
        """Return all recorded tables of measurements as trees, the headline table first. The list
        is empty if the tables cannot be read."""
        ...

    def measured(self, slug: str) -> Measured | None:
        """Return the recorded table of a measurement, labelled as recorded."""
        ...


class Kernels(Protocol):
    """The kernels of all lessons, and the builds of these kernels."""

    def ready(self, slug: str) -> dict[str, bool]:
        """Return for each arm whether its kernel is built."""
        ...

    def request(self, slug: str, arms: Iterable[str]) -> bool:
        """Build these arms next, even optional arms.

        Returns:
            Whether a kernel of these arms is missing. If so, and work() has returned, call work()
            again.
        """
        ...

    def latest(self) -> list[ServerMessage]:
        """Return the newest `build` message of each arm, for a viewer who joins."""
        ...

    async def work(self, tell: Callable[[ServerMessage], None]) -> None:
        """Build all missing kernels and publish progress. Return when nothing is left to build."""
        ...


class BuildListener(Protocol):
    """Receives the progress of background builds, on the event loop."""

    def started(self, kernels: int) -> None:
        """Record that a round of builds begins, with this number of kernels to build."""
        ...

    def update(self, build: Build) -> None: ...

    def finished(self) -> None: ...
