# SPDX-License-Identifier: GPL-2.0-or-later
"""Values that a session exchanges: requests to guests, results, and the sink for its reports."""

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
    """Parameters of a guest. A running guest is reused only for an identical request.

    Args:
        shift: as in RunSpec.
        seed: as in RunSpec.
        memory_mb: the guest's memory.
        scratch_mb: size of the disk for /scratch. 0 means no disk, as on the count clock.
        microscope: the microscope's plugin and functions file.
        plan: plan that will be sent to the agent, if a copy of a template may replace a boot.
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
    """Factory of one arm's guests, with facts about the arm's kernel.

    Args:
        symbols: addresses of the symbols in needed_symbols().
        vmlinux: kernel with DWARF for the x-ray. If None, there is no x-ray.
        lesson: slug, by which `duet drgn` names the lane.
        scope: builds the plugin for a request, with this kernel's addresses. If None, there is no
            microscope. Raises InputError for a function that the kernel does not have.
        content: hash of kernel and root. A running guest is reused only if its content hash is the
            same, so that an edited workload or patch takes effect.
        parked: returns whether a template for the request exists. A copy is then preferred to a
            running guest, because the copy is fresh and ready sooner.
        park: asks for a template, which is made when nothing runs. The second argument is True for
            low priority.
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
    """CPU time of a guest's vCPUs during its workload, and the time they waited for host CPUs.

    Args:
        ran_s: CPU seconds used, summed over vCPUs.
        waited_s: seconds in which vCPUs were runnable without a CPU, because another host thread or
            the hypervisor below the host (steal) used it.
    """

    ran_s: float
    waited_s: float

    @property
    def share(self) -> float:
        """Time that the vCPUs waited, as a fraction of the CPU time that they wanted, 0 to 1."""
        wanted = self.ran_s + self.waited_s
        return self.waited_s / wanted if wanted else 0.0


def contention_bound(vcpus: int, cpus: int) -> float:
    """Return the `share` of Contention beyond which a run's times are distorted.

    Alone on the host, busy vCPUs get the fraction min(1, cpus / vcpus) of the CPU time that they
    want. A run is distorted if its vCPUs get less than 1 - CONTENDED_SHARE of that fraction.

    Args:
        vcpus: number of vCPUs of one guest, at least 1.
        cpus: number of CPUs of the host that guests may use, at least 1.
    """
    return 1 - (1 - CONTENDED_SHARE) * min(1.0, cpus / vcpus)


@dataclass(frozen=True, slots=True)
class Line:
    """A line that the workload wrote. `t_ns` is the time since the start marker; 0 before it."""

    stream: Literal["out", "err"]
    text: str
    t_ns: float


@dataclass(frozen=True, slots=True)
class ScopeResult:
    """Exact counts of the microscope, from the start to the workload's end.

    Args:
        names: address -> name, for addresses that the x-ray has named.
        watched: address and size in bytes of the watched object.
        fields: (offset, name) of the object's fields, sorted by offset, as its probe reads them.
    """

    cells: Cells
    names: Mapping[int, str]
    watched: tuple[int, int] | None
    fields: tuple[tuple[int, str], ...] = ()

    def field_range(self, name: str) -> tuple[int, int]:
        """Return the start and end addresses of a field of the watched object.

        Raises:
            InputError: no object was watched, or it has no such field.
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
        """Return the name of an address, or its field in the watched object; "" if unknown."""
        base, size = self.watched or (0, 0)
        if self.fields and base <= address < base + size:
            return [name for at, name in self.fields if at <= address - base][-1]
        return self.names.get(address, "")


@dataclass(frozen=True, slots=True)
class LaneResult:
    """Final result of one lane.

    Args:
        ops: number of operations that the workload's own output reports; None if it reports none.
        ops_per_s: operations per second in the workload's own output.
        status: exit code of the workload, negative for a signal.
        clocksource: clock source of the guest. Its times are doubtful if this is not tsc.
        tallies: metric -> value from the run's events, in raw units, before `scale`.
        tally_faults: metric -> why it has no value, as a sentence.
        scope: counts of the microscope.
        scope_fault: why the microscope counted nothing, as a sentence.
        contention: contention of a live run on the wall clock. None for other runs, or if the host
            does not report it.
        xray: final state of the x-ray.
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
    """Receiver of a session's reports. Subclasses override the methods that they need.

    The methods are called on the event loop. They must return soon and must not raise.
    """

    def on_run(self, phase: RunPhase, message: str) -> None:
        """Handle a change of the run's phase; `message` says why a run failed."""

    def on_lane(self, state: Lane) -> None:
        """Handle a change of a lane's phase."""

    def on_rows(self, arm: str, rows: tuple[Row, ...]) -> None:
        """Handle all rows of a lane, which are sent again after each change."""

    def on_batch(self, arm: str, new: Batch) -> None: ...

    def on_metrics(self, arm: str, metrics: Metrics) -> None: ...

    def on_loss(self, arm: str, loss: Loss) -> None: ...

    def on_line(self, arm: str, line: Line) -> None:
        """Handle a line of the workload."""

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        """Handle a lens sample. Its guest time counts from the start marker."""

    def on_lens(self, arm: str, state: LensState) -> None:
        """Handle the new state of a lens."""

    def on_contention(self, arm: str, contention: Contention) -> None:
        """Handle a lane's contention since its workload's start."""
