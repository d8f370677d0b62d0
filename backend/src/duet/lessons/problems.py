# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wrong with a lesson's files: file, line, key, sentence, remedy."""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from duet.errors import InputError
from duet.lessons.meant import meant
from duet.lessons.schema import FILES, Lesson, Place


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Args:
        file: e.g. 'lessons/NN-slug/trace.yaml'.
        line: from 1.
        key: e.g. 'spans[2].open'; empty: the file as such.
        sentence: what was wanted and what came, without a full stop.
        remedy: what to do now.
    """

    file: str
    line: int
    key: str
    sentence: str
    remedy: str

    def __str__(self) -> str:
        key = f"{self.key}: " if self.key else ""
        return f"{self.file}:{self.line}: {key}{self.sentence}"


class LessonError(InputError):
    """A lesson that cannot be used: the first problem is the sentence, all are in `problems`."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first, more = problems[0], len(problems) - 1
        rest = f" ({more} more: ./duet lint)" if more else ""
        detail = "\n".join(f"{p}. {p.remedy}" for p in problems)
        super().__init__(f"{first}.{rest}", remedy=first.remedy, detail=detail)
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Found:
    """A problem before its line is looked up."""

    place: Place
    sentence: str
    remedy: str


def found(error: ValidationError) -> list[Found]:
    """What pydantic says about a lesson, in our words; a misspelt key comes first.

    A misspelt key also leaves its own name missing, which is the smaller half of the story.
    """
    errors = error.errors(include_url=False)
    unknown = [one for one in errors if one["type"] == "extra_forbidden"]
    others = [one for one in errors if one["type"] != "extra_forbidden"]
    return [found_one(one, Lesson) for one in (*unknown, *others)]


def key_of(place: Place) -> str:
    """'spans[2].open'."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def file_of(key: str) -> str:
    """The file where a key of the top belongs; empty: there is no such key."""
    return next((file for file, model in FILES.items() if key in keys_of(model)), "")


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys that a model takes."""
    return list(model.model_fields)


def found_one(error: ErrorDetails, top: type[BaseModel]) -> Found:
    """One of pydantic's errors in our words.

    Args:
        top: the model of the file, in which the error's `loc` begins.
    """
    place: Place = tuple(part for part in error["loc"] if part != "[key]")
    kind = error["type"]
    if kind == "lesson":
        context = error["ctx"]
        return Found(place, context["sentence"], context["remedy"])
    if kind == "extra_forbidden":
        known = keys_of(_model_at(place[:-1], top))
        listed = f"Keys here: {', '.join(known)}."
        return Found(place, f"there is no such key{meant(str(place[-1]), known)}", listed)
    if kind == "missing":
        return Found(place, "this key is missing", _remedy(place, top))
    message = error["msg"][:1].lower() + error["msg"][1:]
    value = error["input"]
    came = f", but {value!r:.60} came" if isinstance(value, str | int | float) else ""
    return Found(place, message + came, _remedy(place, top))


def _remedy(place: Place, top: type[BaseModel]) -> str:
    """What the schema says about a place, or about the nearest key above it."""
    while place:
        info = _field(_model_at(place[:-1], top), str(place[-1]))
        if info is not None and info.description:
            return f"`{place[-1]}` takes: {info.description}."
        place = place[:-1]
    return "The keys and their values are in lessons/schema."


def _model_at(place: Place, top: type[BaseModel]) -> type[BaseModel]:
    """The model whose keys stand at a place; the top one where there is none."""
    model = top
    named = False
    for part in place:
        if isinstance(part, int) or named:  # an index, or a name that the lesson chose
            named = False
            continue
        info = _field(model, part)
        inner = _inner(info.annotation) if info else None
        if info is None or inner is None:
            return model
        model, named = inner, _is_table(info.annotation)
    return model


def _field(model: type[BaseModel], key: str) -> FieldInfo | None:
    return model.model_fields.get(key)


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as dict[Name, Metric] or Beat | None."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation if issubclass(annotation, BaseModel) else None
    return next((model for arg in get_args(annotation) if (model := _inner(arg))), None)


def _is_table(annotation: Any) -> bool:
    return get_origin(annotation) is dict
