# SPDX-License-Identifier: GPL-2.0-or-later
"""Sinks for commands: phases of lanes and losses go to stderr, the rest is dropped."""

from __future__ import annotations

from duet.cli.output import note
from duet.runs.replay import CollectingSink
from duet.session import LaneState, Loss, SessionSink


class ConsoleSink(SessionSink):
    """What a command without a picture does with a run."""

    def on_lane(self, state: LaneState) -> None:
        """One line per phase."""
        note(f"{state.arm}: {state.phase} {state.message}".rstrip())

    def on_loss(self, arm: str, loss: Loss) -> None:
        """Loss is never silent."""
        note(f"{arm}: lost {loss.events} events ({loss.where})")


class CollectingConsoleSink(CollectingSink):
    """Counts what is received; reports phases and losses as ConsoleSink does."""

    def on_lane(self, state: LaneState) -> None:
        """One line per phase."""
        ConsoleSink().on_lane(state)

    def on_loss(self, arm: str, loss: Loss) -> None:
        """Loss is never silent."""
        ConsoleSink().on_loss(arm, loss)
