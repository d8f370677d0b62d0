# SPDX-License-Identifier: GPL-2.0-or-later
"""A SessionSink for commands: tells phases of lanes on stderr and drops the rest."""

from __future__ import annotations

from duet.api.replaying import Tape
from duet.cli.output import note
from duet.lenses import LensState, Sample
from duet.session import Batch, Contention, LaneState, Line, Loss, Metrics, Row, RunState


class Quiet:
    """What a command without a picture does with a run."""

    def on_run(self, state: RunState) -> None:
        """Nothing; lanes tell more."""

    def on_lane(self, state: LaneState) -> None:
        """One line per phase."""
        note(f"{state.arm}: {state.phase} {state.message}".rstrip())

    def on_rows(self, arm: str, rows: tuple[Row, ...]) -> None:
        """Nothing."""

    def on_batch(self, arm: str, new: Batch) -> None:
        """Nothing."""

    def on_metrics(self, arm: str, metrics: Metrics) -> None:
        """Nothing."""

    def on_loss(self, arm: str, loss: Loss) -> None:
        """Loss is never silent."""
        note(f"{arm}: lost {loss.events} events ({loss.where})")

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        """Not shown."""

    def on_lens(self, arm: str, state: LensState) -> None:
        """Not shown."""

    def on_contention(self, arm: str, contention: Contention) -> None:
        """Not shown while it grows; the result has it."""

    def on_line(self, arm: str, line: Line) -> None:
        """Nothing; the result has them."""


class ToldTape(Tape):
    """Counts what comes, and tells phases and losses as Quiet does."""

    def on_lane(self, state: LaneState) -> None:
        """One line per phase."""
        Quiet().on_lane(state)

    def on_loss(self, arm: str, loss: Loss) -> None:
        """Loss is never silent."""
        Quiet().on_loss(arm, loss)
