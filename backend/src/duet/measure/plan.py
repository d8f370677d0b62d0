# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to be measured, and which runs that takes in which order. Pure.

Wall clock: arms interleaved A B B A, so that slow drift of the host hits all alike; one guest at a
time, booted anew for each stretch of one arm. Count clock: a run is the same whatever else the
host does, so order is only a matter of what is known first when the work is cut short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.lessons.load import LessonFolder, knob
from duet.lessons.schema import Lesson, Metric
from duet.lessons.schema.workload import SOURCES, TRACED
from duet.measure.model import MIN_RUNS, Condition, Series
from duet.measure.values import line_value
from duet.session import Line

MAX_REPEATS = 100
MAX_RUNS = 2000
"""Of one measurement; a sweep multiplies quickly."""
EQUAL_RUNS = 2
PERTURBED = 3
WAITING_SHIFTS = (0, 3)
"""Settings of nanoseconds per instruction for a lesson whose cost is waiting."""
FIRST_SEED = 1


class Kind(StrEnum):
    """What a run is for."""

    EVIDENCE = "untraced"
    PERTURBED = "perturbed start"
    COUNTED = "counted"
    WATCHED = "under the microscope"
    TRACED = "traced"
    LAYOUT = "linked in order"


@dataclass(frozen=True, slots=True)
class MeasurePlan:
    """A measurement, checked.

    Args:
        arms: at least one; the first is what the others are compared with.
        params: through LessonFolder.check_params; a swept knob's value is replaced.
        repeats: untraced runs per arm on the wall clock, equal runs on the count clock.
        shifts: settings of 2^shift ns an instruction; (0,) on the wall clock.
        sweep: (param, values), each checked.
        perturbed: count clock: runs per arm with another seed.
        explain: also one run per arm with the probes that explain, for `duet run`.
        metrics: only these; None: all that apply.
        layouts: further links of each arm that are run (`duet.measure.plan`).
        link: only runs of this link, 0 being the usual one; None: of all.
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
    """One run.

    Args:
        table: index of its condition.
        seed: of the guest, on the count clock.
        layout: the number of a further link of the arm; 0 is the usual one.
    """

    table: int
    arm: str
    kind: Kind
    seed: int = FIRST_SEED
    layout: int = 0


def default_repeats(clock: Clock) -> int:
    """Runs per arm that a verdict takes."""
    return MIN_RUNS if clock == "wall" else EQUAL_RUNS


def default_shifts(lesson: Lesson, clock: Clock) -> tuple[int, ...]:
    """Settings of the count clock that the lesson measures at."""
    return WAITING_SHIFTS if lesson.waiting and clock == "count" else (0,)


def order(arms: Iterable[str], repeats: int) -> list[str]:
    """Who runs when, untraced: A B C C B A A B C ... so that slow drift hits all alike."""
    forward = list(arms)
    rounds = [forward if r % 2 == 0 else forward[::-1] for r in range(repeats)]
    return [arm for one in rounds for arm in one]


def conditions(plan: MeasurePlan) -> list[Condition]:
    """One per table: sweep values, and for each the settings of the count clock."""
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
    """Every run of the measurement in order.

    Raises:
        InputError: no arm, a senseless number of runs, or more runs than anyone waits for.
    """
    if not plan.arms or not 1 <= plan.repeats <= MAX_REPEATS:
        raise InputError(
            f"a measurement takes arms and 1 to {MAX_REPEATS} repeats, "
            f"but {len(plan.arms)} arms and {plan.repeats} repeats came.",
            remedy="Give --arms and --repeats.",
        )
    tables = range(len(conditions(plan)))
    found = _wall_steps(plan, tables) if plan.clock == "wall" else _count_steps(plan, tables)
    if len(found) > MAX_RUNS:
        raise InputError(
            f"that would be {len(found)} runs; more than {MAX_RUNS} are refused.",
            remedy="Sweep fewer values, or name fewer arms or repeats.",
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
    """Untraced runs per arm; none where nothing is read from them."""
    lines = any(metrics_of(plan, arm, ("line",)) for arm in plan.arms)
    others = any(_has(plan, arm, kind) for arm in plan.arms for kind in COUNTING)
    return plan.repeats if plan.explain or lines or not others else 0


COUNTING = {Kind.COUNTED: TRACED, Kind.WATCHED: ("microscope",)}
"""Kinds of runs that count -> the sources of the metrics that they are for."""
AFTER = (*COUNTING, Kind.TRACED)
"""Kinds of runs that follow the untraced ones, in this order."""


def _has(plan: MeasurePlan, arm: str, kind: Kind) -> bool:
    if kind is Kind.TRACED:
        return plan.explain
    return bool(metrics_of(plan, arm, COUNTING[kind]))


def metrics_of(plan: MeasurePlan, arm: str, sources: Sequence[str] = SOURCES) -> dict[str, Metric]:
    """The metrics that this arm has under what is asked, from these sources."""
    return {
        name: metric
        for name, metric in plan.lesson.metrics.items()
        if (plan.metrics is None or name in plan.metrics)
        and any(getattr(metric, source) is not None for source in sources)
        and applies(plan.lesson, metric, plan.workload, plan.clock, arm)
    }


def applies(lesson: Lesson, metric: Metric, workload: str, clock: Clock, arm: str) -> bool:
    """Does this arm have this number? An event that the arm does not emit is none of its own."""
    needed = set(metric.probes)
    there = {p.name for p in lesson.probes if not p.arms or arm in p.arms}
    return (
        (not metric.workloads or workload in metric.workloads)
        and (not metric.clocks or clock in metric.clocks)
        and (not metric.arms or arm in metric.arms)
        and needed <= there
        and (metric.microscope is None or _is_watched(lesson, workload, clock))
    )


def _is_watched(lesson: Lesson, workload: str, clock: Clock) -> bool:
    """The microscope finds its object on the wall clock alone, in workloads that wait for it."""
    config = lesson.microscope
    return config is not None and clock == "wall" and workload in config.workloads


def knobs(plan: MeasurePlan) -> dict[str, int]:
    """Knobs that are not at their default, without the swept one; the count clock has one vCPU."""
    usual = {name: param.default for name, param in plan.lesson.params.items()}
    if plan.clock == "count" and (cpus := knob(plan.lesson, "cpus")) is not None:
        usual[cpus] = 1
    swept = plan.sweep[0] if plan.sweep else ""
    return {n: v for n, v in plan.params.items() if v != usual[n] and n != swept}


def headline(lesson: Lesson, workload: str, clock: Clock) -> str:
    """The first metric that this workload gives on this clock: what a measurement is about.

    Raises:
        InputError: it gives none.
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
    """Exactly the probes that the counted run of an arm switches on."""
    return frozenset(n for m in metrics_of(plan, arm, TRACED).values() for n in m.probes)


# Runs of the same objects linked in other orders: which they are, and when. Pure.

WALL_RUNS = 3
"""Runs of a layout on the wall clock, of which the median counts; on the count clock one does."""


def all_steps(plan: MeasurePlan) -> list[Step]:
    """Every run of a measurement in order; those of layouts come last.

    Raises:
        InputError: more runs than anyone waits for, or see `steps`.
    """
    found = (steps(plan) if not plan.link else []) + layout_steps(plan)
    if len(found) > MAX_RUNS:
        raise InputError(
            f"that would be {len(found)} runs; more than {MAX_RUNS} are refused.",
            remedy="Ask for fewer layouts, or sweep fewer values.",
        )
    return found


def layout_steps(plan: MeasurePlan) -> list[Step]:
    """Runs of further layouts: arm beside arm in the same layout, there and back."""
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
    """Put what a run of a layout wrote into the arm's series; the spread says how many gave one."""
    said = [line.text for line in lines]
    for one, metric in series:
        value = line_value(metric, said)
        if value is not None:
            one.layouts.setdefault(number, []).append(value)


def fault_aside(step: Step, words: str) -> str | None:
    """Why a run that is no evidence itself leaves its table without a verdict; None: it is."""
    if step.kind is Kind.PERTURBED:
        return f"{step.arm} failed on a perturbed start (seed {step.seed}): {words}"
    if step.kind is Kind.LAYOUT:
        return f"{step.arm} failed when linked in order {step.layout}: {words}"
    return None
