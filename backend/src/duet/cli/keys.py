# SPDX-License-Identifier: GPL-2.0-or-later
"""Models of what verbs print with `--json`, and the text about their keys in the verb's help.

Without pydantic, because the help of every verb imports this and must appear at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Model = TypeVar("Model")


def key(note: str = "", shape: str = "", per: str = "") -> Any:
    """Declare a key of a document.

    Args:
        note: what the help says about it, in brackets.
        shape: of its value, if that is no model of its own: "{role: url}".
        per: what the keys of a mapping of models are: "arm".
    """
    return dataclasses.field(metadata={"note": note, "shape": shape, "per": per})


def shape_of(model: type) -> str:
    """Describe the keys of a model: "ok (bool), checks: [{name, found}]"."""
    hints = get_type_hints(model)
    parts = []
    for one in dataclasses.fields(model):
        per = one.metadata.get("per", "")
        shape = one.metadata.get("shape") or _nested(hints[one.name], per)
        note = one.metadata.get("note")
        parts.append(one.name + (f": {shape}" if shape else "") + (f" ({note})" if note else ""))
    return ", ".join(parts)


def keys_text(model: type, more: str = "", when: str = "") -> str:
    """Return the epilog of a verb's help.

    Args:
        more: sentences after the keys.
        when: in brackets before them.
    """
    head = f"JSON keys ({when}): " if when else "JSON keys: "
    return f"{head}{shape_of(model)}." + (f" {more}" if more else "")


def from_tree(model: type[Model], tree: Mapping[str, object]) -> Model:
    """Build a model, and the models in it, from a tree of a lower layer.

    Raises:
        TypeError: the tree's keys are not those of the model.
    """
    hints = get_type_hints(model)
    known = {name: _filled(hints.get(name), value) for name, value in tree.items()}
    return model(**known)


def _nested(hint: object, per: str) -> str:
    """Return the shape of the models that a type contains; empty if it contains none."""
    origin, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return f"{{{shape_of(hint)}}}"
    if origin in (Union, UnionType):
        return next((shape for one in inner if (shape := _nested(one, per))), "")
    if origin not in (Sequence, Mapping) or not (shape := _nested(inner[-1], per)):
        return ""
    return f"[{shape}]" if origin is Sequence else f"{{{per}: {shape}}}"


def _filled(hint: object, value: Any) -> object:
    """Build the models in a value of a tree, where its type has them."""
    origin, inner = get_origin(hint), get_args(hint)
    if value is None or not _nested(hint, ""):
        return value
    if isinstance(hint, type) and is_dataclass(hint):
        return from_tree(hint, value)
    if origin in (Union, UnionType):
        return _filled(next(one for one in inner if _nested(one, "")), value)
    if origin is Sequence:
        return [_filled(inner[0], one) for one in value]
    if origin is Mapping:
        return {name: _filled(inner[1], one) for name, one in value.items()}
    return value
