# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to run: one model from the command or the recording to the lanes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.lenses import Wanted
from duet.lessons.load import LessonFolder
from duet.lessons.plan import workload_of
from duet.lessons.schema import MicroscopeConfig


@dataclass(frozen=True, slots=True)
class MicroscopeRequest:
    """What the microscope looks at.

    Args:
        functions: of the kernel, by name.
        operation: of these, the one whose call is an operation; empty: nothing is one.
        until: of these, the one whose return ends the operation; empty: the operation's own.
        aim: the object to watch, and how it is found; None: counts of all lines alone.
        identify: ask the x-ray what lies at the busiest lines.
    """

    functions: tuple[str, ...]
    operation: str = ""
    aim: MicroscopeConfig | None = None
    identify: bool = False
    until: str = ""

    @classmethod
    def of(cls, config: MicroscopeConfig) -> MicroscopeRequest:
        """What a lesson's microscope looks at."""
        aim = config if config.probe else None
        return cls(config.functions, config.operation, aim, until=config.until)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run, checked against its lesson: from a command or a recording to the lanes.

    Args:
        params: every knob, through LessonFolder.check_params.
        run_id: empty until the run is queued or begins.
        missing: arms that were asked for and whose kernel is not built yet.
        traced: False for the numbers of a measure run: no probes, no pages.
        buffer_kb: ring buffer per CPU in KiB; None is what lessons.plan.plan_text() chooses.
        shift: 2^shift ns an instruction on the count clock.
        seed: of the guest's randomness on the count clock; another one is a perturbed start.
        probes: names of exactly those to switch on; None: those that explain.
        xray: what the x-ray samples; None: what the lesson says, and nothing in a measure run.
        microscope: what the microscope looks at; None: what the lesson says.
    """

    folder: LessonFolder
    arms: tuple[str, ...]
    workload: str
    params: dict[str, int]
    clock: Clock
    run_id: str = ""
    missing: tuple[str, ...] = ()
    purpose: Literal["explain", "measure"] = "explain"
    source: Literal["live", "recorded"] = "live"
    traced: bool = True
    recorded_at: str | None = None
    buffer_kb: int | None = None
    shift: int = 0
    seed: int = 1
    probes: frozenset[str] | None = None
    xray: tuple[Wanted, ...] | None = None
    microscope: MicroscopeRequest | None = None

    @property
    def lens(self) -> tuple[Wanted, ...]:
        """What the x-ray samples; nothing: it is not attached."""
        if self.xray is not None:
            return self.xray
        if not self._looked_at:
            return ()
        return tuple(
            Wanted(x.probe, x.hz, x.of, self.folder.slug)
            for x in self.folder.lesson.xray
            if not x.workloads or self.workload in x.workloads
        )

    @property
    def scope(self) -> MicroscopeRequest | None:
        """What the microscope looks at; None: it is not there."""
        config = self.folder.lesson.microscope
        if self.microscope is not None or config is None:
            return self.microscope
        if not self._looked_at or self.clock == "count" or self.workload not in config.workloads:
            return None
        return MicroscopeRequest.of(config)

    @property
    def waits(self) -> MicroscopeConfig | None:
        """What its workload waits for although no microscope is there; None: for nothing."""
        config = self.folder.lesson.microscope
        if config is None or not config.go or self.workload not in config.workloads:
            return None
        return config if self.scope is None and self.source == "live" else None

    @property
    def _looked_at(self) -> bool:
        return self.purpose == "explain" and self.traced and self.source == "live"

    def only(self, arms: Sequence[str]) -> RunSpec:
        """Some lanes of the run.

        Raises:
            InputError: the run has no such lane.
        """
        for arm in arms:
            if arm not in self.arms:
                raise InputError(
                    f"the run has no lane '{arm:.60}'.",
                    remedy=f"Choose from: {', '.join(self.arms)}.",
                )
        return replace(self, arms=tuple(arms), missing=())


def check_run(
    folder: LessonFolder,
    arms: Sequence[str],
    workload: str | None,
    clock: str | None,
    params: Mapping[str, int],
) -> RunSpec:
    """What is to run, with the lesson's workload, clock and knobs where none are given.

    Raises:
        InputError: unknown arm, workload, clock or knob, an arm twice, or a value out of range.
    """
    for arm in arms:
        folder.arm(arm)
    if len(set(arms)) != len(arms):
        raise InputError("an arm was named twice.", remedy="Name each arm once.")
    chosen = workload or next(iter(folder.lesson.workloads))
    workload_of(folder.lesson, chosen)
    wanted = clock or folder.lesson.clock
    on = next((one for one in folder.lesson.clocks if one == wanted), None)
    if on is None:
        raise InputError(
            f"lesson {folder.slug} does not run on the clock '{wanted:.20}'{_why_not(wanted)}.",
            remedy=f"Choose from: {', '.join(folder.lesson.clocks)}.",
        )
    return RunSpec(folder, tuple(arms), chosen, folder.check_params(params, on), on)


def _why_not(clock: str) -> str:
    """A lesson without the count clock is about CPUs that meet, and there is one vCPU there."""
    if clock != "count":
        return ""
    return ", since that clock has one vCPU, and what the lesson is about, contention, takes two"


def lesson_shift(folder: LessonFolder, clock: Clock) -> int:
    """2^shift ns an instruction, as the lesson wants it on the count clock."""
    return folder.lesson.shift if clock == "count" else 0
