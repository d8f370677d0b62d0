# SPDX-License-Identifier: GPL-2.0-or-later
"""Sinks that store what a verb needs from a run, and print lanes' phases and losses to stderr."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from duet import messages as m
from duet.cli.output import note
from duet.lenses import LensState, Sample
from duet.runs.replay import CollectingSink
from duet.session import Loss, SessionSink


class ConsoleSink(SessionSink):
    """Sink for a verb that draws nothing."""

    def on_lane(self, state: m.Lane) -> None:
        """Print one line per phase."""
        note(f"{state.arm}: {state.phase} {state.message}".rstrip())

    def on_loss(self, arm: str, loss: Loss) -> None:
        """Print every loss."""
        note(f"{arm}: lost {loss.events} events ({loss.where})")


class CollectingConsoleSink(CollectingSink):
    """CollectingSink that also prints lanes' phases and losses."""

    def on_lane(self, state: m.Lane) -> None:
        ConsoleSink().on_lane(state)

    def on_loss(self, arm: str, loss: Loss) -> None:
        ConsoleSink().on_loss(arm, loss)


EQUAL_SAMPLES = 10
"""A workload that waits for a command is ended after this many samples of equal size."""


@dataclass
class SampleSink(ConsoleSink):
    """Stores one lane's samples."""

    samples: list[tuple[Sample, float]] = field(default_factory=list)
    lens: LensState = field(default_factory=LensState)
    steady: asyncio.Event = field(default_factory=asyncio.Event)

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        """Store the sample. The limit on the transcript's size also bounds these samples."""
        self.samples.append((sample, t_ns))
        last = {size_of(pair) for pair in self.samples[-EQUAL_SAMPLES:] if pair[1] > 0}
        if len(self.samples) > EQUAL_SAMPLES and len(last) == 1:
            self.steady.set()

    def on_lens(self, arm: str, state: LensState) -> None:
        """Store the newest counts."""
        if state.state == "on" and self.lens.state != "on":
            note(f"{arm}: the x-ray is attached (by {state.route})")
        self.lens = state


def size_of(pair: tuple[Sample, float]) -> int:
    """Return a sample's size, as the number of entries in all its columns."""
    return sum(len(column) for column in pair[0].columns.values())
