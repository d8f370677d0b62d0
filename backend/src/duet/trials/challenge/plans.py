# SPDX-License-Identifier: GPL-2.0-or-later
"""What has to be measured for a challenge: as few guests as its goals and rules allow. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from duet.lessons.load import LessonFolder
from duet.lessons.schema import Challenge, Claim, Goal
from duet.measure.claims import plan_of_claim
from duet.measure.model import Table
from duet.measure.plan import MeasurePlan


@dataclass(frozen=True, slots=True)
class Group:
    """One measurement, and the claims that its table answers."""

    plan: MeasurePlan
    claims: tuple[Claim, ...]


def limits(challenge: Challenge) -> Iterator[tuple[str, Goal]]:
    """('goal' or 'rule', limit), in the order of the lesson's file."""
    yield from (("goal", one) for one in challenge.goals)
    yield from (("rule", one) for one in challenge.rules)


def groups(folder: LessonFolder, claims: Sequence[Claim]) -> list[Group]:
    """The measurements; claims under equal conditions share one.

    Raises:
        InputError: a knob that the lesson does not have, or a value that it does not take.
    """
    found: dict[object, Group] = {}
    for claim in claims:
        plan = plan_of_claim(folder, claim)
        key = (plan.workload, plan.clock, plan.shifts, tuple(sorted(plan.params.items())))
        group = found.get(key)
        if group is None:
            found[key] = Group(plan, (claim,))
            continue
        arms = dict.fromkeys((*group.plan.arms, *plan.arms))
        metrics = (group.plan.metrics or frozenset()) | (plan.metrics or frozenset())
        plan = replace(group.plan, arms=tuple(arms), metrics=metrics)
        found[key] = Group(plan, (*group.claims, claim))
    return list(found.values())


def tables_of(measured: Mapping[int, Table], found: Sequence[Group]) -> dict[str, Table]:
    """Text of a claim -> its table, for the groups that were measured.

    Args:
        measured: index of a group -> its table.
    """
    return {
        claim.model_dump_json(): table
        for index, table in measured.items()
        for claim in found[index].claims
    }
