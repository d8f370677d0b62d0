# SPDX-License-Identifier: GPL-2.0-or-later
"""challenges.yaml: what a reader is asked to do to a kernel, and how it is judged."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from duet.lessons.schema.base import ClockName, Fault, Name, Strict, refuse
from duet.lessons.schema.evidence import Claim, Limits
from duet.lessons.schema.litmus import Litmus


class Goal(Limits):
    """A limit that the changed kernel is held against, in the form of a claim."""

    says: str = Field(min_length=1, description="the same in words, for the list")
    params: dict[str, int] = Field(default={}, description="the knobs it is for")
    clock: ClockName = Field(default="count", description="the clock it is for")

    @model_validator(mode="after")
    def has_a_limit(self) -> Goal:
        """There is something to hold it against, and ratios are to another arm."""
        ratios = (self.ratio_min, self.ratio_max)
        limits = (*ratios, self.value_min, self.value_max, self.equals)
        faults = []
        if all(one is None for one in limits):
            remedy = "Add ratio_max, ratio_min, value_max, value_min or equals."
            faults.append(Fault(("metric",), "no limit is given", remedy))
        if any(one is not None for one in ratios) != (self.to is not None):
            remedy = "Give `to:` and a ratio, or neither."
            faults.append(Fault(("to",), "a ratio is to an arm, and the other way round", remedy))
        refuse("Goal", faults)
        return self

    def claim(self, arm: str) -> Claim:
        """The goal as a claim about an arm."""
        return Claim(arm=arm, source=self.says, **self.model_dump(exclude={"says"}))


class Challenge(Strict):
    """Something to do to an arm. All of it is judged by machines."""

    title: str = Field(min_length=1, description="a few words")
    ask: str = Field(min_length=1, description="what to do, and what must stay as it is")
    hint: str = Field(min_length=1, description="where to begin, for who is stuck")
    arm: Name = Field(description="the arm that is changed")
    aim: Literal["better", "break"] = Field(
        default="better",
        description="better: all goals and rules hold, and the stress finds nothing; break: some "
        "rule does not hold any more, or the stress finds something",
    )
    goals: tuple[Goal, ...] = Field(default=(), description="what is to be reached; all of them")
    rules: tuple[Goal, ...] = Field(
        default=(), description="what holds as long as the kernel is right, on the arm as well"
    )
    without: tuple[str, ...] = Field(
        default=(), description="regular expressions; no line that is added may match one"
    )
    order: Litmus | None = Field(
        default=None, description="what barriers are there for; judges a change that takes one away"
    )
    answer: str = Field(min_length=1, description="the lesson of it, shown when it is met")

    @model_validator(mode="after")
    def aims_at_something(self) -> Challenge:
        """A better kernel has a goal, a broken one has none."""
        faults = []
        if self.aim == "better" and not self.goals:
            remedy = "Add `goals:` with one limit at least."
            faults.append(Fault(("goals",), "nothing is to be reached", remedy))
        if self.aim == "break" and self.goals:
            remedy = "Write `rules:`; one that does not hold is what is asked for."
            faults.append(Fault(("goals",), "to break something, rules alone are judged", remedy))
        refuse("Challenge", faults)
        return self


class Stress(Strict):
    """How the lesson's workloads run on a debug kernel, which is five to ten times as slow."""

    turns: tuple[dict[str, int], ...] = Field(
        default=({},), description="knobs; each is a turn of its own for every workload"
    )
    beside: str | None = Field(
        default=None, description="script of duet/trials/check/stress that runs all along"
    )
    alone: tuple[Name, ...] = Field(
        default=(), description="workloads during which nobody else reclaims"
    )
    work: dict[str, str] = Field(
        default={}, description="what was done -> regex of the lines that count it"
    )


class ChallengesFile(Strict):
    """challenges.yaml: what a reader is asked to do to a kernel, and how it is judged."""

    challenges: dict[Name, Challenge] = Field(
        default={}, description="three of them, from the easiest to the hardest"
    )
    stress: Stress = Field(
        default=Stress(), description="of the workloads, for challenges and for tests/debug"
    )
