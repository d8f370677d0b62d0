# SPDX-License-Identifier: GPL-2.0-or-later
"""The committed message schema is what messages.py says, and covers both directions."""

from __future__ import annotations

import json
import typing
from pathlib import Path

import pytest

from duet.stream import messages
from duet.stream.schema import PLACE, schema_text


def members(union: object) -> set[str]:
    inner = typing.get_args(union)[0]
    return {model.__name__ for model in typing.get_args(inner)}


def test_schema_has_not_drifted(root: Path) -> None:
    committed = (root / PLACE).read_text(encoding="utf-8")
    assert committed == schema_text(), "run: python -m duet.stream.schema"


@pytest.mark.parametrize(
    ("direction", "union"),
    [("server", messages.ServerMessage), ("client", messages.ClientMessage)],
)
def test_every_message_is_in_the_schema(direction: str, union: object) -> None:
    tree = json.loads(schema_text())
    named = {ref["$ref"].rsplit("/", 1)[1] for ref in tree[direction]["oneOf"]}
    assert named == members(union)
    for name in named:
        assert tree["$defs"][name]["additionalProperties"] is False
        assert "type" in tree["$defs"][name]["required"]


def test_a_server_message_always_has_all_its_keys() -> None:
    tree = json.loads(schema_text())
    for name in members(messages.ServerMessage):
        model = tree["$defs"][name]
        assert set(model["required"]) == set(model["properties"])
