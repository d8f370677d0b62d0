# SPDX-License-Identifier: GPL-2.0-or-later
"""A litmus test: accesses of a few CPUs, in the form in which a kernel's comments write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from pydantic import Field, model_validator

from duet.lessons.schema.base import Fault, Name, Strict, refuse

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
    """`name()`."""

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
