# SPDX-License-Identifier: GPL-2.0-or-later
"""What a director needs of a stage, of recordings and of kernels.

Real ones are in hosts/, recordings.py and builds.py; tests use synthetic ones with
the same interfaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

from pydantic import JsonValue

from duet.guests.clones import TemplateCounts
from duet.messages import Build, Judged, Measured, ServerMessage
from duet.messages.codec import Packet
from duet.runs.sources import JudgeRequest, MeasureRequest
from duet.session import RunSpec
from duet.stream.hub import Hub, RunLog


class Run(Protocol):
    """One run, live or recorded, and what can be asked of it later."""

    log: RunLog

    async def perform(self) -> None:
        """Run until all lanes have ended; failures of lanes go into the log, not up."""
        ...

    async def stop(self) -> None:
        """End the workload; perform() then returns by itself."""
        ...

    async def act(self, name: str, value: int) -> None:
        """Do one of the lesson's acts.

        Raises:
            DuetError: nothing runs that could take it, or the value is out of range.
        """
        ...

    async def hold(self, on: bool, after: int) -> None:
        """Hold the guests, each after so many more accesses (0: at once), or let them go.

        Raises:
            DuetError: none can be held now.
        """
        ...

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Raw records near a moment; of one row of the lane or of one CPU, if given."""
        ...

    def bundle(self) -> Path | bytes | None:
        """The run as a .duet file; None while it is not over. Blocking."""
        ...


class QueuedRun(Run, Protocol):
    """A live run. It has a log, which may be watched, from the moment that it is asked for."""

    async def perform(self, slot: int = 0) -> None:
        """Run until all lanes have ended, on the guests of a slot that no other run uses now."""
        ...

    def withdraw(self) -> None:
        """It will not begin; those who watch its log read so."""
        ...

    def close(self) -> None:
        """It is over, and nobody can ask for it any more: it gives up what it holds."""
        ...


class Stage(Protocol):
    """Where live runs happen, in slots that share no guest. Owns all guests."""

    async def __aenter__(self) -> Stage: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    @property
    def saves_first(self) -> bool:
        """Whether the next run in a slot may end what has the file of the last one there."""
        ...

    def prepare(self, request: RunSpec, hub: Hub) -> QueuedRun:
        """A run that publishes into the hub."""
        ...

    def expect(self, request: RunSpec, others: Callable[[], Sequence[RunSpec]]) -> None:
        """This run may be asked for soon, and others later; nothing visible happens.

        Args:
            others: gives these; it is called in a thread.
        """
        ...

    def parked(self) -> TemplateCounts:
        """How parked guests stand, whose copies lanes can be."""
        ...

    async def measure(self, request: MeasureRequest, publish: Callable[[Measured], None]) -> None:
        """Measure lanes one after another; publishes `measured` messages, the last one complete.

        Raises:
            DuetError: no table can be made.
        """
        ...

    async def judge(self, request: JudgeRequest, publish: Callable[[Judged], None]) -> None:
        """Judge an arm by a challenge; publishes `judged` messages, the last one decided.

        Raises:
            DuetError: nothing can be measured.
        """
        ...

    async def rest(self) -> None:
        """Close all lanes; the next run boots them again."""
        ...


class Recordings(Protocol):
    """Recorded runs of lessons."""

    publish: Callable[[RunLog, Packet], None]
    """Where packets go of recordings that are being read; the director sets it."""

    def listing(self, slug: str) -> list[dict[str, JsonValue]]:
        """What is recorded: name, params, arms, clock, seconds, bytes, recorded_at."""
        ...

    def paths(self, slug: str) -> dict[str, Path]:
        """Name -> bundle."""
        ...

    def file(self, slug: str, name: str) -> Path | None:
        """The bundle of that name; None: there is none."""
        ...

    def begin(self, slug: str, name: str | None = None) -> Run | None:
        """The recording of that name, or the lesson's first, which may still be read.

        Packets, and why it cannot be read, go to `publish`. None when there is none.

        Raises:
            InputError: no recording of that name.
        """
        ...

    async def load(self, slug: str, name: str | None = None) -> Run | None:
        """The same, once it is whole.

        Raises:
            InputError: no recording of that name, or an unusable one.
        """
        ...

    async def close(self) -> None:
        """Give up what is being read."""
        ...

    def tables(self, slug: str) -> list[JsonValue]:
        """All recorded measured tables as trees, the headline first; none if unreadable."""
        ...

    def measured(self, slug: str) -> Measured | None:
        """The recorded measured table, labelled as recorded."""
        ...


class Kernels(Protocol):
    """Which kernels are there."""

    def ready(self, slug: str) -> dict[str, bool]:
        """arm -> its kernel is built."""
        ...

    def request(self, slug: str, arms: Iterable[str]) -> bool:
        """Build these arms next, optional ones too.

        Returns:
            Whether one of them is not there: a work() that has returned must be called anew.
        """
        ...

    def latest(self) -> list[ServerMessage]:
        """The newest `build` message of each arm, for a viewer who joins."""
        ...

    async def work(self, tell: Callable[[ServerMessage], None]) -> None:
        """Build what is missing, telling progress; returns when nothing is left to do."""
        ...


class BuildListener(Protocol):
    """Receives the progress of background builds, on the event loop."""

    def started(self, kernels: int) -> None:
        """A round of builds begins; so many kernels are not built yet."""
        ...

    def update(self, build: Build) -> None: ...

    def finished(self) -> None: ...
