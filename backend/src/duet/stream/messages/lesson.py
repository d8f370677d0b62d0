# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson as the page gets it: what its files say, with patch texts, prose and recordings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from duet.lessons import schema
from duet.stream.messages.base import ClockName
from duet.stream.messages.measured import MeasuredTable
from duet.stream.messages.native import NativeView


class Part(BaseModel):
    """Frozen, no unknown keys; all keys are always sent."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_serialization_defaults_required=True
    )


class PatchText(Part):
    """One patch in the form of git format-patch; `text` is empty if it cannot be read."""

    file: str
    subject: str
    body: str
    text: str


class ArmView(schema.Arm, Part):
    """An arm with its patches."""

    patch_texts: tuple[PatchText, ...] = ()


class RecordingLine(Part):
    """One recording of a lesson, as its bundle's manifest describes it."""

    name: str
    lesson: str
    params: dict[str, int]
    arms: tuple[str, ...]
    clock: ClockName
    workload: str | None
    seconds: int | None = Field(description="its parameter of that name; null: it has none")
    bytes: int
    recorded_at: str | None = Field(description="ISO 8601 UTC")


class LessonView(schema.Lesson, Part):
    """What a lesson has with and without a picture."""

    slug: str
    arms: tuple[ArmView, ...] = Field(min_length=1)
    content: dict[str, str] = Field(default={}, description="prose by scene id, markdown")
    recordings: tuple[RecordingLine, ...] = ()
    ready: dict[str, bool] = Field(default={}, description="arms whose kernel is built")
    measured: tuple[MeasuredTable, ...] = Field(
        default=(), description="every recorded table of untraced runs, the headline first"
    )
    drawings: dict[str, str] = Field(
        default={}, description="SVG of a term, by its name: shapes and text (lessons/drawings.py)"
    )
    native: NativeView | None = Field(
        default=None, description="the arms' layouts on a machine's own CPUs; null: never measured"
    )


class PictureLesson(LessonView):
    """A lesson with a view, steps and an operation."""

    view: schema.Name
    operation: schema.Operation
    kinds: tuple[schema.Kind, ...]
    scenes: tuple[schema.Scene, ...]
    hz: float = Field(default=250, gt=0, description="timer ticks a second of its kernels")
    base: str = Field(default="", description="version of the base kernel; empty: not known")


class NumbersLesson(LessonView):
    """A lesson without a view: its numbers come from a terminal."""

    view: None = None
    prose: str = Field(default="", description="content.md as it stands, markdown")


def lesson_of(tree: dict[str, JsonValue]) -> PictureLesson | NumbersLesson:
    """A lesson from what lesson_tree makes of its folder."""
    model = NumbersLesson if tree["view"] is None else PictureLesson
    return model.model_validate(tree)
