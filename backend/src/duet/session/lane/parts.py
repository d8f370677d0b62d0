# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of one run on one lane, constructed in order: each knows only those before it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from duet.guests.types import Clock
from duet.lessons.plan import workload_of
from duet.session.contention import ContentionWatch
from duet.session.events import LaneSource, RunSpec, SessionSink
from duet.session.lane.actions import Course
from duet.session.lane.batches import Batches
from duet.session.lane.child import LaneChild
from duet.session.lane.faults import Faults
from duet.session.lane.inputs import Inputs
from duet.session.lane.intake import LaneIntake
from duet.session.lane.lenses import LaneLenses
from duet.session.lane.outcome import Outcome
from duet.session.lane.request import course_of, engine_of
from duet.session.lane.saving import TranscriptWriter
from duet.session.lane.state import LaneMachine
from duet.session.limits import Limits
from duet.session.pipeline import LanePipeline


@dataclass(frozen=True, slots=True)
class Parts:
    """All that one run on one lane consists of."""

    spec: RunSpec
    source: LaneSource
    sink: SessionSink
    course: Course
    inputs: Inputs
    machine: LaneMachine
    engine: LaneChild
    pipeline: LanePipeline
    writer: TranscriptWriter
    lenses: LaneLenses
    faults: Faults
    intake: LaneIntake
    batches: Batches
    outcome: Outcome
    contention: ContentionWatch

    @property
    def arm(self) -> str:
        """The lane's."""
        return self.source.arm

    @property
    def recorded(self) -> bool:
        """It replays a recording; no guest boots."""
        return self.spec.source == "recorded"


def assemble(spec: RunSpec, source: LaneSource, sink: SessionSink, limits: Limits) -> Parts:
    """Construct the parts.

    Raises:
        InputError: the lesson has no such workload.
    """
    arm, lesson, recorded = source.arm, spec.folder.lesson, spec.source == "recorded"
    workload = workload_of(lesson, spec.workload)
    course, inputs = course_of(spec, limits), Inputs()
    machine = LaneMachine(inputs, limits, course)
    engine = LaneChild(engine_of(spec, source, limits))
    pipeline = LanePipeline(engine)
    writer = TranscriptWriter(limits.transcript_bytes)
    lenses = LaneLenses(arm, spec, sink, pipeline, writer, limits)
    counted = spec.clock is Clock.COUNT
    faults = Faults(arm, recorded=recorded, memory_mb=lesson.memory_mb, counted=counted)
    intake = LaneIntake(
        *(arm, inputs, pipeline, writer, lenses, sink, faults),
        backlog_bytes=limits.backlog_bytes,
        recorded=recorded,
    )
    batches = Batches(arm, engine, pipeline, intake, lenses, sink, limits.metrics_s)
    outcome = Outcome(arm, inputs, pipeline, intake, lenses, writer, workload.ops_line)
    contention = ContentionWatch(partial(sink.on_contention, arm))
    return Parts(
        *(spec, source, sink, course, inputs, machine, engine, pipeline, writer),
        *(lenses, faults, intake, batches, outcome, contention),
    )
