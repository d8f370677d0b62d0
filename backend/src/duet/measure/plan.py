# SPDX-License-Identifier: GPL-2.0-or-later
"""Plan the runs of a measurement and their order. Pure.

On the wall clock, arms are interleaved A B B A, so that slow drift of the host affects all arms
alike. One guest runs at a time, and each change of the arm boots a new guest. On the count clock,
other work on the host does not change a run. The order then only determines which results are
available after an interruption.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.lessons.load import LessonFolder, knob
from duet.lessons.plan import probes_of
from duet.lessons.schema import Lesson, Metric
from duet.lessons.schema.workload import SOURCES, TRACED
from duet.measure.model import MIN_RUNS, Condition, Series
from duet.measure.values import line_value
from duet.session import Line

MAX_REPEATS = 100
MAX_RUNS = 2000
"""Largest number of runs in a measurement. A sweep multiplies the runs."""
EQUAL_RUNS = 2
PERTURBED = 3
WAITING_SHIFTS = (0, 3)
"""Shifts (2^shift ns per instruction) for a lesson whose cost is waiting."""
FIRST_SEED = 1


class Kind(StrEnum):
    """Purpose of a run."""

    EVIDENCE = "untraced"
    PERTURBED = "perturbed start"
    COUNTED = "counted"
    WATCHED = "under the microscope"
    TRACED = "traced"
    LAYOUT = "linked in order"


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """A validated plan.

    Args:
        arms: one or more arms; the first is the reference.
        params: knob values that LessonFolder.check_params has checked; the value of a swept knob is
            replaced.
        repeats: number of runs per arm: untraced runs on the wall clock, identical runs on the
            count clock.
        shifts: settings of the count clock (2^shift ns per instruction); (0,) on the wall clock.
        sweep: (param, values); each value has been checked.
        perturbed: number of runs per arm with other seeds, on the count clock.
        explain: whether to add one traced run per arm with all probes, for `duet run`.
        metrics: names of the metrics to measure; None means all metrics that apply.
        layouts: number of relinked kernels per arm.
        link: the only layout to run, where 0 is the default link; None means all layouts.
    """

    folder: LessonFolder
    arms: tuple[str, ...]
    workload: str
    clock: Clock
    params: dict[str, int]
    repeats: int
    shifts: tuple[int, ...] = (0,)
    sweep: tuple[str, tuple[int, ...]] | None = None
    perturbed: int = 0
    explain: bool = False
    metrics: frozenset[str] | None = None
    layouts: int = 0
    link: int | None = None

    @property
    def lesson(self) -> Lesson:
        return self.folder.lesson


@dataclass(frozen=True, slots=True)
class Step:
    """One run of a plan.

    Args:
        table: index of the run's condition.
        seed: the guest's seed on the count clock.
        layout: number of the arm's layout; 0 is the default link.
    """

    table: int
    arm: str
    kind: Kind
    seed: int = FIRST_SEED
    layout: int = 0


def default_repeats(clock: Clock) -> int:
    """Return the number of runs per arm that a verdict needs."""
    return MIN_RUNS if clock == "wall" else EQUAL_RUNS


def default_shifts(lesson: Lesson, clock: Clock) -> tuple[int, ...]:
    """Return the shifts at which a lesson is measured."""
    return WAITING_SHIFTS if lesson.waiting and clock == "count" else (0,)


def order(arms: Iterable[str], repeats: int) -> list[str]:
    """Return the arms in the order A B C C B A A B C ..., so that drift affects all arms alike."""
    forward = list(arms)
    rounds = [forward if r % 2 == 0 else forward[::-1] for r in range(repeats)]
    return [arm for one in rounds for arm in one]


def conditions(plan: MeasurePlan) -> list[Condition]:
    """Return one condition per table, combining each sweep value with each shift."""
    swept, values = plan.sweep or ("", (0,))
    wall = plan.clock == "wall"
    found = []
    for value in values:
        params = {**plan.params, swept: value} if plan.sweep else dict(plan.params)
        sharing = 1 if wall else params.get(knob(plan.lesson, "cpus") or "", 1)
        shifts = (None,) if wall else plan.shifts
        found += [Condition(plan.clock, s, plan.workload, dict(params), sharing) for s in shifts]
    return found


def steps(plan: MeasurePlan) -> list[Step]:
    """Return all runs of kernels with the default link, in the order of their execution.

    Raises:
        InputError: there is no arm, an invalid number of repeats, or more than MAX_RUNS runs.
    """
    if not plan.arms or not 1 <= plan.repeats <= MAX_REPEATS:
        raise InputError(
            f"a measurement needs arms and 1 to {MAX_REPEATS} repeats, "
            f"but {len(plan.arms)} arms and {plan.repeats} repeats were given.",
            remedy="Give --arms and --repeats.",
        )
    tables = range(len(conditions(plan)))
    found = _wall_steps(plan, tables) if plan.clock == "wall" else _count_steps(plan, tables)
    if len(found) > MAX_RUNS:
        raise InputError(
            f"a measurement has at most {MAX_RUNS} runs, but this one has {len(found)}.",
            remedy="Sweep fewer values, or choose fewer arms or repeats.",
        )
    return found


def _wall_steps(plan: MeasurePlan, tables: Sequence[int]) -> list[Step]:
    found: list[Step] = []
    for table in tables:
        block = [Step(table, arm, Kind.EVIDENCE) for arm in order(plan.arms, _untraced(plan))]
        last = block[-1].arm if block else plan.arms[0]
        turned = plan.arms if last == plan.arms[0] else plan.arms[::-1]
        kinds = [kind for kind in AFTER if any(_has(plan, arm, kind) for arm in plan.arms)]
        found += block
        found += [
            Step(table, arm, kind) for arm in turned for kind in kinds if _has(plan, arm, kind)
        ]
    return found


def _count_steps(plan: MeasurePlan, tables: Sequence[int]) -> list[Step]:
    pairs = [(table, arm) for table in tables for arm in plan.arms]
    found = [Step(t, a, Kind.EVIDENCE) for t, a in pairs for _ in range(_untraced(plan))]
    for kind, times in ((Kind.COUNTED, min(plan.repeats, EQUAL_RUNS)), (Kind.TRACED, 1)):
        found += [Step(t, a, kind) for t, a in pairs for _ in range(times) if _has(plan, a, kind)]
    if _untraced(plan):
        for seed in range(FIRST_SEED + 1, FIRST_SEED + 1 + plan.perturbed):
            found += [Step(t, a, Kind.PERTURBED, seed) for t, a in pairs]
    return found


def _untraced(plan: MeasurePlan) -> int:
    """Return the number of untraced runs per arm, or 0 if no metric reads them."""
    lines = any(metrics_of(plan, arm, ("line",)) for arm in plan.arms)
    others = any(_has(plan, arm, kind) for arm in plan.arms for kind in COUNTING)
    return plan.repeats if plan.explain or lines or not others else 0


COUNTING = {Kind.COUNTED: TRACED, Kind.WATCHED: ("microscope",)}
"""Kinds of counting runs, each with the sources of the metrics that it provides."""
AFTER = (*COUNTING, Kind.TRACED)
"""Kinds of runs that follow the untraced runs, in this order."""


def _has(plan: MeasurePlan, arm: str, kind: Kind) -> bool:
    if kind is Kind.TRACED:
        return plan.explain
    return bool(metrics_of(plan, arm, COUNTING[kind]))


def metrics_of(plan: MeasurePlan, arm: str, sources: Sequence[str] = SOURCES) -> dict[str, Metric]:
    """Return the planned metrics that the arm has and that come from one of the sources."""
    return {
        name: metric
        for name, metric in plan.lesson.metrics.items()
        if (plan.metrics is None or name in plan.metrics)
        and any(getattr(metric, source) is not None for source in sources)
        and applies(plan.lesson, metric, plan.workload, plan.clock, arm)
    }


def applies(lesson: Lesson, metric: Metric, workload: str, clock: Clock, arm: str) -> bool:
    """Whether an arm has a metric. A metric may need probes that the arm's kernel lacks."""
    return (
        (not metric.workloads or workload in metric.workloads)
        and (not metric.clocks or clock in metric.clocks)
        and (not metric.arms or arm in metric.arms)
        and probes_of(lesson, arm).keys() >= set(metric.probes)
        and (metric.microscope is None or _is_watched(lesson, workload, clock))
    )


def _is_watched(lesson: Lesson, workload: str, clock: Clock) -> bool:
    """Whether the microscope can count: only on the wall clock, in workloads that it supports."""
    config = lesson.microscope
    return config is not None and clock == "wall" and workload in config.workloads


def knobs(plan: MeasurePlan) -> dict[str, int]:
    """Return the knobs whose values are not the defaults, without the swept knob."""
    usual = {name: param.default for name, param in plan.lesson.params.items()}
    if plan.clock == "count" and (cpus := knob(plan.lesson, "cpus")) is not None:
        usual[cpus] = 1
    swept = plan.sweep[0] if plan.sweep else ""
    return {n: v for n, v in plan.params.items() if v != usual[n] and n != swept}


def headline(lesson: Lesson, workload: str, clock: Clock) -> str:
    """Return the first metric that this workload has on this clock.

    Raises:
        InputError: the workload has no metric on this clock.
    """
    for name, metric in lesson.metrics.items():
        if not metric.extra and any(
            applies(lesson, metric, workload, clock, arm.name) for arm in lesson.arms
        ):
            return name
    raise InputError(
        f"the workload '{workload}' has no metric on the {clock} clock.",
        remedy="Choose another --workload or --clock.",
    )


def probes_for(plan: MeasurePlan, arm: str) -> frozenset[str]:
    """Return the probes that an arm's counted run enables."""
    return frozenset(n for m in metrics_of(plan, arm, TRACED).values() for n in m.probes)


# Plan the runs of relinked kernels. A layout is the same objects linked in another order. Pure.

WALL_RUNS = 3
"""Number of runs per layout on the wall clock; their median is used. On the count clock one run is
enough."""


def all_steps(plan: MeasurePlan) -> list[Step]:
    """Return every run of a measurement in order. Runs of relinked kernels are last.

    Raises:
        InputError: there are more than MAX_RUNS runs, or steps() raised this error.
    """
    found = (steps(plan) if not plan.link else []) + layout_steps(plan)
    if len(found) > MAX_RUNS:
        raise InputError(
            f"a measurement has at most {MAX_RUNS} runs, but this one has {len(found)}.",
            remedy="Request fewer layouts, or sweep fewer values.",
        )
    return found


def layout_steps(plan: MeasurePlan) -> list[Step]:
    """Return the runs of relinked kernels by layout. Within a layout, arms alternate A B B A."""
    if not plan.layouts:
        return []
    arms = [arm for arm in plan.arms if metrics_of(plan, arm, ("line",))]
    times = WALL_RUNS if plan.clock == "wall" else 1
    return [
        Step(table, arm, Kind.LAYOUT, layout=number)
        for table in range(len(conditions(plan)))
        for number in range(1, plan.layouts + 1)
        if plan.link in (None, number)
        for arm in order(arms, times)
    ]


def add_layout(series: Iterable[tuple[Series, Metric]], number: int, lines: Iterable[Line]) -> None:
    """Add the values that a relinked kernel's workload printed to the arm's series."""
    said = [line.text for line in lines]
    for one, metric in series:
        value = line_value(metric, said)
        if value is not None:
            one.layouts.setdefault(number, []).append(value)


def fault_aside(step: Step, words: str) -> str | None:
    """Return a sentence about the failure of a perturbed or layout run, or None for other runs."""
    if step.kind is Kind.PERTURBED:
        return f"{step.arm} failed on a perturbed start (seed {step.seed}): {words}"
    if step.kind is Kind.LAYOUT:
        return f"{step.arm} failed when linked in order {step.layout}: {words}"
    return None
