# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers for the models of `--json` output, and for the help text about the models' keys.

This module does not use pydantic, because every verb's help imports the module and must appear
without delay.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Model = TypeVar("Model")


def key(note: str = "", shape: str = "", per: str = "") -> Any:
    """Declare a key in a JSON document.

    Args:
        note: text about the key, printed in brackets in the help.
        shape: describes the value, such as "{role: url}". Not needed if the value is a model.
        per: if the value maps keys to models, the meaning of these keys, such as "arm".
    """
    return dataclasses.field(metadata={"note": note, "shape": shape, "per": per})


def shape_of(model: type) -> str:
    """Describe a model's keys, such as "ok (bool), checks: [{name, found}]"."""
    hints = get_type_hints(model)
    parts = []
    for one in dataclasses.fields(model):
        per = one.metadata.get("per", "")
        shape = one.metadata.get("shape") or _nested(hints[one.name], per)
        note = one.metadata.get("note")
        parts.append(one.name + (f": {shape}" if shape else "") + (f" ({note})" if note else ""))
    return ", ".join(parts)


def keys_text(model: type, more: str = "", when: str = "") -> str:
    """Return the epilog of a verb's help, which lists the keys.

    Args:
        more: sentences to print after the keys.
        when: the option that selects this output, printed in brackets before the keys.
    """
    head = f"JSON keys ({when}): " if when else "JSON keys: "
    return f"{head}{shape_of(model)}." + (f" {more}" if more else "")


def from_tree(model: type[Model], tree: Mapping[str, object]) -> Model:
    """Build a model, and the models in it, from nested dicts and lists.

    Raises:
        TypeError: the tree's keys differ from the model's.
    """
    hints = get_type_hints(model)
    known = {name: _filled(hints.get(name), value) for name, value in tree.items()}
    return model(**known)


def _nested(hint: object, per: str) -> str:
    """Return the shape of the models that a type contains, or "" if it contains none."""
    origin, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return f"{{{shape_of(hint)}}}"
    if origin in (Union, UnionType):
        return next((shape for one in inner if (shape := _nested(one, per))), "")
    if origin not in (Sequence, Mapping) or not (shape := _nested(inner[-1], per)):
        return ""
    return f"[{shape}]" if origin is Sequence else f"{{{per}: {shape}}}"


def _filled(hint: object, value: Any) -> object:
    """Convert each dict in a value to the model that the type hint contains, if any."""
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
