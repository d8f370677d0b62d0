# SPDX-License-Identifier: GPL-2.0-or-later
"""challenges.yaml: what a reader is asked to do to a kernel, and how it is judged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import Field, model_validator

from duet.base.clock import Clock
from duet.lessons.schema.base import Fault, Name, Strict, refuse
from duet.lessons.schema.published import Claim, Limits

# A litmus test: accesses of a few CPUs, in the form in which a kernel's comments write them.

STATEMENT = re.compile(
    r"(?P<to>[a-z_]\w*) = (?P<what>[a-z_]\w*|\d{1,4})|(?P<barrier>[a-z_]\w*)\(\)"
)
MOST = 6
"""Accesses in all: 6 have at most 720 orders."""


@dataclass(frozen=True, slots=True)
class Write:
    """`variable = value`."""

    place: int
    variable: str
    value: int

    def __str__(self) -> str:
        return f"{self.variable} = {self.value}"


@dataclass(frozen=True, slots=True)
class Read:
    """`into = variable`."""

    place: int
    variable: str
    into: str

    def __str__(self) -> str:
        return f"{self.into} = {self.variable}"


@dataclass(frozen=True, slots=True)
class Barrier:
    place: int
    name: str

    def __str__(self) -> str:
        return f"{self.name}()"


Statement = Write | Read | Barrier


class Litmus(Strict):
    """What CPUs do to memory at once, and what must never come of it."""

    says: str = Field(min_length=1, description="what the order is there for, in words")
    source: str = Field(min_length=1, description="where the kernel has these accesses")
    starts: dict[Name, int] = Field(min_length=1, description="variable -> its value before")
    program: dict[Name, tuple[str, ...]] = Field(
        min_length=2,
        max_length=3,
        description="CPU -> what it does: `variable = 1`, `seen = variable`, `smp_mb()`",
    )
    never: dict[Name, int] = Field(
        min_length=1, description="variables and what was seen, as they must not be in the end"
    )

    @cached_property
    def cpus(self) -> dict[str, tuple[Statement, ...]]:
        """CPU -> its statements."""
        return {
            cpu: tuple(self._statement(i, line) for i, line in enumerate(lines))
            for cpu, lines in self.program.items()
        }

    @property
    def barriers(self) -> frozenset[str]:
        """All barriers, as `name()`."""
        return frozenset(
            str(one) for lines in self.cpus.values() for one in lines if isinstance(one, Barrier)
        )

    def _statement(self, place: int, line: str) -> Statement:
        found = STATEMENT.fullmatch(line)
        if found is None:
            raise ValueError(line)
        to, what, barrier = found["to"], found["what"], found["barrier"]
        if barrier:
            return Barrier(place, barrier)
        return Write(place, to, int(what)) if what.isdigit() else Read(place, what, to)

    @model_validator(mode="after")
    def can_be_played(self) -> Litmus:
        """Each line is a statement, each variable has a value, and it is small."""
        faults = []
        names, accesses = set(self.starts), 0
        for cpu, lines in self.program.items():
            for line in lines:
                found = STATEMENT.fullmatch(line)
                if found is None:
                    remedy = "Write `variable = 1`, `seen = variable`, or a barrier: `smp_mb()`."
                    faults.append(Fault(("program", cpu), f'"{line}" is no statement', remedy))
                    continue
                accesses += found["barrier"] is None
                what, to = found["what"], found["to"]
                of = None if found["barrier"] else (to if what.isdigit() else what)
                if of is not None and of not in self.starts:
                    remedy = "Add it under `starts:`."
                    faults.append(Fault(("program", cpu), f"{of} has no first value", remedy))
                names |= {to} if to else set()
        if accesses > MOST:
            remedy = f"Leave out what the order does not need; {MOST} are the most."
            faults.append(Fault(("program",), f"{accesses} accesses are too many", remedy))
        for name in self.never.keys() - names:
            remedy = "Name a variable, or what was seen of one."
            faults.append(Fault(("never", name), f"{name} is written nowhere", remedy))
        refuse("Litmus", faults)
        return self


class Goal(Limits):
    """A limit that the changed kernel is held against, in the form of a claim."""

    says: str = Field(min_length=1, description="the same in words, for the list")
    params: dict[str, int] = Field(default={}, description="the knobs it is for")
    clock: Clock = Field(default="count", description="the clock it is for")

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
