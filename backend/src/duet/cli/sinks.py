# SPDX-License-Identifier: GPL-2.0-or-later
"""What verbs keep of a run; phases of lanes and losses go to stderr, the rest is dropped."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from duet import messages as m
from duet.cli.output import note
from duet.lenses import LensState, Sample
from duet.messages.base import LanePhase
from duet.runs.replay import CollectingSink
from duet.session import Loss, SessionSink


class ConsoleSink(SessionSink):
    """What a command without a picture does with a run."""

    def on_lane(self, state: m.Lane) -> None:
        """One line per phase."""
        note(f"{state.arm}: {state.phase} {state.message}".rstrip())

    def on_loss(self, arm: str, loss: Loss) -> None:
        """Loss is never silent."""
        note(f"{arm}: lost {loss.events} events ({loss.where})")


class CollectingConsoleSink(CollectingSink):
    """Counts what is received; reports phases and losses as ConsoleSink does."""

    def on_lane(self, state: m.Lane) -> None:
        """One line per phase."""
        ConsoleSink().on_lane(state)

    def on_loss(self, arm: str, loss: Loss) -> None:
        """Loss is never silent."""
        ConsoleSink().on_loss(arm, loss)


EQUAL_SAMPLES = 10
"""So many looks at a workload that holds still, alike in size, are enough: it is ended then."""


@dataclass
class SampleSink(ConsoleSink):
    """Keeps the samples of one lane."""

    samples: list[tuple[Sample, float]] = field(default_factory=list)
    lens: LensState = field(default_factory=LensState)
    steady: asyncio.Event = field(default_factory=asyncio.Event)

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        """Keep it; of equal ones only what is needed: memory is bounded by the transcript's."""
        self.samples.append((sample, t_ns))
        last = {size_of(pair) for pair in self.samples[-EQUAL_SAMPLES:] if pair[1] > 0}
        if len(self.samples) > EQUAL_SAMPLES and len(last) == 1:
            self.steady.set()

    def on_lens(self, arm: str, state: LensState) -> None:
        """The newest counts."""
        if state.state == "on" and self.lens.state != "on":
            note(f"{arm}: the x-ray is attached (by {state.route})")
        self.lens = state


def size_of(pair: tuple[Sample, float]) -> int:
    """Entries of all columns of a sample."""
    return sum(len(column) for column in pair[0].columns.values())


class PhaseSink(SessionSink):
    """What a run of one lane shows, beside its result."""

    def __init__(self) -> None:
        self.times: dict[LanePhase, float] = {}
        self.lens = LensState()
        self.pid = 0

    def on_lane(self, state: m.Lane) -> None:
        """When each phase began."""
        self.times.setdefault(state.phase, time.monotonic())
        self.pid = state.pid or self.pid

    def on_lens(self, arm: str, state: LensState) -> None:
        """The newest counts of the x-ray."""
        if state.lens == "xray":
            self.lens = state

    def host_s(self) -> float:
        """From the workload's start to its end."""
        return self.times["draining"] - self.times["running"]
