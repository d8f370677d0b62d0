# SPDX-License-Identifier: GPL-2.0-or-later
"""What a session asks of guests, and what it reports: typed values and the sink's protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from duet.base.budgets import CONTENDED_SHARE
from duet.base.clock import Clock
from duet.base.errors import DuetError, InputError
from duet.guests.types import Guest, GuestFacts, Microscope
from duet.lenses import LensState, Sample
from duet.lenses.scope.wire import Cells
from duet.messages import Lane, LanePhase, RunPhase
from duet.session.spec import MicroscopeRequest
from duet.session.tables import Batch, Loss, Metrics, Row
from duet.session.transcript import Transcript


@dataclass(frozen=True, slots=True)
class GuestRequest:
    """What a session asks of a guest factory. Another request is another boot.

    Args:
        shift: the count clock's, as in RunSpec.
        seed: of perturbed starts, as in RunSpec.
        memory_mb: of the guest.
        scratch_mb: a disk of the host for /scratch; 0 is none, as on the count clock.
        microscope: its plugin, and what that looks at.
        plan: what the agent will be sent, where a parked guest may stand for a boot.
    """

    arm: str
    vcpus: int
    cmdline: tuple[str, ...]
    clock: Clock
    boot_plan: str | None
    shift: int = 0
    seed: int = 1
    memory_mb: int = 512
    scratch_mb: int = 0
    microscope: Microscope | None = None
    plan: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LaneSource:
    """Where one arm's guests come from, and its kernel's addresses (needed_symbols).

    Args:
        vmlinux: with DWARF, for the x-ray; None: it has none.
        lesson: slug, so that `duet drgn` can name the lane.
        scope: the plugin for a request, with this kernel's addresses; None: it has none. Raises
            InputError for a function that the kernel does not have.
        content: names kernel and root by what is in them; a guest that is up is used again only
            for the same content, so that an edited workload or patch is what runs.
        parked: whether a guest is parked that stands for what is asked for; then a copy of it is
            fresh, and sooner ready than a guest that is up.
        park: have a guest parked for what is asked for, when nothing runs; True: after all others,
            if there is room.
    """

    arm: str
    symbols: Mapping[str, int]
    guest: Callable[[GuestRequest], Guest]
    vmlinux: Path | None = None
    lesson: str = ""
    scope: Callable[[MicroscopeRequest], Awaitable[Microscope]] | None = None
    content: str = ""
    parked: Callable[[GuestRequest], bool] = lambda _: False
    park: Callable[[GuestRequest, bool], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Contention:
    """Whether the host gave a guest's vCPUs the CPU time that they wanted, from start to end.

    Args:
        ran_s: CPU seconds that they had, all vCPUs together.
        waited_s: seconds in which they could run and another thread of the host had the CPU, or
            the hypervisor below the host had taken it (steal).
    """

    ran_s: float
    waited_s: float

    @property
    def share(self) -> float:
        """Waiting as a part of what was wanted, 0 to 1."""
        wanted = self.ran_s + self.waited_s
        return self.waited_s / wanted if wanted else 0.0


def contention_bound(vcpus: int, cpus: int) -> float:
    """Share of waiting beyond which a run's times are distorted.

    Alone on the host, `vcpus` busy vCPUs get min(1, cpus / vcpus) of what they want. A run is
    distorted when it gets less than 1 - CONTENDED_SHARE of that.

    Args:
        vcpus: of one guest, at least 1.
        cpus: of the host that the guests may use, at least 1.
    """
    return 1 - (1 - CONTENDED_SHARE) * min(1.0, cpus / vcpus)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the workload, at guest time since the start marker (0 before it)."""

    stream: Literal["out", "err"]
    text: str
    t_ns: float


@dataclass(frozen=True, slots=True)
class ScopeResult:
    """What the microscope counted, exactly, from the start to the workload's end.

    Args:
        names: what lies at an address, as far as the x-ray could tell.
        watched: address and bytes of the object.
        fields: of the object, by offset: (offset, name), as its probe reads them.
    """

    cells: Cells
    names: Mapping[int, str]
    watched: tuple[int, int] | None
    fields: tuple[tuple[int, str], ...] = ()

    def field_range(self, name: str) -> tuple[int, int]:
        """First byte and end of a field of the watched object.

        Raises:
            InputError: nothing was watched, or it has no such field.
        """
        base, size = self.watched or (0, 0)
        for at, field_name in self.fields:
            if field_name == name:
                ends = [begin for begin, _ in self.fields if begin > at]
                return base + at, base + min(ends, default=size)
        known = ", ".join(field_name for _, field_name in self.fields)
        raise InputError(
            f"the watched object has no field '{name:.60}'.",
            remedy=f"Choose from: {known:.400}." if known else "No object was watched.",
        )

    def name_of(self, address: int) -> str:
        """What lies at an address; of the watched object its field; "" if unknown."""
        base, size = self.watched or (0, 0)
        if self.fields and base <= address < base + size:
            return [name for at, name in self.fields if at <= address - base][-1]
        return self.names.get(address, "")


@dataclass(frozen=True, slots=True)
class LaneResult:
    """Final result of one lane.

    Args:
        ops: the workload's own count, from its own line; None if it wrote none.
        ops_per_s: the same, per second.
        status: wait status of the workload: exit code, or minus a signal.
        clocksource: of the guest; anything but tsc makes its times doubtful.
        tallies: metric -> value picked from the run's events, in raw units, before `scale`.
        tally_faults: metric -> why it has no value there, in a sentence.
        scope: what the microscope counted.
        scope_fault: why it counted nothing, in a sentence.
        contention: of a live run on the wall clock; None elsewhere, or where it cannot be read.
        xray: how the x-ray was in the end.
    """

    arm: str
    phase: LanePhase
    error: DuetError | None
    metrics: Metrics
    lines: tuple[Line, ...]
    ops: int | None
    ops_per_s: float | None
    facts: GuestFacts | None
    kernel: str
    clocksource: str
    loss: tuple[Loss, ...]
    lost_by_place: Mapping[str, int]
    transcript: Transcript | None
    status: int | None
    tallies: Mapping[str, float] = field(default_factory=dict)
    tally_faults: Mapping[str, str] = field(default_factory=dict)
    scope: ScopeResult | None = None
    scope_fault: str = ""
    contention: Contention | None = None
    xray: LensState = field(default_factory=LensState)


@dataclass(frozen=True, slots=True)
class RunResult:
    """Final result of a run; `failed` only if every lane failed."""

    run_id: str
    phase: RunPhase
    lanes: dict[str, LaneResult]


class SessionSink:
    """Receives what a session reports. A subclass overrides the calls that it needs.

    All are plain calls on the event loop; they return soon and do not raise.
    """

    def on_run(self, phase: RunPhase, message: str) -> None:
        """The run's phase changed; of a run that failed, why."""

    def on_lane(self, state: Lane) -> None:
        """A lane's phase changed."""

    def on_rows(self, arm: str, rows: tuple[Row, ...]) -> None:
        """All rows of a lane, again whenever there are more."""

    def on_batch(self, arm: str, new: Batch) -> None: ...

    def on_metrics(self, arm: str, metrics: Metrics) -> None: ...

    def on_loss(self, arm: str, loss: Loss) -> None: ...

    def on_line(self, arm: str, line: Line) -> None:
        """The workload wrote a line."""

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        """The x-ray's sample, at guest time since the start marker."""

    def on_lens(self, arm: str, state: LensState) -> None:
        """How the x-ray is; the newest counts."""

    def on_contention(self, arm: str, contention: Contention) -> None:
        """How long the lane's guest waited for the host so far; the newest counts."""
