# SPDX-License-Identifier: GPL-2.0-or-later
"""Merges a measurement's comparisons into one report. Results are not mixed if their hosts
differ. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from duet.base.clock import Clock
from duet.base.errors import DuetError, InfraError, InputError
from duet.measure import MeasurePlan, Report, Series, Table
from duet.measure.compare import compare_all, format_value
from duet.measure.model import SHORT, ArmFacts, HostFacts, differences, other_inputs, other_kernels
from duet.measure.plan import conditions, metrics_of
from duet.measure.run import Collector, blank_report
from duet.plugins.cluster.measuring.request import Part, parts_of
from duet.plugins.cluster.measuring.schedule import Job


def merged(plan: MeasurePlan, jobs: Sequence[Job], command: str) -> Report:
    """Make the report. It also says which comparisons are missing, and why."""
    refuse_other_kernels(jobs)
    good = [job for job in jobs if job.result is not None and job.error is None]
    facts = [job.facts() for job in good]
    report = blank_report(plan, arm_facts(good), common_host(good), command)
    report.hosts = facts
    if plan.clock == "wall" and good:
        report.host["own_cpus"] = "those of an exclusive lease"
    usual = {job.part.table: job for job in jobs if not job.part.layout}
    for number, condition in enumerate(conditions(plan)):
        job = usual[number]
        if job in good and job.result is not None:
            table = job.result.table()
        else:
            table = Collector(plan, condition, {}).table
            _fail(table, plan.arms, job.error)
        report.tables.append(table)
    left_out: dict[tuple[str, str, str], list[str]] = {}
    for job in jobs:
        if job.part.layout and (why := _add_link(report, job, usual[job.part.table])):
            left_out.setdefault(why, []).append(job.part.name)
    report.remarks += [
        f"{', '.join(names)} ran on {node} and the usual link on {other}, which differ in {apart};"
        " figures of both are not mixed in a verdict, so these links are left out."
        for (node, other, apart), names in left_out.items()
    ]
    for table in report.tables:
        table.comparisons = compare_all(table, plan.arms)
    report.remarks += unlike_words(plan.clock, facts)
    report.partial = _partial(jobs)
    return report


def refuse_other_kernels(jobs: Sequence[Job]) -> None:
    """Mark comparisons as failed if their kernels differ from those of the first comparison."""
    first: HostFacts | None = None
    for job in jobs:
        if job.result is None or job.error is not None:
            continue
        facts = job.facts()
        if first is None:
            first = facts
        elif arms := other_kernels(first, facts):
            ours, theirs = (one.kernels[arms[0]][:SHORT] for one in (facts, first))
            job.error = InfraError(
                f"{facts.node} has another kernel for {', '.join(arms)} than {first.node} (SHA-256"
                f" {ours} and {theirs}), so its figures are left out.",
                remedy="Give all hosts the same cache of kernels.",
            )


def unmixed(clock: Clock, one: HostFacts, other: HostFacts) -> list[str]:
    """Return the differences between two hosts that forbid a common verdict.

    On the count clock, the host's CPU does not matter, but everything in the guest matters.
    """
    return differences(one, other) if clock == "wall" else other_inputs(one, other)


def unlike_words(clock: Clock, facts: Sequence[HostFacts]) -> list[str]:
    """Return a sentence for each host that differs from the first comparison's host."""
    usual = [one for one in facts if not one.layout]
    found: dict[tuple[str, str], list[str]] = {}
    for one in usual[1:]:
        apart = unmixed(clock, usual[0], one)
        if apart:
            found.setdefault((one.node, " and ".join(apart)), []).append(one.comparison)
    end = "Each verdict is from one host alone. Do not compare figures between the hosts."
    return [
        f"{usual[0].comparison} ran on {usual[0].node}, and {', '.join(names)} on {node}, which"
        f" differ in {apart}. {end}"
        for (node, apart), names in found.items()
    ]


def _add_link(report: Report, job: Job, usual: Job) -> tuple[str, str, str] | None:
    """Add the runs of relinked kernels to the runs of the default link, if the hosts do not differ.

    Returns:
        Both hosts and their differences, or None if there is nothing to report.
    """
    if job.error is not None:
        report.remarks.append(f"{job.part.name} is missing: {job.error.sentence}")
    if job.result is None or job.error is not None or usual.result is None or usual.error:
        return None
    ours, theirs = job.facts(), usual.facts()
    apart = unmixed(job.part.plan.clock, theirs, ours)
    if apart:
        return ours.node, theirs.node, " and ".join(apart)
    table, more = report.tables[job.part.table], job.result.table()
    table.refusals += [one for one in more.refusals if one not in table.refusals]
    for one in more.series:
        into = table.of(one.metric, one.arm)
        if into is not None:
            into.layouts |= one.layouts
    return None


def _fail(table: Table, arms: Iterable[str], error: DuetError | None) -> None:
    """Clear a table's numbers, and record the error in it."""
    for one in table.series:
        one.samples.clear()
        one.refused = error.sentence.rstrip(".") if error else "it was not measured"
    if error is not None:
        table.errors = dict.fromkeys(arms, error)


def _partial(jobs: Sequence[Job]) -> str | None:
    failed = [job.part.name for job in jobs if job.error is not None]
    cut = [job.part.name for job in jobs if job.error is None and job.result is None]
    said = [f"interrupted after {len(jobs) - len(cut)} of {len(jobs)} comparisons"] if cut else []
    said += [f"{', '.join(failed)} failed"] if failed else []
    for job in jobs:
        if job.result is not None and job.error is None and job.result.partial:
            said.append(f"{job.part.name}: {job.result.partial}")
    return "; ".join(said) or None


def arm_facts(good: Sequence[Job]) -> list[ArmFacts]:
    """Return each arm's facts from the first comparison that contains the arm.

    If the kernel's name is missing there, a later comparison provides it.
    """
    found: dict[str, ArmFacts] = {}
    for job in good:
        assert job.result is not None
        for arm in job.result.arms:
            known = found.setdefault(arm.name, arm)
            if not known.kernel and arm.kernel:
                found[arm.name] = replace(known, kernel=arm.kernel)
    return list(found.values())


def common_host(good: Sequence[Job]) -> dict[str, str]:
    """Return the hosts' common fingerprint. A value in which hosts differ is a list of all
    values."""
    found: dict[str, dict[str, None]] = {}
    for job in good:
        assert job.result is not None and job.result.facts is not None
        for name, value in job.result.facts.host.items():
            found.setdefault(name, {})[value] = None
    return {name: " or ".join(values) for name, values in found.items()}


# Checks whether two hosts give exactly equal figures on the count clock. Pure.
#
# Untraced runs repeat exactly. Traced runs repeat only approximately, because their events leave
# the guest through the host. So the check compares only figures that the workloads print.


@dataclass(frozen=True, slots=True)
class Figure:
    """One run's figure on two hosts.

    Args:
        run: name of the run, such as "run 1" or "other start 2".
        values: the values on the first and the second host. A missing value is None.
    """

    arm: str
    metric: str
    unit: str
    run: str
    values: tuple[float | None, float | None]

    @property
    def equal(self) -> bool:
        """Are both values present and exactly equal?"""
        one, other = self.values
        return one is not None and one == other


@dataclass(frozen=True, slots=True)
class Agreement:
    """A comparison on two hosts.

    Args:
        comparison: the comparison's condition in words.
        nodes: both hosts. A host is "" if none was found.
        trouble: why figures could not be compared, including unequal inputs.
        figures: all figures, each with both values.
    """

    comparison: str
    nodes: tuple[str, str]
    trouble: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Are there any figures, and are all of them equal?"""
        return not self.trouble and bool(self.figures) and all(one.equal for one in self.figures)


def checked_plan(plan: MeasurePlan) -> MeasurePlan:
    """Restrict a plan to the figures that must be identical on two hosts.

    Raises:
        InputError: the plan is for the wall clock, or has no such figure.
    """
    if plan.clock != "count":
        raise InputError(
            "--check-hosts compares figures on the count clock, but this plan uses the wall clock.",
            remedy="Add --clock count.",
        )
    found = {name for arm in plan.arms for name in metrics_of(plan, arm, ("line",))}
    if not found:
        raise InputError(
            f"the workload '{plan.workload}' prints no figures, and traced figures are not "
            "compared.",
            remedy="Choose another --workload.",
        )
    return replace(plan, metrics=frozenset(found))


def pairs_of(plan: MeasurePlan) -> list[tuple[Job, Job]]:
    """Return two jobs for each comparison. The two jobs must run on different hosts."""
    return [_pair(part) for part in parts_of(plan)]


def agreement(one: Job, other: Job) -> Agreement:
    """Compare the results of two hosts."""
    found = Agreement(one.part.name, (one.host, other.host))
    for job in (one, other):
        if job.error is not None:
            found.trouble.append(job.error.sentence)
        elif job.result is None:
            found.trouble.append("It was interrupted.")
    if one.result is None or other.result is None or found.trouble:
        return found
    inputs = other_inputs(one.facts(), other.facts())
    if inputs:
        hosts = " and ".join(found.nodes)
        found.trouble.append(f"{hosts} do not run the same: {'; '.join(inputs)}.")
        return found
    tables = one.result.table(), other.result.table()
    for job, table in zip((one, other), tables, strict=True):
        for arm, error in table.errors.items():
            found.trouble.append(f"{arm} failed on {job.host}: {error.sentence}")
        found.trouble.extend(f"{job.host}: {one.rstrip('.')}." for one in table.refusals)
    for ours in tables[0].series:
        theirs = tables[1].of(ours.metric, ours.arm)
        assert theirs is not None, "read_result has looked"
        found.figures.extend(_figures(ours, theirs))
    return found


def difference_words(found: Agreement, figure: Figure) -> str:
    """Format as 'srcu ops_per_s, run 2: 625.4 umounts/s on n1, 625.5 on n2 (n=9).'."""
    first, second = ("nothing" if v is None else exact(v) for v in figure.values)
    return (
        f"{figure.arm} {figure.metric}, {figure.run}: {first} {figure.unit} on {found.nodes[0]},"
        f" {second} on {found.nodes[1]} ({found.comparison})."
    )


def exact(value: float) -> str:
    """Format a figure with four digits, or with all digits if four digits are not exact."""
    short = format_value(value)
    return short if float(short.replace(",", "")) == value else repr(value)


def _figures(ours: Series, theirs: Series) -> list[Figure]:
    runs = [("run", ours.samples, theirs.samples)]
    runs.append(("other start", ours.perturbed, theirs.perturbed))
    for number in sorted({*ours.layouts, *theirs.layouts}):
        layouts = ours.layouts.get(number, []), theirs.layouts.get(number, [])
        runs.append((f"link {number}, run", *layouts))
    return [
        Figure(ours.arm, ours.metric, ours.unit, f"{kind} {n + 1}", (_at(one, n), _at(other, n)))
        for kind, one, other in runs
        for n in range(max(len(one), len(other)))
    ]


def _at(values: list[float], number: int) -> float | None:
    return values[number] if number < len(values) else None


def _pair(part: Part) -> tuple[Job, Job]:
    one, other = Job(part), Job(part)
    one.apart.append(other)
    other.apart.append(one)
    return one, other
