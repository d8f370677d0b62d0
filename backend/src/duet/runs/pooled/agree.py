# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether two hosts give the same figures on the count clock, to the digit. Pure.

Runs without a trace repeat exactly; a traced one only nearly, since events leave it by the host.
So the figures are those of workloads' own lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from duet.base.errors import InputError
from duet.guests.types import Clock
from duet.measure import MeasurePlan, Series
from duet.measure.compare import format_value
from duet.measure.model import other_inputs
from duet.measure.plan import metrics_of
from duet.runs.pooled.job import Job
from duet.runs.pooled.parts import Part, parts_of


@dataclass(frozen=True, slots=True)
class Figure:
    """One run's figure on two hosts.

    Args:
        run: which: "run 1", "other start 2".
        values: on the first and on the second; None: it is missing there.
    """

    arm: str
    metric: str
    unit: str
    run: str
    values: tuple[float | None, float | None]

    @property
    def equal(self) -> bool:
        """To the digit."""
        one, other = self.values
        return one is not None and one == other


@dataclass(frozen=True, slots=True)
class Agreement:
    """A comparison on two hosts.

    Args:
        comparison: its condition in words.
        nodes: both hosts; "": none was had.
        trouble: sentences: why figures could not be compared, inputs that differ among them.
        figures: all of them, with both values.
    """

    comparison: str
    nodes: tuple[str, str]
    trouble: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """All figures, and there are some."""
        return not self.trouble and bool(self.figures) and all(one.equal for one in self.figures)


def checked_plan(plan: MeasurePlan) -> MeasurePlan:
    """The same with the figures alone that are to be equal.

    Raises:
        InputError: it is of the wall clock, or has none.
    """
    if plan.clock is not Clock.COUNT:
        raise InputError(
            "--check-hosts compares figures of the instruction clock, but this is the wall clock.",
            remedy="Add --clock count.",
        )
    found = {name for arm in plan.arms for name in metrics_of(plan, arm, ("line",))}
    if not found:
        raise InputError(
            f"the workload '{plan.workload}' has no figure without a trace.",
            remedy="Choose another --workload.",
        )
    return replace(plan, metrics=frozenset(found))


def pairs_of(plan: MeasurePlan) -> list[tuple[Job, Job]]:
    """Each comparison twice, never on one host."""
    return [_pair(part) for part in parts_of(plan)]


def agreement(one: Job, other: Job) -> Agreement:
    """What two hosts gave."""
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
    """'srcu ops_per_s, run 2: 625.4 umounts/s on n1, 625.5 on n2 (n=9).'."""
    first, second = ("nothing" if v is None else exact(v) for v in figure.values)
    return (
        f"{figure.arm} {figure.metric}, {figure.run}: {first} {figure.unit} on {found.nodes[0]},"
        f" {second} on {found.nodes[1]} ({found.comparison})."
    )


def exact(value: float) -> str:
    """All digits of a figure, where four are too few."""
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
