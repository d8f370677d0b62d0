# SPDX-License-Identifier: GPL-2.0-or-later
"""Parse one YAML file of a lesson into values and their line numbers."""

from __future__ import annotations

import difflib
import re
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from duet.base.errors import InputError
from duet.lessons.schema import FILES, Lesson, Place, Scene

# Find the lesson or step that a user means by a number or a part of its name. Pure.
#
# The page uses the same rules as this part (frontend/src/base/typed.ts).

NAME: Final = re.compile(r"^(?:(\d+)(?:-|$))?(.*)$")
TYPED: Final = re.compile(r"^(?:lesson|step)-?(?=\d)")


def plain(word: str) -> str:
    """Normalise a typed word to the form of names."""
    text = "-".join(word.strip().lower().split()).rstrip("/.,;:)")
    return TYPED.sub("", text)


def meant_by(word: str, names: Iterable[str]) -> str | None:
    """Return the name that a typed word means; None unless exactly one name fits.

    The word may be a complete name, the name's number, the name's beginning (with or without the
    number), or the beginning of a later word in the name.
    """
    known, text = list(names), plain(word)
    if text in known:
        return text
    number, begin = _parts(text)
    parts = {name: _parts(name) for name in known}
    fit = [name for name in known if number is None or parts[name][0] == number]
    first = [name for name in fit if parts[name][1].startswith(begin)]
    later = [name for name in fit if f"-{begin}" in parts[name][1]]
    found = first or later
    return found[0] if text and len(found) == 1 else None


def scene_called(scenes: Sequence[Scene], word: str | None) -> Scene | None:
    """Return the step that a word in a URL names, or None.

    The word may be the current or a former name of the step, its position counted from 1, or a
    short form (see meant_by).
    """
    if not word:
        return None
    named = next((one for one in scenes if one.has_name(word)), None)
    text = plain(word)
    if named is not None or not text:
        return named
    if text.isdecimal():
        place = int(text)
        return scenes[place - 1] if 0 < place <= len(scenes) else None
    name = meant_by(word, (one.id for one in scenes))
    return next((one for one in scenes if one.id == name), None)


def _parts(name: str) -> tuple[int | None, str]:
    match = NAME.match(name)
    assert match is not None
    return int(match[1]) if match[1] else None, match[2]


# Suggestions for misspelt names.


def meant(word: str, known: Iterable[str]) -> str:
    """Return " (did you mean 'storm'?)", or "" if no known name is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


# Problems in a lesson's files, each with file, line, key, sentence and remedy.


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in a file.

    Args:
        file: e.g. 'lessons/NN-slug/trace.yaml'.
        line: line number, from 1.
        key: e.g. 'spans[2].open'; empty for the whole file.
        sentence: what was expected and what was found, without a full stop.
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
    """A lesson cannot be used. The message is the first problem; `problems` has all of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first, more = problems[0], len(problems) - 1
        rest = f" ({more} more: ./duet lint)" if more else ""
        detail = "\n".join(f"{p}. {p.remedy}" for p in problems)
        super().__init__(f"{first}.{rest}", remedy=first.remedy, detail=detail)
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Found:
    """Problem with a known place (keys), but without file and line."""

    place: Place
    sentence: str
    remedy: str


def found(error: ValidationError) -> list[Found]:
    """Rephrase pydantic's errors about a lesson. Errors about unknown keys come first.

    A misspelt key causes two errors, because the correct key is also missing. The error about the
    unknown key explains both.
    """
    errors = error.errors(include_url=False)
    unknown = [one for one in errors if one["type"] == "extra_forbidden"]
    others = [one for one in errors if one["type"] != "extra_forbidden"]
    return [found_one(one, Lesson) for one in (*unknown, *others)]


def key_of(place: Place) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def file_of(key: str) -> str:
    """Return the file to which a top-level key belongs; "" if there is no such key."""
    return next((file for file, model in FILES.items() if key in keys_of(model)), "")


def keys_of(model: type[BaseModel]) -> list[str]:
    """Return the keys that a model allows."""
    return list(model.model_fields)


def found_one(error: ErrorDetails, top: type[BaseModel]) -> Found:
    """Rephrase one of pydantic's errors.

    Args:
        top: model of the file; the error's `loc` is relative to this model.
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
    came = f", not {value!r:.60}" if isinstance(value, str | int | float) else ""
    return Found(place, message + came, _remedy(place, top))


def _remedy(place: Place, top: type[BaseModel]) -> str:
    """Return the schema's description of a key, or of the nearest parent key that has one."""
    while place:
        info = _field(_model_at(place[:-1], top), str(place[-1]))
        if info is not None and info.description:
            return f"`{place[-1]}` takes: {info.description}."
        place = place[:-1]
    return "The keys and their values are in lessons/schema."


def _model_at(place: Place, top: type[BaseModel]) -> type[BaseModel]:
    """Return the model of the keys at a place, or else at the nearest parent with a model."""
    model = top
    named = False
    for part in place:
        # An index does not change the model, and neither does a name that the lesson has chosen.
        if isinstance(part, int) or named:
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
    """Return the model inside an annotation such as dict[Name, Metric] or Beat | None."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation if issubclass(annotation, BaseModel) else None
    return next((model for arg in get_args(annotation) if (model := _inner(arg))), None)


def _is_table(annotation: Any) -> bool:
    return get_origin(annotation) is dict


# libyaml is ten times as fast as PyYAML's own parser, and every command reads all lessons.
SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Document:
    """A parsed YAML file.

    Args:
        name: name that problems show, e.g. 'lessons/NN-slug/trace.yaml'.
        values: the file's values by key.
        root: the file's root node; nodes contain their line numbers. None if the file is empty.
    """

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    root: yaml.MappingNode | None = None

    def line(self, place: Place) -> int:
        """Return a value's line number, from 1.

        If the value is missing, return the line number of the nearest parent key.
        """
        node: yaml.Node | None = self.root
        line = 1
        for part in place:
            key, node = _step(node, part)
            if key is None:
                break
            line = key.start_mark.line + 1
        return line

    def says(self, place: Place) -> bool:
        """Return whether the file has a value at this place."""
        node: yaml.Node | None = self.root
        for part in place:
            node = _step(node, part)[1]
        return node is not None


def read(path: Path, name: str) -> Document:
    """Read and parse a file.

    Args:
        name: the file's name in problems.

    Raises:
        LessonError: the file is not text or not YAML, has no mapping at the top, or has a duplicate
            key.
    """
    return parse(path.read_bytes(), name)


def parse(content: bytes, name: str) -> Document:
    """Parse the content of a file, as `read` does."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        sentence = "this is not UTF-8 text"
        raise _wrong(name, line, sentence, "Save the file in UTF-8 encoding.") from error
    try:
        root, values = _parsed(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        # If an error is at the end of the file, YAML may report a line after the last line.
        line = min(mark.line + 1, text.count("\n") + 1) if mark else 1
        what = getattr(error, "problem", None) or str(error)
        remedy = "Correct that line. A text that contains ': ' or ' #' needs quotes."
        raise _wrong(name, line, f"this is not YAML: {what}", remedy) from error
    if root is None or values is None:
        return Document(name)
    if not isinstance(root, yaml.MappingNode):
        remedy = "Write it as `key: value` lines."
        raise _wrong(name, 1, "the file has no keys at its top level", remedy)
    twice = [
        Problem(name, key.start_mark.line + 1, "", f"the key '{key.value}' occurs twice", _ONE)
        for key in _repeated(root, set())
    ]
    if twice:
        raise LessonError(twice)
    return Document(name, values, root)


_ONE = "Keep one of them."


def _parsed(text: str) -> tuple[yaml.Node | None, Any]:
    loader = SafeLoader(text)
    try:
        root = loader.get_single_node()
        return root, None if root is None else loader.construct_document(root)
    finally:
        loader.dispose()


def _is_text(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode)


def _step(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Return the node with a part's line number, and the part's value; (None, None) if missing."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if _is_text(key) and key.value == str(part):
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None, None


def _repeated(node: yaml.Node, seen: set[int]) -> Iterator[yaml.ScalarNode]:
    """Yield keys that occur twice in a mapping; YAML would silently use the last value."""
    if id(node) in seen:  # the node is an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _repeated(value, seen)
    if isinstance(node, yaml.MappingNode):
        names: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in names and key.value != "<<":
                    yield key
                names.add(key.value)
            yield from _repeated(value, seen)


def _wrong(name: str, line: int, sentence: str, remedy: str) -> LessonError:
    return LessonError([Problem(name, line, "", sentence, remedy)])
