# SPDX-License-Identifier: GPL-2.0-or-later
"""The committed schema is what the models say, covers both directions, and any change shows."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import create_model

from duet import messages
from duet.api import bodies, contract
from duet.api.contract import PLACE, schema_text
from duet.messages.lesson import NumbersLesson

GENERATED = ("contract.gen.ts", "contract.checks.gen.ts")


def test_schema_has_not_drifted(root: Path) -> None:
    committed = (root / PLACE).read_text(encoding="utf-8")
    assert committed == schema_text(), "run: make contract"


@pytest.mark.parametrize(
    ("direction", "kind"),
    [("server", messages.ServerMessage), ("client", messages.ClientMessage)],
)
def test_every_message_is_in_the_schema(direction: str, kind: type[messages.Tagged]) -> None:
    tree = json.loads(schema_text())
    assert tree[direction] == {tag: model.__name__ for tag, model in messages.models(kind).items()}
    for name in tree[direction].values():
        assert tree["$defs"][name]["additionalProperties"] is False
        assert "type" in tree["$defs"][name]["required"]


def test_a_server_message_always_has_all_its_keys() -> None:
    tree = json.loads(schema_text())
    for name in (*tree["server"].values(), *tree["lessons"]):
        model = tree["$defs"][name]
        assert set(model["required"]) == set(model["properties"])


CHANGES: dict[str, dict[str, Any]] = {
    "a nullability": {"boot_s": (float, 0.0)},
    "a type": {"pid": (str | None, None)},
    "a new field": {"mood": (str, "good")},
    "a word": {"phase": (Literal["waiting", "asleep"], "waiting")},
}


def changed(monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any]) -> None:
    """The contract where `lane` has other fields."""
    other = create_model("Lane", __base__=messages.Lane, **fields)
    real = messages.models

    def swapped(kind: type[messages.Tagged]) -> dict[str, Any]:
        return {
            tag: other if model is messages.Lane else model for tag, model in real(kind).items()
        }

    monkeypatch.setattr(messages, "models", swapped)


@pytest.mark.parametrize("fields", CHANGES.values(), ids=CHANGES)
def test_a_change_of_a_model_is_drift(
    fields: dict[str, Any],
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["contract", "--check"])
    assert contract.main() == 0
    changed(monkeypatch, fields)
    assert contract.main() == 2
    assert "make contract" in capsys.readouterr().err


def test_a_change_of_a_body_or_of_a_lesson_is_drift(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed = (root / PLACE).read_text(encoding="utf-8")
    for of, name, model in (
        (bodies, "HTTP", bodies.Deleted),
        (contract, "LESSONS", NumbersLesson),
    ):
        other = create_model(model.__name__, __base__=model, extra=(int | None, None))
        with monkeypatch.context() as patch:
            all_ = getattr(of, name)
            patch.setattr(of, name, tuple(other if m is model else m for m in all_))
            assert schema_text() != committed


@pytest.mark.parametrize("fields", CHANGES.values(), ids=CHANGES)
def test_the_page_s_files_follow_the_schema(
    fields: dict[str, Any], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("node") is None or not (root / "frontend/node_modules").exists():
        pytest.skip("node or the page's tools are missing: setup.sh page")
    frontend, place = tmp_path / "frontend", tmp_path / PLACE
    shutil.copytree(root / "frontend/tools", frontend / "tools")
    shutil.copytree(root / PLACE.parent, place.parent)
    (frontend / "node_modules").symlink_to(root / "frontend/node_modules")
    shutil.copy(root / "frontend/package.json", frontend)

    def generate(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["node", "tools/contract.ts", "--no-views", *words],
            **{"cwd": frontend, "capture_output": True, "text": True, "timeout": 300},
        )

    assert (found := generate("--check")).returncode == 0, found.stderr
    changed(monkeypatch, fields)
    place.write_text(schema_text(), encoding="utf-8")
    refused = generate("--check")
    assert refused.returncode == 2
    assert all(name in refused.stderr for name in GENERATED)
    assert generate().returncode == 0
    assert generate("--check").returncode == 0
