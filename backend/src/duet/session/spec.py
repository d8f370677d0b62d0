# SPDX-License-Identifier: GPL-2.0-or-later
"""The specification of a run, which is made from a command or a recording. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from duet.base.clock import Clock
from duet.base.errors import InputError
from duet.lenses import Wanted
from duet.lessons.load import LessonFolder
from duet.lessons.plan import base_of, workload_of
from duet.lessons.schema import MicroscopeConfig


@dataclass(frozen=True, slots=True)
class MicroscopeRequest:
    """Parameters of the microscope in one run.

    Args:
        functions: names of the kernel functions whose accesses are recorded.
        operation: name of the function whose call is an operation. If "", there are no operations.
        until: name of the function whose return ends an operation. "" means `operation` itself.
        aim: the object to watch and how to find it. If None, accesses are only counted per cache
            line.
        identify: ask the x-ray for the names of the busiest lines.
    """

    functions: tuple[str, ...]
    operation: str = ""
    aim: MicroscopeConfig | None = None
    identify: bool = False
    until: str = ""

    @classmethod
    def of(cls, config: MicroscopeConfig, base: str | None) -> MicroscopeRequest:
        """Return the request that a lesson's configuration makes on a kernel base."""
        aim = config if config.probe else None
        return cls(config.functions_on(base), config.operation, aim, until=config.until)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run, checked against its lesson.

    Args:
        params: value of every knob, checked by LessonFolder.check_params().
        run_id: empty until the run is queued or starts.
        missing: requested arms whose kernel is not built yet.
        traced: False in a measure run that only yields numbers, without probes and trace pages.
        buffer_kb: size of each CPU's ring buffer in KiB. If None, lessons.plan.plan_text() chooses
            it.
        shift: on the count clock, an instruction takes 2^shift ns.
        seed: seed of the guest's randomness on the count clock. A different seed perturbs the
            start.
        probes: names of the probes to enable. None means the probes of an explain run.
        xray: probes that the x-ray samples. None means the lesson's probes, or no probes in a
            measure run.
        microscope: request for the microscope. None means the lesson's request.
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
        """Probes that the x-ray samples. Empty if there is no x-ray."""
        if self.xray is not None:
            return self.xray
        if not self._looked_at:
            return ()
        return tuple(
            Wanted(x.probe, x.hz, x.of, self.folder.slug)
            for x in self.folder.lesson.xray
            if not x.workloads or self.workload in x.workloads
        )

    def scope(self, arm: str) -> MicroscopeRequest | None:
        """Return the request for an arm's microscope. None if there is no microscope."""
        config = self.folder.lesson.microscope
        if self.microscope is not None or config is None:
            return self.microscope
        if not self._looked_at or self.clock == "count" or self.workload not in config.workloads:
            return None
        return MicroscopeRequest.of(config, base_of(self.folder.lesson, arm))

    @property
    def waits(self) -> MicroscopeConfig | None:
        """The lesson's microscope config, if the workload waits for a microscope that is off.

        Without a microscope, we must send the line `go` to this workload.
        """
        config = self.folder.lesson.microscope
        if config is None or not config.go or self.workload not in config.workloads:
            return None
        return config if self.scope(self.arms[0]) is None and self.source == "live" else None

    @property
    def _looked_at(self) -> bool:
        return self.purpose == "explain" and self.traced and self.source == "live"

    def only(self, arms: Sequence[str]) -> RunSpec:
        """Return the run restricted to some of its lanes.

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
    """Check a request against its lesson, and use the lesson's defaults for missing values.

    Raises:
        InputError: unknown arm, workload, clock or knob, a repeated arm, or a value out of range.
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
    """Explain why a lesson does not run on a clock; "" if there is nothing to explain.

    The count clock has one vCPU, but contention needs two vCPUs.
    """
    if clock != "count":
        return ""
    return ", which has one vCPU, while the lesson's subject, contention, needs two"


def lesson_shift(folder: LessonFolder, clock: Clock) -> int:
    """Return the lesson's shift on the count clock (2^shift ns per instruction), or 0."""
    return folder.lesson.shift if clock == "count" else 0
