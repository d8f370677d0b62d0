# SPDX-License-Identifier: GPL-2.0-or-later
"""One YAML file of a lesson: its values, and the line of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from duet.lessons.problems import LessonError, Problem
from duet.lessons.schema import Place

# libyaml reads a lesson in a tenth of the time; every verb reads them all.
SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Document:
    """A file that was read.

    Args:
        name: as problems name it, e.g. 'lessons/NN-slug/trace.yaml'.
        values: key -> value.
        root: the file's nodes, which know their lines; None: the file says nothing.
    """

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    root: yaml.MappingNode | None = None

    def line(self, place: Place) -> int:
        """The line of a value, from 1; of the nearest above it where there is none."""
        node: yaml.Node | None = self.root
        line = 1
        for part in place:
            key, node = _step(node, part)
            if key is None:
                break
            line = key.start_mark.line + 1
        return line

    def says(self, place: Place) -> bool:
        """Whether there is a value at this place."""
        node: yaml.Node | None = self.root
        for part in place:
            node = _step(node, part)[1]
        return node is not None


def read(path: Path, name: str) -> Document:
    """Read a file.

    Args:
        name: as problems name it.

    Raises:
        LessonError: not text, not YAML, not keys with values, or a key that stands twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        sentence = "this is not UTF-8 text"
        raise _wrong(name, line, sentence, "Save the file as UTF-8.") from error
    try:
        root, values = _parsed(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        # A mark at the end of the file may stand behind its last line.
        line = min(mark.line + 1, text.count("\n") + 1) if mark else 1
        what = getattr(error, "problem", None) or str(error)
        remedy = "Correct that line; a text with ': ' or ' #' in it needs quotes."
        raise _wrong(name, line, f"this is not YAML: {what}", remedy) from error
    if root is None or values is None:
        return Document(name)
    if not isinstance(root, yaml.MappingNode):
        remedy = "Write it as `key: value` lines."
        raise _wrong(name, 1, "the file has no keys at its top", remedy)
    twice = [
        Problem(name, key.start_mark.line + 1, "", f"the key '{key.value}' stands twice", _ONE)
        for key in _repeated(root, set())
    ]
    if twice:
        raise LessonError(twice)
    return Document(name, values, root)


_ONE = "Leave one of them."


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
    """What stands for the line of a part, and the part's value; None and None: it is not there."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if _is_text(key) and key.value == str(part):
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None, None


def _repeated(node: yaml.Node, seen: set[int]) -> Iterator[yaml.ScalarNode]:
    """Keys that their mapping has twice; YAML would take the last and be silent."""
    if id(node) in seen:  # an alias
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
