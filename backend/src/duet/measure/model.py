# SPDX-License-Identifier: GPL-2.0-or-later
"""What a measurement is made of: samples, series, comparisons, tables, a report. Pure data.

The runner fills these, the statistics compare them, the report formats only read them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from duet.base.clock import Clock
from duet.base.errors import DuetError

# The host of each comparison that ran on a pool, and when two hosts are alike. Pure.
#
# Times of hosts that differ are never part of one verdict. On the count clock a figure does not
# hang on the CPU, so these may be.

SHORT = 12
"""Digits of a hash that are shown."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Where a comparison ran.

    Args:
        comparison: its condition in words.
        table: index of its table in the report.
        layout: the further link that it ran; 0 is the usual one.
        node: as the pool names the host.
        cpu: its model.
        qemu: its version; "": no guest was up.
        accel: tcg or kvm; "": no guest was up.
        kernels: arm -> SHA-256 of its bzImage there.
        root: SHA-256 of the guests' root there.
        waited_share: the most that a guest of an untraced run waited for a CPU that others had;
            None on the count clock, where that changes no figure.
        again: why it ran a second time, as a sentence; "": it did not.
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
    """Arms whose kernels differ."""
    both = [arm for arm in one.kernels if arm in other.kernels]
    return [arm for arm in both if one.kernels[arm] != other.kernels[arm]]


def differences(one: HostFacts, other: HostFacts) -> list[str]:
    """In what two hosts differ so that their times are not comparable; empty: they are alike."""
    pairs = (
        ("CPU model", one.cpu, other.cpu),
        ("QEMU version", one.qemu, other.qemu),
        ("accelerator", one.accel, other.accel),
        ("guests' root", one.root, other.root),
    )
    found = [name for name, ours, theirs in pairs if ours and theirs and ours != theirs]
    return found + [f"kernel of {arm}" for arm in other_kernels(one, other)]


def other_inputs(one: HostFacts, other: HostFacts) -> list[str]:
    """What a run of the count clock depends on and two hosts do not share, with both values."""
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
    """In what any of several hosts differs from the first; empty: all are alike."""
    first, *others = [*hosts] or [HostFacts("", 0, 0, "")]
    return list(dict.fromkeys(word for other in others for word in differences(first, other)))


def host_words(facts: HostFacts) -> str:
    """'n=9 on n1: Example CPU, QEMU 7.2.22 (tcg), guests waited for a CPU 3 % at most'."""
    guest = f"QEMU {facts.qemu} ({facts.accel})" if facts.qemu else "no guest was up"
    parts = [facts.cpu, guest]
    if facts.waited_share is not None:
        parts.append(f"guests waited for a CPU {100 * facts.waited_share:.0f} % at most")
    said = f"{facts.comparison} on {facts.node}: {', '.join(part for part in parts if part)}."
    return f"{said} {facts.again}".rstrip()


Evidence = Literal["measured", "counted", "sampled", "static"]
"""measured: the wall clock; counted: events, or instructions of the count clock; sampled: at the
kernel's tick, on any clock; static: DWARF."""
Verdict = Literal["higher", "lower", "no difference proven", "deterministic", "refused"]

MIN_RUNS = 5
"""Fewer untraced runs per arm give no verdict on the wall clock."""
SAME = 0.01
"""Equal runs on the count clock differ by no more than this part; so a change by less is none."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What every run of one table has in common.

    Args:
        shift: 2^shift ns an instruction; None on the wall clock.
        sharing: vCPUs that share the one thread of the count clock.
    """

    clock: Clock
    shift: int | None
    workload: str
    params: dict[str, int]
    sharing: int = 1


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The source tree of an arm of a trial.

    Args:
        version: as its Makefile says.
        commit: full hash; "": it was no repository.
        describe: the commit as `git describe` names it.
        tree: git's hash of all files as they were tried.
        dirty: whether they were not those of the commit.
        changes: sha256 of the diff from the commit to them; "" where they are equal.
        patches: so many of the arm's patches, from the first, are part of it.
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
    """Where a patch comes from.

    Args:
        commit: full hash, where git format-patch wrote one; else "".
    """

    subject: str
    commit: str = ""


@dataclass(frozen=True, slots=True)
class ArmFacts:
    """What an arm was made of, for provenance.

    Args:
        kernel: as `uname -r` says; "" until a guest has reported it.
        key: name of the build in the store.
        config_sha256: of the options asked for (those of its base, and of the variant).
        patches: (file, sha256 of its diff) of the arm's own patches, without those in both/.
        both: the same for both/ of its base and both/ of the lesson.
        compiler: its name and version.
        base: name of its kernel base; "" where nobody wrote it down.
        config: the variant of the base's configuration; "": that of the base.
        origins: one for each of `patches`, in their order; () where nobody wrote them down.
        source: the tree that it was made of; None: the base is all there is to say.
        tarball_sha256: of the source of its base; "" where nobody wrote it down.
        settings: its configuration in words, as far as it matters for times; "" until it is built.
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


@dataclass(slots=True)
class Series:
    """The samples of one metric on one arm under one condition, in the order they were taken.

    Args:
        samples: one per run of the usual start.
        perturbed: count clock only: one per run with another seed.
        refused: why there is no number, or none that may be used.
        layouts: number of a further link of the kernel -> its samples; robustness, not evidence.
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
        """Runs of the usual start that gave a number."""
        return len(self.samples)

    @property
    def starts(self) -> list[float]:
        """What the figure is the median of: on the count clock one value for each start."""
        if not self.samples or not self.perturbed:
            return list(self.samples)
        return [statistics.median(self.samples), *self.perturbed]

    @property
    def figure(self) -> float | None:
        """The headline: the median over all starts; None where there is no number."""
        return statistics.median(self.starts) if self.samples else None


@dataclass(frozen=True, slots=True)
class Summary:
    """A series in numbers; `ci` is the 95 % interval of the mean, None where none is given."""

    n: int
    median: float
    mean: float
    stddev: float | None
    ci: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of `arm` against `to`.

    Args:
        ratio: figure over figure; None when refused.
        ci: 95 % interval of the ratio (bootstrap, wall clock); None on the count clock.
        range: lowest and highest ratio over all starts (count clock); None without perturbed ones.
        p: Mann-Whitney U, two-sided; None on the count clock.
        verdict: `sentence` says it in words; "deterministic" is a difference on the count clock
            that all starts show.
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
        """-78.2 for a ratio of 0.218."""
        return None if self.ratio is None else 100 * (self.ratio - 1)


@dataclass(slots=True)
class Table:
    """All of one condition: series per metric and arm, comparisons, and what was said.

    Args:
        lines: per arm, the workload's own lines of its untraced runs, verbatim.
        refusals: sentences about the whole table, e.g. that the host was busy.
        errors: per arm, what stopped it.
        counted: per arm, events read and lost in the counted run.
    """

    condition: Condition
    series: list[Series] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    errors: dict[str, DuetError] = field(default_factory=dict)
    counted: dict[str, tuple[int, int]] = field(default_factory=dict)

    def of(self, metric: str, arm: str) -> Series | None:
        """The series of that metric and arm."""
        return next((s for s in self.series if s.metric == metric and s.arm == arm), None)


@dataclass(slots=True)
class Report:
    """A whole measurement, as it goes into a file or a mail.

    Args:
        arms: in the lesson's order; the first is what the others are compared with.
        tables: one per condition, in order of sweep value, then shift.
        sweep: (param, values) when one knob was swept.
        host: fingerprint: cpu, cpus, memory_mib, os, kernel, qemu, accel.
        command: what to type to get it again.
        at: ISO 8601, UTC.
        partial: why it is not whole ("interrupted after 7 of 20 runs"); None when it is.
        tasks: the knob that says how many run at once; None: the lesson has none.
        made_by: what to type first to get the lesson; "": it is one of the checkout.
        hosts: of each comparison, where it ran on a pool; empty: all ran here.
        programs: of the guests, which the workload runs -> version.
        by: version of Kernel Duet, and its commit.
        waiting: the cost of this lesson is waiting, of which the count clock has its own idea.
        remarks: sentences about these hosts (which were not mixed, and what is missing), or about
            the kernels of a trial (options that one lacks, an x-ray that saw nothing).
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

    @property
    def wall(self) -> bool:
        """Whether its figures are times of the wall clock."""
        return any(table.condition.clock == "wall" for table in self.tables)
