# SPDX-License-Identifier: GPL-2.0-or-later
"""What one run asks of a lane: which guest, which plan, which course, which engine. Pure."""

from __future__ import annotations

from duet.guests.sharing import online_lines
from duet.guests.types import Clock, Microscope
from duet.lessons import roles
from duet.lessons.plan import USUAL_S, boot_cmdline, plan_text, workload_of
from duet.session.engine import LaneOf
from duet.session.events import GuestRequest, LaneSource, RunSpec
from duet.session.lane.actions import Course
from duet.session.limits import Limits


def guest_of(spec: RunSpec, source: LaneSource, plugin: Microscope | None) -> GuestRequest:
    """The guest that a run needs; on the count clock it gets its plan at boot."""
    lesson = spec.folder.lesson
    count = spec.clock is Clock.COUNT
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
    """vCPUs of the guest. On the count clock one, unless the request has more and traces nothing:
    the agent has ports for CPUs that are there when it starts.
    """
    lesson = spec.folder.lesson
    if spec.clock is Clock.COUNT and (spec.traced or roles.knob(lesson, "cpus") is None):
        return 1
    return roles.cpus(lesson, spec.params)


def plan_of(spec: RunSpec, source: LaneSource, *, at_boot: bool) -> str:
    """The agent's plan."""
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
        before=online_lines(cpus_of(spec)) if spec.clock is Clock.COUNT else (),
    )


def course_of(spec: RunSpec, limits: Limits) -> Course:
    """Which steps the run has, and how long they may take."""
    live = spec.source != "recorded"
    at_boot = _plans_at_boot(spec)
    setup = workload_of(spec.folder.lesson, spec.workload).setup
    return Course(
        ready_s=limits.ready_s + (limits.setup_s if setup else 0),
        run_s=roles.duration_s(spec.folder.lesson, spec.params, USUAL_S) + limits.run_slack_s,
        sends_plan=live and not at_boot,
        sends_start=live and (not at_boot or bool(spec.lens)),
    )


def engine_of(spec: RunSpec, source: LaneSource, limits: Limits) -> LaneOf:
    """What decodes the lane's events."""
    lesson = spec.folder.lesson
    return LaneOf(
        lesson,
        source.arm,
        spec.workload,
        dict(source.symbols),
        threads=roles.rows(lesson, workload_of(lesson, spec.workload), spec.params),
        history_events=limits.history_events,
        live=spec.source != "recorded",
    )


def _may_be_copied(spec: RunSpec) -> bool:
    """A run that is looked at; one that measures boots, since a copy's first writes cost more."""
    return (
        spec.clock is Clock.WALL
        and spec.source == "live"
        and spec.purpose == "explain"
        and spec.traced
    )


def _plans_at_boot(spec: RunSpec) -> bool:
    return spec.clock is Clock.COUNT and spec.source != "recorded"
