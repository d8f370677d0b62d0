# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet lab` beside a server that runs: scores, export, a grade, deletion."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from duet.base.errors import InputError
from duet.plugins.labs.verb import lab
from tests.plugins.labs.served import call, lab_app
from tests.support.toy_server import SLUG, serving


def do(action: str, name: str = "", json: bool = False, **more: object) -> int:
    given = {"attempt": 0, "points": None, "comment": "", "person": ""} | more
    return lab(action, name, as_json=json, **given)  # type: ignore[arg-type]


def test_the_command_line_works_beside_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DUET_CLASSES_DB", f"sqlite:///{tmp_path / 'classes.sqlite'}")
    body = {"task": "not-the-cause", "answer": {"text": "Both."}, "name": "Ada"}
    path = f"/api/labs/{SLUG}"
    with serving(lab_app(tmp_path)) as address:
        assert call(address, f"{path}/attempts", "ada", body)[0] == 200
        do("list")
        assert SLUG in capsys.readouterr().out
        do("scores", SLUG, json=True)
        (one,) = json.loads(capsys.readouterr().out)["people"]
        do("grade", SLUG, person=one["person"], attempt=1, points=2.0, comment="lengths?")
        capsys.readouterr()
        mine = call(address, f"{path}/mine", "ada")[1]
        do("export", SLUG)
        (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
        do("forget", one["person"])
        left = call(address, f"{path}/scores", "teacher")[1]["people"]
    assert (one["name"], one["broken"]) == ("Ada", "")
    assert one["attempts"][0]["answer"] == {"text": "Both."}
    assert one["tasks"]["not-the-cause"]["state"] == "ungraded"
    assert mine["points"] == 2.0
    assert (row["name"], row["not-the-cause"]) == ("Ada", "2")
    assert left == []


def test_a_mistake_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUET_CLASSES_DB", f"sqlite:///{tmp_path / 'classes.sqlite'}")
    for action, name, said in (
        ("grad", SLUG, "no action"),
        ("scores", "", "needs a lab"),
        ("scores", "02-grace", "no lab '02-grace'"),
        ("grade", SLUG, "a grade needs"),
        ("forget", "nobody", "nobody with the key"),
    ):
        with pytest.raises(InputError, match=said):
            do(action, name)
