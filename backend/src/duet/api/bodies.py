# SPDX-License-Identifier: GPL-2.0-or-later
"""Bodies of HTTP responses. A key with a default may be absent.

The page's types and checks are generated from these models (contract.py).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from duet.base.clock import Clock
from duet.bundle.decoding import Of
from duet.messages.base import LanePhase


class Body(BaseModel):
    """Base class: instances are frozen, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Seats(Body):
    """How many connections or sockets are open, and how many are allowed."""

    open: int
    most: int
    dropped: int
    refused: int


class LoopHolds(Body):
    """How long callbacks held the event loop."""

    holds: int
    holds_cpu: int
    longest_ms: float
    longest_cpu_ms: float
    place: str
    longest_gc_ms: float
    budget_ms: float


class LaneState(Body):
    """A lane of a live run. `pid` is the id of the guest's process, and null after that process
    has ended."""

    run_id: str
    arm: str
    phase: LanePhase
    pid: int | None


class Health(Body):
    """State of the server."""

    status: Literal["ok"] = "ok"
    version: str
    protocol: int
    viewers: int
    playing: list[str] = Field(description="ids of live runs")
    waiting: int
    lanes: list[LaneState]
    kernels: dict[str, dict[str, bool]] = Field(description="lesson -> arm -> its kernel is built")
    connections: Seats
    sockets: Seats
    loop: LoopHolds


class LessonLine(Body):
    """An entry in the list of all lessons."""

    slug: str
    title: str
    question: str


class SourceRegion(Body):
    """Range of lines that an arm's patches touch in a file, 1-based, both ends included."""

    title: str = Field(description="the function or structure; empty: none is known")
    first: int = Field(ge=1)
    last: int = Field(ge=1)


class SourceFile(Body):
    """A kernel source file with the arm's patches applied."""

    name: str = Field(description="relative to the kernel's source")
    text: str
    regions: list[SourceRegion]


class ArmSource(Body):
    """The part of an arm's source that can be changed."""

    arm: str
    off: str = Field(description="why nothing can be changed here, a sentence; empty: it can")
    files: list[SourceFile] = Field(description="that the lesson's patches touch, the arm's first")


class RawEvent(Body):
    """A trace record as the kernel wrote it."""

    t_ns: float = Field(description="since the start marker")
    cpu: int
    tid: int
    task: str
    event: str
    fields: dict[str, str | int]


class SavedRun(Body):
    """A saved live run. If it cannot be opened, it has no lesson, no arms and no other facts."""

    name: str
    lesson: str | None
    arms: list[str]
    bytes: int
    params: dict[str, int] | None = None
    clock: Clock | None = None
    workload: str | None = None
    seconds: int | None = None
    recorded_at: str | None = Field(default=None, description="ISO 8601 UTC")
    yours: bool = Field(description="this visitor asked for it")
    deletable: bool = Field(description="this visitor may delete it")


class Deleted(Body):
    """The name of what was deleted."""

    deleted: str


class Side(Body):
    """One of two compared recordings, as its manifest describes it."""

    created: str
    clock: Clock
    workload: str | None
    params: dict[str, int]
    arms: list[str]
    host: dict[str, str]


class Difference(Body):
    """One difference between two recordings. `arm` is empty if the difference concerns all arms."""

    of: Of
    what: str
    arm: str
    recorded: str
    now: str


class FigurePair(Body):
    """One figure in two recordings. `ratio` is the second value divided by the first."""

    arm: str
    figure: str
    recorded: int | float | None
    now: int | float | None
    ratio: float | None


class Comparison(Body):
    """A comparison of two recordings of one lesson. Differences come first."""

    lesson: str
    sides: list[Side]
    differences: list[Difference]
    figures: list[FigurePair]
    only: dict[str, Literal["first", "second"]] = Field(
        description="arm that one of the two has alone -> which"
    )
    worth: str


class Failure(Body):
    """Why a request failed, in words for a person."""

    code: str
    sentence: str
    remedy: str
    detail: str = ""
    run: str | None = None


class FailureBody(Body):
    """Body of every response with a status of 400 or above."""

    error: Failure


HTTP: tuple[type[BaseModel], ...] = (
    *(Health, LessonLine, RawEvent, SavedRun, Deleted, Comparison, ArmSource, FailureBody),
)
"""Models of the core's HTTP responses."""
