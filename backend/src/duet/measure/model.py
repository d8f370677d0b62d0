# SPDX-License-Identifier: GPL-2.0-or-later
"""Data model of a measurement: samples, series, comparisons, tables, a report. Pure.

The runner fills these objects, the statistics compare them, and the report formats only read them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from duet.base.clock import Clock
from duet.base.errors import DuetError

# Hosts of a pool on which comparisons ran, and the check that two hosts are alike. Pure.
#
# A verdict never mixes times of different hosts. Figures of the count clock may be mixed, because
# they do not depend on the CPU.

SHORT = 12
"""Number of hash digits that reports show."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The host on which one comparison ran.

    Args:
        comparison: the comparison's condition in words.
        table: index of the comparison's table in the report.
        layout: number of the layout that ran; 0 is the default link order.
        node: the pool's name for the host.
        cpu: CPU model.
        qemu: QEMU's version; "" if no guest booted.
        accel: tcg or kvm; "" if no guest booted.
        kernels: arm -> SHA-256 of the arm's bzImage on that host.
        root: SHA-256 of the guests' root file system on that host.
        waited_share: part of the CPU time that a guest needed but had to wait for, in the worst
            untraced run; None on the count clock, where waiting changes no figure.
        again: sentence that says why the comparison ran a second time; "" if it ran once.
    """

    comparison: str
    table: int
    layout: int
    node: str
    cpu: str = ""
    qemu: str = ""
    accel: str = ""
    kernels: Mapping[str, str] = field(default_factory=dict)
    root: str = ""
    waited_share: float | None = None
    again: str = ""


def other_kernels(one: HostFacts, other: HostFacts) -> list[str]:
    """Return the arms whose kernels differ between two hosts."""
    both = [arm for arm in one.kernels if arm in other.kernels]
    return [arm for arm in both if one.kernels[arm] != other.kernels[arm]]


def differences(one: HostFacts, other: HostFacts) -> list[str]:
    """Return the differences that make the times of two hosts incomparable, if any."""
    pairs = (
        ("CPU model", one.cpu, other.cpu),
        ("QEMU version", one.qemu, other.qemu),
        ("accelerator", one.accel, other.accel),
        ("guests' root", one.root, other.root),
    )
    found = [name for name, ours, theirs in pairs if ours and theirs and ours != theirs]
    return found + [f"kernel of {arm}" for arm in other_kernels(one, other)]


def other_inputs(one: HostFacts, other: HostFacts) -> list[str]:
    """Return the inputs of count-clock runs that differ between two hosts, with both values."""
    found = [
        f"the kernel of {arm} (SHA-256 {one.kernels[arm][:SHORT]} and {other.kernels[arm][:SHORT]})"
        for arm in other_kernels(one, other)
    ]
    if one.qemu != other.qemu and one.qemu and other.qemu:
        found.append(f"QEMU ({one.qemu} and {other.qemu})")
    if one.accel != other.accel and one.accel and other.accel:
        found.append(f"the accelerator ({one.accel} and {other.accel})")
    if one.root != other.root:
        found.append(
            f"the guests' root (SHA-256 {one.root[:SHORT] or 'unknown'} and"
            f" {other.root[:SHORT] or 'unknown'})"
        )
    return found


def unlike(hosts: Iterable[HostFacts]) -> list[str]:
    """Return all differences between the first host and the other hosts, if any."""
    first, *others = [*hosts] or [HostFacts("", 0, 0, "")]
    return list(dict.fromkeys(word for other in others for word in differences(first, other)))


def host_words(facts: HostFacts) -> str:
    """Return 'n=9 on n1: Example CPU, QEMU 7.2.22 (tcg), guests waited at most 3 % for a CPU.'"""
    guest = f"QEMU {facts.qemu} ({facts.accel})" if facts.qemu else "no guest booted"
    parts = [facts.cpu, guest]
    if facts.waited_share is not None:
        parts.append(f"guests waited at most {100 * facts.waited_share:.0f} % for a CPU")
    said = f"{facts.comparison} on {facts.node}: {', '.join(part for part in parts if part)}."
    return f"{said} {facts.again}".rstrip()


Evidence = Literal["measured", "counted", "sampled", "static"]
"""How a metric's numbers are obtained. measured: wall-clock times; counted: events, or the count
clock's instructions; sampled: at the kernel's tick, on any clock; static: read from DWARF."""
Verdict = Literal["higher", "lower", "no difference proven", "deterministic", "refused"]

MIN_RUNS = 5
"""Smallest number of untraced runs per arm that allows a wall-clock verdict."""
SAME = 0.01
"""Share by which identical runs on the count clock may differ. A smaller change counts as none."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Condition that all runs of one table have in common.

    Args:
        shift: an instruction takes 2^shift ns; None on the wall clock.
        sharing: number of vCPUs that share one host thread on the count clock.
    """

    clock: Clock
    shift: int | None
    workload: str
    params: dict[str, int]
    sharing: int = 1


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The source tree of a trial's arm.

    Args:
        version: version in the tree's Makefile.
        commit: full hash; "" outside a repository.
        describe: the commit, as `git describe` names it.
        tree: git tree id of the files that were used, with uncommitted changes.
        dirty: whether the files differ from the commit.
        changes: SHA-256 of the diff from the commit to the files; "" if there is no difference.
        patches: how many of the arm's patches, counted from the first, belong to the tree.
    """

    version: str
    commit: str = ""
    describe: str = ""
    tree: str = ""
    dirty: bool = False
    changes: str = ""
    patches: int = 0


@dataclass(frozen=True, slots=True)
class PatchOrigin:
    """Origin of a patch.

    Args:
        commit: full hash of the commit, or "" if git format-patch did not write one.
    """

    subject: str
    commit: str = ""


@dataclass(frozen=True, slots=True)
class ArmFacts:
    """Provenance of an arm's kernel.

    Args:
        kernel: output of `uname -r`; "" until a guest has reported it.
        key: key of the kernel in the store.
        config_sha256: digest of the requested options, which come from the base and the variant.
        patches: (file, SHA-256 of its diff) for each of the arm's own patches, without those in
            both/.
        both: (file, SHA-256 of its diff) for each patch in the base's both/ and the lesson's both/.
        compiler: the compiler's name and version.
        base: name of its kernel base; "" if unknown.
        config: variant of the base's configuration; "" for the base's own configuration.
        origins: one per entry of `patches`, in order; () if unknown.
        source: source tree of a trial's arm; None if the source is the base's.
        tarball_sha256: digest of the base's source; "" if unknown.
        settings: config options that affect times, in words; "" until the kernel is built.
        writes: what the guest writes before a workload ('PATH VALUE'), in order.
    """

    name: str
    title: str
    role: str
    kernel: str
    key: str
    config_sha256: str
    patches: tuple[tuple[str, str], ...]
    both: tuple[tuple[str, str], ...]
    compiler: str = ""
    base: str = ""
    config: str = ""
    origins: tuple[PatchOrigin, ...] = ()
    source: SourceFacts | None = None
    tarball_sha256: str = ""
    settings: str = ""
    writes: tuple[str, ...] = ()


@dataclass(slots=True)
class Series:
    """Samples of one metric on one arm under one condition, in the order of the runs.

    Args:
        samples: one sample per run of the default start.
        perturbed: one sample per run with another seed; only on the count clock.
        refused: why the number is missing or unusable.
        layouts: layout number -> samples of the relinked kernel. These samples show how robust the
            figure is, and do not change a verdict.
    """

    metric: str
    title: str
    unit: str
    better: Literal["higher", "lower", "neither"]
    evidence: Evidence
    arm: str
    samples: list[float] = field(default_factory=list)
    perturbed: list[float] = field(default_factory=list)
    resolution: float = 0.0
    extra: bool = False
    refused: str | None = None
    layouts: dict[int, list[float]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of samples from the default start."""
        return len(self.samples)

    @property
    def starts(self) -> list[float]:
        """Values whose median is the figure. On the count clock, each start has one value."""
        if not self.samples or not self.perturbed:
            return list(self.samples)
        return [statistics.median(self.samples), *self.perturbed]

    @property
    def figure(self) -> float | None:
        """The headline number: the median over all starts, or None without any sample."""
        return statistics.median(self.starts) if self.samples else None


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of a series. `ci` is the 95 % interval of the mean, or None if it is unknown."""

    n: int
    median: float
    mean: float
    stddev: float | None
    ci: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of one metric of `arm` with `to`.

    Args:
        ratio: the arm's figure divided by that of `to`; None if refused.
        ci: 95 % interval of the ratio (bootstrap, wall clock); None on the count clock.
        range: lowest and highest ratio over all starts (count clock); None without perturbed
            starts.
        p: two-sided p of the Mann-Whitney U test; None on the count clock.
        verdict: "deterministic" means a count-clock difference that all starts show.
        sentence: the verdict in words.
    """

    metric: str
    arm: str
    to: str
    ratio: float | None
    ci: tuple[float, float] | None
    range: tuple[float, float] | None
    p: float | None
    verdict: Verdict
    sentence: str

    @property
    def change_percent(self) -> float | None:
        """The change in per cent, for example -78.2 for a ratio of 0.218."""
        return None if self.ratio is None else 100 * (self.ratio - 1)


@dataclass(slots=True)
class Table:
    """Results of one condition: series per metric and arm, comparisons, messages.

    Args:
        lines: arm -> the workload's output lines from its untraced runs, verbatim.
        refusals: sentences that say why no comparison in the table gets a verdict, e.g. because
            the host was busy.
        errors: arm -> the error that stopped its runs.
        counted: arm -> numbers of events read and lost in the counted runs.
    """

    condition: Condition
    series: list[Series] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    errors: dict[str, DuetError] = field(default_factory=dict)
    counted: dict[str, tuple[int, int]] = field(default_factory=dict)

    def of(self, metric: str, arm: str) -> Series | None:
        """Return the series of a metric on an arm, or None if the table has no such series."""
        return next((s for s in self.series if s.metric == metric and s.arm == arm), None)


@dataclass(slots=True)
class Report:
    """Everything about one measurement: its conditions, its tables, and its provenance.

    Args:
        arms: in the lesson's order; the first is the reference.
        tables: one per condition, ordered by sweep value, then by shift.
        sweep: (param, values) if one knob was swept.
        host: fingerprint with the keys cpu, cpus, memory_mib, os, kernel, qemu and accel.
        command: command line that repeats the measurement.
        at: time of the measurement in UTC, as ISO 8601.
        partial: why the report is incomplete ("interrupted after 7 of 20 runs"); None if it is
            complete.
        tasks: knob that sets the number of parallel tasks; None if the lesson has no such knob.
        made_by: command line that creates the lesson before it can be measured; "" for a lesson in
            the checkout.
        hosts: hosts of comparisons on a pool; empty if everything ran on this machine.
        programs: guest programs that the workload runs -> version.
        by: version and commit of Kernel Duet.
        waiting: whether the lesson's cost is time spent waiting. The count clock scales this time.
        summary: regular expressions of the workload's lines that have figures; empty to print all.
        remarks: sentences about the hosts (results that were not mixed, missing results) or about
            a trial's kernels (missing options, an x-ray that read nothing).
    """

    lesson: str
    title: str
    question: str
    arms: tuple[ArmFacts, ...]
    host: dict[str, str]
    command: str
    at: str
    tables: list[Table] = field(default_factory=list)
    sweep: tuple[str, tuple[int, ...]] | None = None
    partial: str | None = None
    tasks: str | None = None
    made_by: str = ""
    hosts: list[HostFacts] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    programs: dict[str, str] = field(default_factory=dict)
    by: str = ""
    waiting: bool = False
    summary: tuple[str, ...] = ()

    @property
    def wall(self) -> bool:
        """Whether the report's figures are wall-clock times."""
        return any(table.condition.clock == "wall" for table in self.tables)
