# SPDX-License-Identifier: GPL-2.0-or-later
"""Which claims of a lesson a recording bears on, measured anew, untraced."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from duet.cli.measuring import ProgressBar
from duet.cli.request import Request
from duet.kernels import KernelSettings
from duet.lessons.load import knob
from duet.lessons.schema import Claim
from duet.measure import MeasurePlan, Table
from duet.measure.claims import broken, claim_text, plan_of_claim
from duet.measure.plan import default_repeats
from duet.runs.measure import prepare_measurement


@dataclass(frozen=True, slots=True)
class Checked:
    """One claim, measured.

    Args:
        trouble: what is wrong with it; None when it holds.
        own_knobs: it was measured under its own knobs, not the recording's.
    """

    claim: Claim
    trouble: str | None
    own_knobs: bool

    @property
    def holds(self) -> bool:
        """True if the claim holds."""
        return self.trouble is None

    def tree(self) -> dict[str, object]:
        """The documented keys."""
        return {
            "claim": claim_text(self.claim),
            "source": self.claim.source,
            "own_knobs": self.own_knobs,
            "holds": self.holds,
            "because": self.trouble,
        }

    def __str__(self) -> str:
        where = " (under its own knobs)" if self.own_knobs else ""
        if self.trouble is None:
            return f"holds: {claim_text(self.claim)}{where}"
        return f"does not hold: {claim_text(self.claim)}{where}: {self.trouble}"


def claims_about(request: Request, shift: int) -> tuple[list[Claim], bool]:
    """Claims about these arms, workload, clock and knobs.

    Returns:
        Those whose knobs are the recording's, and False. Where there are none: those that name no
        other value of a knob, or else all, and True: they are measured under their own knobs.
    """
    lesson = request.folder.lesson
    first = next(iter(lesson.workloads))
    near = [
        claim
        for claim in lesson.claims
        if {claim.arm, claim.to or claim.arm} <= set(request.arms)
        and claim.clock == request.clock
        and claim.shift == shift
        and (claim.workload or first) == request.workload
    ]
    if exact := [claim for claim in near if _knobs(request, claim) == _knobs(request)]:
        return exact, False
    agreeing = [
        claim
        for claim in near
        if all(request.params.get(name) == value for name, value in claim.params.items())
    ]
    return agreeing or near, bool(near)


def _knobs(request: Request, claim: Claim | None = None) -> dict[str, int]:
    """All knobs but the length of the run, which a claim leaves open."""
    params = request.params
    if claim is not None:
        params = request.folder.check_params(claim.params, str(request.clock))
    duration = knob(request.folder.lesson, "duration")
    return {name: value for name, value in params.items() if name != duration}


def check_claims(request: Request, shift: int, kernels: KernelSettings) -> list[Checked]:
    """Measure what the recording bears on.

    Raises:
        DuetError: nothing could be measured.
    """
    claims, own_knobs = claims_about(request, shift)
    plans = {id(claim): _plan(request, claim, own_knobs) for claim in claims}
    tables: dict[str, Table] = {}
    checked: list[Checked] = []
    for claim in claims:
        key = _key(plans[id(claim)])
        if key not in tables:
            same = [plan for plan in plans.values() if _key(plan) == key]
            tables[key] = asyncio.run(_measure(_merged(request, same), kernels))
        table = tables[key]
        errors = [table.errors[a] for a in (claim.arm, claim.to) if a in table.errors]
        trouble = errors[0].sentence if errors else broken(claim, table)
        checked.append(Checked(claim, trouble, own_knobs))
    return checked


def _plan(request: Request, claim: Claim, own_knobs: bool) -> MeasurePlan:
    plan = plan_of_claim(request.folder, claim, default_repeats(request.clock))
    return plan if own_knobs else replace(plan, params=request.params)


def _key(plan: MeasurePlan) -> str:
    return repr((plan.workload, plan.clock, plan.shifts, sorted(plan.params.items())))


def _merged(request: Request, plans: list[MeasurePlan]) -> MeasurePlan:
    """Claims under one condition share their runs; arms stand in the recording's order."""
    wanted = {arm for plan in plans for arm in plan.arms}
    return replace(
        plans[0],
        arms=tuple(arm for arm in request.arms if arm in wanted),
        metrics=frozenset().union(*(plan.metrics or () for plan in plans)),
    )


async def _measure(plan: MeasurePlan, kernels: KernelSettings) -> Table:
    with ProgressBar() as tell:
        measuring = await prepare_measurement(plan, kernels, "", progress=tell)
        return (await measuring.run()).tables[0]
