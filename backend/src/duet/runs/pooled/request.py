# SPDX-License-Identifier: GPL-2.0-or-later
"""What the program of a comparison reads, checked against the lesson as it lies on its host."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from duet.base.errors import InputError
from duet.guests.types import Clock
from duet.lessons.load import load
from duet.lessons.plan import workload_of
from duet.measure import MeasurePlan
from duet.runs.pooled.limits import REQUEST_BYTES
from duet.runs.pooled.parts import Part

VERSION: Final = 1
Name = Annotated[str, Field(max_length=100)]


class Packet(BaseModel):
    """One way or the other; both ends are of one version."""

    model_config = ConfigDict(extra="forbid")


class Request(Packet):
    """A comparison, as a program reads it from standard input."""

    version: Literal[1] = VERSION
    lesson: Name
    arms: Annotated[tuple[Name, ...], Field(min_length=1, max_length=64)]
    workload: Name
    clock: Clock
    params: Annotated[dict[Name, int], Field(max_length=100)]
    repeats: int
    shift: int
    perturbed: Annotated[int, Field(ge=0, le=100)]
    metrics: frozenset[Name] | None
    layouts: Annotated[int, Field(ge=0, le=100)]
    link: int | None
    at_once: Annotated[int, Field(ge=1, le=1024)]

    @classmethod
    def of(cls, part: Part, at_once: int) -> Request:
        """That of a comparison.

        Args:
            at_once: guests that may run at once on the count clock.
        """
        plan = part.plan
        return cls(
            lesson=plan.folder.slug,
            arms=plan.arms,
            workload=plan.workload,
            clock=plan.clock,
            params=plan.params,
            repeats=plan.repeats,
            shift=plan.shifts[0],
            perturbed=plan.perturbed,
            metrics=plan.metrics,
            layouts=plan.layouts,
            link=plan.link,
            at_once=at_once,
        )

    @classmethod
    def read(cls, text: bytes) -> Request:
        """What standard input had.

        Raises:
            InputError: it is no request.
        """
        try:
            if len(text) > REQUEST_BYTES:
                raise ValueError("it is too long")
            return cls.model_validate_json(text)
        except ValueError as error:
            raise InputError(
                f"what came is no comparison of this version ({error!s:.200}).",
                remedy="Use the same version of Kernel Duet on all hosts.",
            ) from None

    def plan(self) -> MeasurePlan:
        """The plan, by the lesson as it lies on this host.

        Raises:
            InputError: the lesson, an arm, the workload or a knob is not there.
        """
        folder = load(self.lesson)
        for arm in self.arms:
            folder.arm(arm)
        workload_of(folder.lesson, self.workload)
        folder.check_params(self.params, str(self.clock))
        return MeasurePlan(
            folder=folder,
            arms=self.arms,
            workload=self.workload,
            clock=self.clock,
            params=self.params,
            repeats=self.repeats,
            shifts=(self.shift,),
            perturbed=self.perturbed,
            metrics=self.metrics,
            layouts=self.layouts,
            link=self.link,
        )
