# SPDX-License-Identifier: GPL-2.0-or-later
"""Derive a lane's guest, plan, timeouts, engine and result from the run's spec. Pure."""

from __future__ import annotations

from contextlib import suppress

from duet.base.errors import KernelError
from duet.guests.qemu import online_lines
from duet.guests.types import GuestFacts, Microscope
from duet.lessons import load as roles
from duet.lessons.plan import USUAL_S, boot_cmdline, plan_text, workload_of
from duet.messages.base import LanePhase
from duet.session.engine import LaneSetup
from duet.session.events import Contention, GuestRequest, LaneResult, LaneSource
from duet.session.lane.intake import LaneIntake
from duet.session.lane.lenses import LaneLenses
from duet.session.lane.state import Course, Inputs
from duet.session.limits import Limits
from duet.session.pipeline import LanePipeline
from duet.session.spec import RunSpec
from duet.session.transcript import TranscriptWriter
from duet.session.trouble import workload_figures, workload_trouble


def guest_of(spec: RunSpec, source: LaneSource, plugin: Microscope | None) -> GuestRequest:
    """Return the request for a run's guest. On the count clock, it includes the boot plan."""
    lesson = spec.folder.lesson
    count = spec.clock == "count"
    return GuestRequest(
        arm=source.arm,
        vcpus=cpus_of(spec),
        cmdline=boot_cmdline(lesson, spec.params),
        clock=spec.clock,
        boot_plan=plan_of(spec, source, at_boot=True) if _plans_at_boot(spec) else None,
        shift=spec.shift if count else 0,
        seed=spec.seed if count else 1,
        memory_mb=lesson.memory_mb,
        scratch_mb=0 if count else workload_of(lesson, spec.workload).scratch_mb,
        microscope=plugin,
        plan=plan_of(spec, source, at_boot=False) if _may_be_copied(spec) else None,
    )


def cpus_of(spec: RunSpec) -> int:
    """Return the number of vCPUs of the guest.

    On the count clock, a traced run has one vCPU, because the agent opens ports only for CPUs that
    are online when the agent starts. The other CPUs come online later.
    """
    lesson = spec.folder.lesson
    if spec.clock == "count" and (spec.traced or roles.knob(lesson, "cpus") is None):
        return 1
    return roles.cpus(lesson, spec.params)


def plan_of(spec: RunSpec, source: LaneSource, *, at_boot: bool) -> str:
    return plan_text(
        spec.folder.lesson,
        source.arm,
        spec.workload,
        spec.params,
        source.symbols,
        traced=spec.traced,
        at_boot=at_boot,
        autostart=not spec.lens,
        buffer_kb=spec.buffer_kb,
        probes=spec.probes,
        before=online_lines(cpus_of(spec)) if spec.clock == "count" else (),
    )


def course_of(spec: RunSpec, limits: Limits) -> Course:
    """Return the parameters of the run's state machine."""
    live = spec.source != "recorded"
    at_boot = _plans_at_boot(spec)
    setup = workload_of(spec.folder.lesson, spec.workload).setup
    return Course(
        ready_s=limits.ready_s + (limits.setup_s if setup else 0),
        run_s=roles.duration_s(spec.folder.lesson, spec.params, USUAL_S) + limits.run_slack_s,
        sends_plan=live and not at_boot,
        sends_start=live and (not at_boot or bool(spec.lens)),
    )


def engine_of(spec: RunSpec, source: LaneSource, limits: Limits) -> LaneSetup:
    """Return the parameters of the lane's engine."""
    lesson = spec.folder.lesson
    return LaneSetup(
        lesson,
        source.arm,
        spec.workload,
        dict(source.symbols),
        threads=roles.rows(lesson, workload_of(lesson, spec.workload), spec.params),
        history_events=limits.history_events,
        live=spec.source != "recorded",
    )


def _may_be_copied(spec: RunSpec) -> bool:
    """Return whether a copy of a template may replace a boot.

    A measure run must boot its guests, because the first writes in a copy take longer.
    """
    return (
        spec.clock == "wall" and spec.source == "live" and spec.purpose == "explain" and spec.traced
    )


def _plans_at_boot(spec: RunSpec) -> bool:
    return spec.clock == "count" and spec.source != "recorded"


# A lane's result, and its check at the end of a run.


class Outcome:
    """Collects one lane's result from its parts.

    Args:
        ops_line: pattern of the output line in which the workload reports its figures. If None,
            there are no figures.
    """

    def __init__(
        self,
        arm: str,
        inputs: Inputs,
        pipeline: LanePipeline,
        intake: LaneIntake,
        lenses: LaneLenses,
        writer: TranscriptWriter,
        ops_line: str | None,
    ) -> None:
        self._arm, self._inputs, self._pipeline = arm, inputs, pipeline
        self._intake, self._lenses, self._writer = intake, lenses, writer
        self._ops_line = ops_line

    def check(self) -> None:
        """Check the run after all events were reduced.

        Raises:
            KernelError: the start marker is missing, or the workload's figures are not plausible.
        """
        if self._pipeline.headless:
            if failed := workload_trouble(self.result("draining", None, None)):
                raise failed  # the workload failed, so the start marker is missing
            lost = sum(self._pipeline.lost_by_place().values())
            raise KernelError(
                f"lane {self._arm} has no start marker among its events ({lost} events were lost), "
                "so it cannot be drawn.",
                remedy="Run the workload again with fewer threads or for a shorter time.",
            )
        workload_figures(self._arm, self._ops_line, self._intake.lines)

    def result(
        self, phase: LanePhase, facts: GuestFacts | None, contention: Contention | None
    ) -> LaneResult:
        """Return the result so far, which is final once the lane is over."""
        ops, per_s = self._workload_count()
        hello, pipeline, microscope = self._inputs.hello, self._pipeline, self._lenses.microscope
        return LaneResult(
            arm=self._arm,
            phase=phase,
            error=self._inputs.error,
            metrics=pipeline.metrics(),
            lines=tuple(self._intake.lines),
            ops=ops,
            ops_per_s=per_s,
            facts=facts,
            kernel=hello.kernel if hello else "",
            clocksource=hello.clocksource if hello else "",
            loss=tuple(pipeline.losses),
            lost_by_place=pipeline.lost_by_place(),
            transcript=self._writer.begin(),
            status=self._inputs.status,
            tallies=dict(pipeline.counts.tallies),
            tally_faults=dict(pipeline.counts.faults),
            scope=microscope.result(),
            scope_fault=microscope.state.message,
            contention=contention,
            xray=self._lenses.xray.state,
        )

    def _workload_count(self) -> tuple[int | None, float | None]:
        """Return the workload's own figures; None if they are missing or not plausible."""
        with suppress(KernelError):
            return workload_figures(self._arm, self._ops_line, self._intake.lines)
        return None, None
