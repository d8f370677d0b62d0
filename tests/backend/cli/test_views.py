# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet views`: the names that the page's own code gave, and an example that is a step."""

from __future__ import annotations

import json

import pytest
import yaml

from duet.base.errors import InputError
from duet.cli.views import views
from duet.lessons.load import load, slugs
from duet.lessons.schema import Scene


def test_every_lesson_is_the_example_of_its_view(capsys: pytest.CaptureFixture[str]) -> None:
    assert views(None, as_json=True) == 0
    reported = json.loads(capsys.readouterr().out)
    by_view: dict[str, list[str]] = {}
    for slug in slugs():
        by_view.setdefault(load(slug).lesson.view or "", []).append(slug)
    by_view.pop("", None)
    assert by_view
    for kind, own in by_view.items():
        assert reported["views"][kind]["lessons"] == own
    views(None, as_json=False)
    listed = capsys.readouterr().out
    assert all(f"{kind}  (example: {own[0]})" in listed for kind, own in by_view.items())


def test_one_view_has_its_needs_its_names_and_a_step_that_parses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert views("inode-flow", as_json=False) == 0
    out = capsys.readouterr().out
    heads = [line for line in out.splitlines() if line and not line.startswith(" ")]
    assert heads == [
        "inode-flow", "needs", "points", "sentence of a step", "moment of a step",
        "show of a step", "metric of a prediction", "toy of a step", "quantity of a reference",
        "focus of a step", "counts", "example: a step of 03-inode-recycling",
    ]  # fmt: skip
    for name in ("danger", "ages", "walker", "sweep", "early_share", "files_per_s", "hold"):
        assert f"\n  {name} " in out
    _, _, step = out.partition("example: a step of 03-inode-recycling\n")
    (tree,) = yaml.safe_load(step)
    assert Scene.model_validate(tree) == load("03-inode-recycling").lesson.scenes[0]


def test_a_view_that_does_not_exist_names_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        views("hogrows", as_json=False)
    assert caught.value.sentence == "there is no view 'hogrows' (did you mean 'hog-rows'?)."
