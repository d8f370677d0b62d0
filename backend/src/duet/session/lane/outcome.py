# SPDX-License-Identifier: GPL-2.0-or-later
"""Final lane result, and what a run must have given before it is called done."""

from __future__ import annotations

from contextlib import suppress

from duet.errors import KernelError
from duet.guests.types import GuestFacts
from duet.session.events import Contention, LanePhase, LaneResult
from duet.session.lane.inputs import Inputs
from duet.session.lane.intake import LaneIntake
from duet.session.lane.lenses import LaneLenses
from duet.session.lane.saving import TranscriptWriter
from duet.session.pipeline import LanePipeline
from duet.session.trouble import workload_figures, workload_trouble


class Outcome:
    """Collects one lane's result from whoever has a part of it.

    Args:
        ops_line: pattern of the workload's line with its own figures; None: it writes none.
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
        """All is reduced.

        Raises:
            KernelError: nothing can be drawn, or the workload's figures are no numbers.
        """
        if self._pipeline.headless:
            if failed := workload_trouble(self.result(LanePhase.DRAINING, None, None)):
                raise failed  # that is why it wrote no marker
            lost = sum(self._pipeline.lost_by_place().values())
            raise KernelError(
                f"lane {self._arm} has no start marker among its events ({lost} events were lost), "
                "so nothing can be drawn of it.",
                remedy="Run it again with fewer threads or seconds.",
            )
        workload_figures(self._arm, self._ops_line, self._intake.lines)

    def result(
        self, phase: LanePhase, facts: GuestFacts | None, contention: Contention | None
    ) -> LaneResult:
        """What is known now; final once the lane is over."""
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
        """The workload's own figures, from the last line that has them and are numbers."""
        with suppress(KernelError):
            return workload_figures(self._arm, self._ops_line, self._intake.lines)
        return None, None
