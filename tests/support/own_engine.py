# SPDX-License-Identifier: GPL-2.0-or-later
"""A decoding engine in this process, for tests with trusted pages."""

from __future__ import annotations

from duet.session.engine import Counts, LaneEngine, LaneSetup, Progress, StepRequest
from duet.session.reduce import Reduction


class OwnEngine:
    """Implementation of session.pipeline.Engine without a child process."""

    def __init__(self, lane: LaneSetup) -> None:
        self._engine = LaneEngine(lane)

    def step(self, step: StepRequest) -> tuple[Reduction, Progress]:
        """One step."""
        return self._engine.step(step), self._engine.progress()

    def counts(self, *, tallies: bool) -> Counts:
        """Figures so far."""
        return self._engine.counts(tallies=tallies)
