# SPDX-License-Identifier: GPL-2.0-or-later
"""Judge a changed patch by a lesson's challenge: measure it, and stress its debug kernel."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event
from typing import TypeVar

from duet import messages as m
from duet.base.errors import DuetError
from duet.guests import ensure_root
from duet.kernels import KernelImage, KernelSettings, build, lookup, plan
from duet.kernels.arms import arm_spec
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Challenge
from duet.measure import MeasurePlan, Progress, Report, Series
from duet.measure.compare import mean_ci, verdict_line, warnings, why_refused
from duet.measure.model import Table
from duet.measure.plan import all_steps, headline
from duet.measure.verdicts import of_the_clock
from duet.runs.measure import prepare_measurement
from duet.session import RunSpec
from duet.trials.challenge import Group, Judgement, groups, judge, limits, tables_of
from duet.trials.check import report as stress
from duet.trials.check.console import Verdict

Made = TypeVar("Made")
STRESS_S = 60
NO_DEBUG = "no debug kernel of this base is compiled on this server (./duet build --debug)"
COMMAND = "duet challenge"


async def measured(
    found: Sequence[Group],
    kernels: KernelSettings,
    progress: Callable[[Progress, int], None] | None = None,
) -> Mapping[int, Table]:
    """Measure all groups, and return a map from each group's index to its table.

    Args:
        progress: called when a guest starts, with the number of guests that earlier groups used.

    Raises:
        InfraError: a kernel is not built, or the guests' root cannot be built.
    """
    tables: dict[int, Table] = {}
    before = 0
    for index, group in enumerate(found):

        def tell(step: Progress, before: int = before) -> None:
            if progress is not None:
                progress(step, before)

        measuring = await prepare_measurement(group.plan, kernels, COMMAND, tell)
        await measuring.run()
        before += measuring.total
        tables[index] = measuring.report.tables[0]
    return tables


class Judging:
    """One judgement of an arm.

    Args:
        kernels: settings of the ordinary kernels. Settings of debug kernels differ only in `debug`.
        publish: called with each step's message and with the result.
    """

    def __init__(
        self,
        folder: LessonFolder,
        name: str,
        arm: str,
        kernels: KernelSettings,
        publish: Callable[[m.Judged], None],
    ) -> None:
        self._folder, self._arm = folder, arm
        self._challenge: Challenge = folder.lesson.challenges[name]
        self._kernels = kernels
        self._publish = publish
        self._state = m.Judged(lesson=folder.slug, challenge=name, arm=arm, phase="measuring")

    async def run(self) -> None:
        """Measure, stress and judge.

        Raises:
            DuetError: a kernel is not built, or no guest can run.
        """
        claims = [goal.claim(self._arm) for _, goal in limits(self._challenge)]
        found = groups(self._folder, claims)
        self._tell(total=sum(len(all_steps(group.plan)) for group in found))
        tables = await measured(found, self._kernels, self._progress)
        verdict = await self._stress()
        diff = "".join(path.read_text(encoding="utf-8") for path in self._own_patches())
        judged = judge(self._challenge, self._arm, diff, tables_of(tables, found), verdict)
        self._tell(phase="done", **_fields(judged))

    def _own_patches(self) -> list[Path]:
        """Return those patches of the changed arm that the challenge's arm does not have."""
        before = self._folder.patch_files(self._challenge.arm)
        return [path for path in self._folder.patch_files(self._arm) if path not in before]

    async def _stress(self) -> Verdict | str:
        """Return the verdict on the debug kernel's console, or say why there is no such kernel."""
        debug = replace(self._kernels, debug=True)
        spec = arm_spec(self._folder, self._arm)
        if lookup(plan(spec, debug), debug) is None:
            base = debug.base_of(spec)
            tree = debug.tree(base, spec.config, debug.tarball(base).sha256)
            if not (tree.src / "vmlinux").is_file():
                return NO_DEBUG
        self._tell(phase="building")
        try:
            image = await self._built(debug)
        except DuetError as error:
            return f"no debug kernel: {error.sentence}"
        self._tell(phase="stress")
        root = await ensure_root()
        said = await _stoppable(
            lambda stop: stress.run(self._folder, image.bzimage, root, STRESS_S, stop)
        )
        # Use a thread, because judge() reads megabytes.
        return await asyncio.to_thread(stress.judge, self._folder, said)

    async def _built(self, debug: KernelSettings) -> KernelImage:
        spec = arm_spec(self._folder, self._arm)
        return (await _stoppable(lambda stop: build([spec], debug, stop=stop)))[0]

    def _progress(self, step: Progress, before: int) -> None:
        self._tell(done=before + step.done)

    def _tell(self, **fields: object) -> None:
        self._state = self._state.model_copy(update=fields)
        self._publish(self._state)


def _fields(judged: Judgement) -> dict[str, object]:
    lines = [m.JudgedLine(**asdict(line)) for line in judged.lines]
    return {"met": judged.met, "because": judged.because, "lines": lines}


async def _stoppable(work: Callable[[Event], Made]) -> Made:
    """Run `work` in a thread. If this task is cancelled, stop the thread and wait for its end."""
    stop = Event()
    task = asyncio.create_task(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.gather(task, return_exceptions=True)
        raise


# Plan and table of the page's measurement. Pure.


def measure_plan(spec: RunSpec, repeats: int) -> MeasurePlan:
    """Return the plan that measures a lesson's headline metric for the page's table."""
    clock = spec.clock
    chosen = headline(spec.folder.lesson, spec.workload, clock)
    return MeasurePlan(
        folder=spec.folder,
        arms=spec.arms,
        workload=spec.workload,
        clock=clock,
        params=spec.params,
        repeats=repeats,
        metrics=frozenset({chosen}),
    )


def measured_message(
    spec: RunSpec,
    step: Progress | Report,
    run_id: str | None,
    source: m.Source = "live",
    metric: str = "",
) -> m.Measured:
    """Return the message with the table: partial for a Progress, final for a Report.

    Args:
        metric: the metric of the table; "" for the headline.
    """
    report = step.report if isinstance(step, Progress) else step
    table = report.tables[0]
    metric = metric or headline(spec.folder.lesson, spec.workload, table.condition.clock)
    host = report.host
    hardware = f", {report.host['hardware']}" if report.host.get("hardware") else ""
    series = [one for one in table.series if one.metric == metric]
    return m.Measured(
        lesson=spec.folder.slug,
        run_id=run_id,
        source=source,
        clock=spec.clock,
        params=spec.params,
        workload=spec.workload,
        metric=metric,
        title=spec.folder.lesson.metrics[metric].title,
        better=spec.folder.lesson.metrics[metric].better,
        rows=[measured_row(one, series[0], table) for one in series],
        at=report.at,
        verdict=str(step) if isinstance(step, Progress) else verdict_words(report, metric),
        host=f"{host.get('cpu', 'unknown CPU')}, {host.get('cpus', '?')} CPUs, "
        f"Linux {host.get('kernel', '?')}{hardware}",
        command=command_line(
            spec, max((one.n for one in series), default=1), table.condition.shift or 0
        ),
        done=step.done if isinstance(step, Progress) else 1,
        total=step.total if isinstance(step, Progress) else 1,
        warnings=[f"{sentence}." for sentence in warnings(report.arms)],
    )


def verdict_words(report: Report, metric: str) -> str:
    """Return the verdicts on the headline metric, and the caveats about the clock."""
    said = [verdict_line(report.tables[0], metric)]
    said += [f"{one[0].upper()}{one[1:]}." for one in of_the_clock(report)]
    return " ".join(said)


def measured_row(one: Series, first: Series, table: Table) -> m.MeasuredRow:
    """Return the row of one arm, compared with the first arm of the table."""
    samples = list(one.samples)
    bounds = mean_ci(samples) if table.condition.clock == "wall" else None
    base, middle = first.figure, one.figure
    shown = None if middle is None else float(f"{middle:.12g}")  # 12 digits hide binary rounding
    to = first.arm if one.arm != first.arm and base and middle is not None else None
    return m.MeasuredRow(
        arm=one.arm,
        n=one.n,
        ops_per_s_median=shown,
        ops_per_s_mean=round(statistics.fmean(one.starts), 1) if samples else None,
        ops_per_s_low=round(bounds[0], 1) if bounds else None,
        ops_per_s_high=round(bounds[1], 1) if bounds else None,
        ops_per_s=samples,
        unit=one.unit,
        to=to,
        change_percent=round(100 * (middle / base - 1), 1) if middle and base and to else None,
        verdict=_verdict(one, table),
        perturbed=list(one.perturbed),
    )


def _verdict(one: Series, table: Table) -> str:
    if one.refused:
        return one.refused
    found = [c for c in table.comparisons if c.metric == one.metric and c.arm == one.arm]
    if not found:
        return ""
    why = why_refused(found[0])
    if why is not None:
        return why.rstrip(".")
    return found[0].verdict if found[0].verdict == "no difference proven" else ""


def command_line(spec: RunSpec, repeats: int, shift: int = 0) -> str:
    """Return the shell command that repeats this measurement."""
    knobs = [
        f"--set {name}={value}"
        for name, value in spec.params.items()
        if value != spec.folder.lesson.params[name].default
    ]
    words = ["./duet measure", spec.folder.slug, f"--arms {','.join(spec.arms)}"]
    words += [f"--workload {spec.workload}", f"--clock {spec.clock}", *knobs]
    words.append(f"--repeats {max(repeats, 1)}")
    words += [f"--shift {shift}"] if spec.clock == "count" else []
    return " ".join(words)


def unfinished(table: m.Measured) -> m.Measured:
    """Return the partial table of an aborted measurement, marked as having no verdict."""
    verdict = f"No verdict: measuring ended after {table.done} of {table.total} runs."
    return table.model_copy(update={"total": table.done, "verdict": verdict})
