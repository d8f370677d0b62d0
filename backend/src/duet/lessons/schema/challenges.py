# SPDX-License-Identifier: GPL-2.0-or-later
"""challenges.yaml: tasks to change a kernel, and how a change is judged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import Field, model_validator

from duet.base.clock import Clock
from duet.lessons.schema.base import Fault, Name, Strict, refuse
from duet.lessons.schema.published import Claim, Limits

# A litmus test: the memory accesses of a few CPUs, in the notation that kernel comments use.

STATEMENT = re.compile(
    r"(?P<to>[a-z_]\w*) = (?P<what>[a-z_]\w*|\d{1,4})|(?P<barrier>[a-z_]\w*)\(\)"
)
MOST = 6
"""Maximum number of accesses. Six accesses have at most 720 orders."""


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
    """Memory accesses that CPUs make at the same time, and a result that must never occur."""

    says: str = Field(min_length=1, description="what the order ensures, in words")
    source: str = Field(min_length=1, description="where these accesses are in the kernel")
    starts: dict[Name, int] = Field(min_length=1, description="initial value of each variable")
    program: dict[Name, tuple[str, ...]] = Field(
        min_length=2,
        max_length=3,
        description="the statements of each CPU: `variable = 1`, `seen = variable`, `smp_mb()`",
    )
    never: dict[Name, int] = Field(
        min_length=1,
        description="final values of variables and of values read that must never occur together",
    )

    @cached_property
    def cpus(self) -> dict[str, tuple[Statement, ...]]:
        """The statements of each CPU."""
        return {
            cpu: tuple(self._statement(i, line) for i, line in enumerate(lines))
            for cpu, lines in self.program.items()
        }

    @property
    def barriers(self) -> frozenset[str]:
        """All barriers of the test, as `name()`."""
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
        """Check that lines are statements, variables have initial values, and the test is small."""
        faults = []
        names, accesses = set(self.starts), 0
        for cpu, lines in self.program.items():
            for line in lines:
                found = STATEMENT.fullmatch(line)
                if found is None:
                    remedy = "Write `variable = 1`, `seen = variable`, or a barrier: `smp_mb()`."
                    faults.append(Fault(("program", cpu), f'"{line}" is not a statement', remedy))
                    continue
                accesses += found["barrier"] is None
                what, to = found["what"], found["to"]
                of = None if found["barrier"] else (to if what.isdigit() else what)
                if of is not None and of not in self.starts:
                    remedy = "Add it under `starts:`."
                    faults.append(Fault(("program", cpu), f"{of} has no initial value", remedy))
                names |= {to} if to else set()
        if accesses > MOST:
            remedy = f"Leave out accesses that the order does not need. The limit is {MOST}."
            faults.append(Fault(("program",), f"{accesses} accesses are too many", remedy))
        for name in self.never.keys() - names:
            remedy = "Name a variable, or a name into which one is read."
            faults.append(Fault(("never", name), f"no access in the program names {name}", remedy))
        refuse("Litmus", faults)
        return self


class Goal(Limits):
    """A limit for the changed kernel, in the form of a claim."""

    says: str = Field(min_length=1, description="the goal in words, for the list")
    params: dict[str, int] = Field(default={}, description="its knobs")
    clock: Clock = Field(default="count", description="its clock")

    @model_validator(mode="after")
    def has_a_limit(self) -> Goal:
        """Check that the goal has a limit, and that a ratio has an arm to compare with."""
        ratios = (self.ratio_min, self.ratio_max)
        limits = (*ratios, self.value_min, self.value_max, self.equals)
        faults = []
        if all(one is None for one in limits):
            remedy = "Add ratio_max, ratio_min, value_max, value_min or equals."
            faults.append(Fault(("metric",), "no limit is given", remedy))
        if any(one is not None for one in ratios) != (self.to is not None):
            remedy = "Give `to:` and a ratio, or neither."
            faults.append(Fault(("to",), "a ratio needs `to:`, and `to:` needs a ratio", remedy))
        refuse("Goal", faults)
        return self

    def claim(self, arm: str) -> Claim:
        """Return the goal as a claim about an arm."""
        return Claim(arm=arm, source=self.says, **self.model_dump(exclude={"says"}))


class Challenge(Strict):
    """A task to change an arm, judged by measurements and a stress test."""

    title: str = Field(min_length=1, description="a few words")
    ask: str = Field(min_length=1, description="what to do, and what must not change")
    hint: str = Field(min_length=1, description="where to begin; a hint for readers who are stuck")
    arm: Name = Field(description="the arm to change")
    aim: Literal["better", "break"] = Field(
        default="better",
        description="better: all goals and rules hold, and the stress finds nothing; break: a "
        "rule no longer holds, or the stress finds something",
    )
    goals: tuple[Goal, ...] = Field(default=(), description="goals to reach, all of them")
    rules: tuple[Goal, ...] = Field(
        default=(), description="what holds while the kernel is right, also on the unchanged arm"
    )
    without: tuple[str, ...] = Field(
        default=(), description="regular expressions that no line added by the change may match"
    )
    order: Litmus | None = Field(
        default=None,
        description="litmus tests that show why barriers are needed; they judge a "
        "change that removes a barrier",
    )
    answer: str = Field(
        min_length=1, description="what the challenge teaches, shown when it is solved"
    )

    @model_validator(mode="after")
    def aims_at_something(self) -> Challenge:
        """Check that a challenge has a goal if it asks to improve a kernel, and none otherwise."""
        faults = []
        if self.aim == "better" and not self.goals:
            remedy = "Add `goals:` with at least one limit."
            faults.append(Fault(("goals",), "there is no goal", remedy))
        if self.aim == "break" and self.goals:
            remedy = (
                "Write `rules:` instead. The challenge is solved when one of them does not hold."
            )
            faults.append(Fault(("goals",), "`aim: break` is judged by rules only", remedy))
        refuse("Challenge", faults)
        return self


class Stress(Strict):
    """How to run the lesson's workloads on a debug kernel, which is five to ten times slower."""

    turns: tuple[dict[str, int], ...] = Field(
        default=({},), description="knobs of each turn; every workload runs once per turn"
    )
    beside: str | None = Field(
        default=None, description="script of duet/trials/check/stress that runs in parallel"
    )
    alone: tuple[Name, ...] = Field(
        default=(), description="workloads that run while nothing else reclaims memory"
    )
    work: dict[str, str] = Field(
        default={}, description="for each kind of work, a regex for the lines that count it"
    )


class ChallengesFile(Strict):
    """challenges.yaml: tasks to change a kernel, and how a change is judged."""

    challenges: dict[Name, Challenge] = Field(
        default={}, description="three of them, from the easiest to the hardest"
    )
    stress: Stress = Field(
        default=Stress(),
        description="stress test of the workloads, for challenges and for tests/debug",
    )
