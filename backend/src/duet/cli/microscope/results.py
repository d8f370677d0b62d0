# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of the `--json` output of `duet microscope`: for counts, --predict and --native."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duet.cli.keys import key


@dataclass(frozen=True, slots=True)
class AccessCounts:
    """Counts of accesses to a line, to a field, or by a function."""

    reads: int
    writes: int
    rmws: int
    reads_per_op: float | None
    writes_per_op: float | None
    rmw_per_op: float | None
    outside: int | None


@dataclass(frozen=True, slots=True)
class MicroscopeLine:
    """One cache line."""

    line: str = key("address")
    field: str = key("what is written most there")
    fields: Mapping[str, AccessCounts] = key(shape="{name: counts}")
    cpus: int = key()
    shared: bool = key("several vCPUs, and one writes")
    accesses: int = key()
    reads: int = key()
    writes: int = key()
    rmws: int = key()
    reads_per_op: float | None = key()
    writes_per_op: float | None = key()
    rmw_per_op: float | None = key()
    outside: int | None = key()
    by_function: Mapping[str, AccessCounts] = key("counts: reads to outside", "{name: counts}")


@dataclass(frozen=True, slots=True)
class BrokenOperations:
    """Numbers of incomplete operations, by reason."""

    ops_slept: int
    ops_left: int = key("by a jump to another function")
    ops_again: int = key("entered again")


@dataclass(frozen=True, slots=True)
class MicroscopeResult:
    lesson: str
    arm: str
    workload: str
    clock: str
    params: Mapping[str, int]
    evidence: str = key("counted")
    functions: Sequence[str] = key()
    operation: str | None = key()
    until: str | None = key("the function whose return ends it")
    line_of: Mapping[str, object] | None = key(
        "what --line shows, or null", "{name, places: [{address, bytes}]}"
    )
    object: str | None = key()
    ops: int = key()
    ops_begun: int = key()
    ops_broken: int = key()
    broken_by: BrokenOperations = key()
    no_operation: str | None = key("why nothing is per operation, or null")
    accesses: int = key()
    untold: int = key()
    all_lines: int = key()
    stack_lines: int = key()
    outside: int | None = key("accesses that no operation did, or null")
    stack_accesses: int = key()
    unnamed_lines: int = key("in the vmalloc area, without a name: stacks, as a rule")
    unnamed_accesses: int = key()
    lines: Sequence[MicroscopeLine] = key()


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and range of a figure over several runs."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Modelled figures of one arm on a number of CPUs."""

    cpus: int
    ops_per_s: Spread
    transfers_per_op: Spread = key(shape="the same")
    upgrades_per_op: Spread = key(shape="the same")
    bus_events_per_op: Spread = key(shape="the same")


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The predicted ratio if one of the model's numbers is halved or doubled."""

    what: str
    halved: float
    doubled: float
    halved_off: float | None
    doubled_off: float | None


@dataclass(frozen=True, slots=True)
class Ratios:
    """Rates of the first and last arm, and the ratio of the two rates, by one rule of the model.

    The model has two rules for loads before a read-modify-write.
    """

    ratio: float
    off: float | None = key(
        "average distance from the published profile in percentage points, or null"
    )
    before_per_s: float = key()
    after_per_s: float = key()
    sensitivity: Sequence[Sensitivity] = key()


@dataclass(frozen=True, slots=True)
class ProfilePart:
    """One function's percentage of all CPUs' time.

    `mail` is the published percentage, or null if none was published. `owning` and `reading` are
    the percentages that the model gives under its two rules.
    """

    part: str
    mail: float | None
    owning: float
    reading: float


@dataclass(frozen=True, slots=True)
class PredictedComparison:
    """Comparison of the last arm with the first."""

    before: str
    after: str
    cpus: int
    owning: Ratios = key("loads own the line at once; the default")
    reading: Ratios = key("loads only read", "the same")


@dataclass(frozen=True, slots=True)
class PredictResult:
    lesson: str
    evidence: str = key("modelled")
    curves: Mapping[str, Sequence[CurvePoint]] = key(per="arm")
    comparison: PredictedComparison | None = key()
    profile: Mapping[str, Sequence[ProfilePart]] = key("time by function", per="arm")
    mail: Mapping[str, object] = key(
        "of the published figures", "{says, source, cpus, and a rate of each arm}"
    )
    left_out: Sequence[str] = key(shape="[sentence]")


@dataclass(frozen=True, slots=True)
class NativePoint:
    """Operations per second with one number of threads."""

    threads: int
    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class NativeMade:
    """Machine, compiler and time of the measurement."""

    cpu: str
    kernel: str
    machine: str
    compiler: str
    at: str


@dataclass(frozen=True, slots=True)
class NativeHost:
    """Rates that the host's own kernel achieves."""

    what: str
    curve: Sequence[NativePoint]


@dataclass(frozen=True, slots=True)
class NativeArm:
    """One arm's layout."""

    arm: str
    bytes: int
    offsets: Mapping[str, int] = key(shape="{member: byte}")
    alone_ns: float = key()
    per_s: Spread = key()
    curve: Sequence[NativePoint] = key("by number of threads")
    retries_per_op: float = key()
    stuck_per_op: float = key()
    events_per_op: Mapping[str, float] | None = key()
    c2c: Mapping[str, int] | None = key()


@dataclass(frozen=True, slots=True)
class NativeRatio:
    """Ratio of two rates, with its 95 % interval."""

    of: str
    to: str
    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class NativeResult:
    lesson: str
    format: int = key("1")
    evidence: str = key("measured")
    what: str = key()
    made: NativeMade = key()
    threads: int = key()
    cpus: Sequence[int] = key()
    cores: int = key()
    rounds: int = key()
    run_ms: int = key()
    arms: Sequence[NativeArm] = key()
    ratio: NativeRatio = key()
    host: NativeHost | None = key("the host's own kernel, which has one layout; or null")
    remarks: Sequence[str] = key()
