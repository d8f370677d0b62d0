# SPDX-License-Identifier: GPL-2.0-or-later
"""Which claims of a lesson a recording bears on, measured anew, untraced."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from duet.cli.measuring import Teller
from duet.cli.request import Request
from duet.kernels import KernelSettings
from duet.lessons.manifest import Claim
from duet.lessons.roles import knob
from duet.measure import Ask, Table
from duet.measure.claims import ask_for, broken, told
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
        """It does."""
        return self.trouble is None

    def tree(self) -> dict[str, object]:
        """The documented keys."""
        return {
            "claim": told(self.claim),
            "source": self.claim.source,
            "own_knobs": self.own_knobs,
            "holds": self.holds,
            "because": self.trouble,
        }

    def __str__(self) -> str:
        where = " (under its own knobs)" if self.own_knobs else ""
        if self.trouble is None:
            return f"holds: {told(self.claim)}{where}"
        return f"does not hold: {told(self.claim)}{where}: {self.trouble}"


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
    asks = {id(claim): _ask(request, claim, own_knobs) for claim in claims}
    tables: dict[str, Table] = {}
    checked: list[Checked] = []
    for claim in claims:
        key = _key(asks[id(claim)])
        if key not in tables:
            same = [ask for ask in asks.values() if _key(ask) == key]
            tables[key] = asyncio.run(_measure(_merged(request, same), kernels))
        table = tables[key]
        errors = [table.errors[a] for a in (claim.arm, claim.to) if a in table.errors]
        trouble = errors[0].sentence if errors else broken(claim, table)
        checked.append(Checked(claim, trouble, own_knobs))
    return checked


def _ask(request: Request, claim: Claim, own_knobs: bool) -> Ask:
    ask = ask_for(request.folder, claim, default_repeats(request.clock))
    return ask if own_knobs else replace(ask, params=request.params)


def _key(ask: Ask) -> str:
    return repr((ask.workload, ask.clock, ask.shifts, sorted(ask.params.items())))


def _merged(request: Request, asks: list[Ask]) -> Ask:
    """Claims under one condition share their runs; arms stand in the recording's order."""
    wanted = {arm for ask in asks for arm in ask.arms}
    return replace(
        asks[0],
        arms=tuple(arm for arm in request.arms if arm in wanted),
        metrics=frozenset().union(*(ask.metrics or () for ask in asks)),
    )


async def _measure(ask: Ask, kernels: KernelSettings) -> Table:
    with Teller() as tell:
        measuring = await prepare_measurement(ask, kernels, "", progress=tell)
        return (await measuring.run()).tables[0]
