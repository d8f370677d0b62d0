# SPDX-License-Identifier: GPL-2.0-or-later
"""What a class tries: commands of its pages, and what they receive."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from duet.stream.messages.base import ClockName, Message
from duet.stream.messages.class_commands import Word
from duet.stream.messages.commands import Arms, Params

Better = Literal["higher", "lower", "neither"]


class OpenStep(Message):
    """The instructor lets the class try in a step, or does not any more.

    Args:
        knobs: members may turn knobs there.
        patches: and change patches, where the server builds changes.
    """

    type: Literal["class_open_step"]
    lesson: Annotated[str, Field(min_length=1, max_length=64)]
    step: Annotated[str, Field(min_length=1, max_length=64)]
    knobs: StrictBool
    patches: StrictBool = False


class ShowGallery(Message):
    """The instructor shows all members what the class has tried, or hides it."""

    type: Literal["class_show_gallery"]
    shown: StrictBool


class TryRun(Message):
    """A member tries a run in a step that is open for it; what else is as of `start`.

    It waits behind what this member tries already and replaces nothing. A try that equals another
    one of the class is the same run, and this member is one more of its makers.
    """

    type: Literal["class_try"]
    lesson: Annotated[str, Field(min_length=1, max_length=64)]
    step: Annotated[str, Field(min_length=1, max_length=64)]
    arms: Arms
    workload: Word | None = None
    params: Params = Field(default_factory=dict)
    clock: ClockName | None = None


class TakeBackTry(Message):
    """A member does not want a try any more that waits; it runs on if another one wants it."""

    type: Literal["class_take_back"]
    number: Annotated[StrictInt, Field(ge=1, le=1 << 20)]


class OpenedStep(Message):
    """A step that is open."""

    lesson: str
    step: str
    patches: bool


class ClassOpened(Message):
    """Where the class may try; latest wins. To each page of it."""

    type: Literal["class_opened"] = "class_opened"
    class_id: str
    steps: list[OpenedStep]
    gallery: bool = Field(description="members see what all have tried, not their own alone")
    no_runs: str = Field(description="why nobody can try here, a sentence; empty: they can")
    no_patches: str = Field(description="why no patch can be changed here; empty: it can")


class Maker(Message):
    """A member who asked for a run."""

    member: str
    name: str


class TryLane(Message):
    """The number of one lane."""

    arm: str
    title: str
    value: float


class TryResult(Message):
    """The one number of a run, of a traced run: it explains, and proves nothing."""

    title: str
    unit: str
    better: Better
    lanes: list[TryLane] = Field(description="at most two: what is compared, and with what")
    ratio: float | None = Field(description="second over first; null: there are no two")


class ClassTry(Message):
    """A run that members asked for."""

    number: int
    lesson: str
    step: str
    makers: list[Maker] = Field(description="the first one first")
    arms: list[str]
    params: dict[str, int]
    turned: dict[str, int] = Field(description="knobs that stand elsewhere than the step has them")
    workload: str
    clock: ClockName
    summary: str = Field(description="of the changed patch in one line; empty: none was changed")
    run: str = Field(description="id of the run, live and saved")
    state: Literal["waiting", "running", "done", "failed"]
    place: int | None = Field(description="in the queue; null: it waits behind its maker's others")
    estimate_s: float | None = Field(description="until it starts, when this was sent")
    sentence: str = Field(description="why it failed, or some of its lanes")
    result: TryResult | None


class ClassTries(Message):
    """What the class tried, as far as this page may see it; latest wins, at most two a second."""

    type: Literal["class_tries"] = "class_tries"
    class_id: str
    tries: list[ClassTry]


TryCommand = OpenStep | ShowGallery | TryRun | TakeBackTry
TryMessage = ClassOpened | ClassTries
