# SPDX-License-Identifier: GPL-2.0-or-later
"""Before a measurement of layouts the links that are missing are made, and no others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from duet.cli import arguments as module
from duet.kernels import KernelSettings
from duet.kernels.links import Layouts, relink
from duet.lessons.load import LessonFolder
from duet.measure import MeasurePlan


def test_arms_whose_links_are_missing_are_linked(
    lesson02: LessonFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(module, "build_with_bar", lambda *words: asked.append(words))
    monkeypatch.setattr(module, "install_sources", lambda *_: None)
    monkeypatch.setattr(module, "plan", lambda spec, settings: spec.name)
    monkeypatch.setattr(Layouts, "find_stored", lambda self, key, settings: key == "rwsem" or None)
    settings = KernelSettings.default()
    params = lesson02.check_params({}, "wall")
    without = MeasurePlan(lesson02, ("rwsem", "srcu"), "storm", "wall", params, 5)
    module.link_layouts(without, settings)
    assert asked == []
    module.link_layouts(replace(without, layouts=5), settings)
    ((todo, given, work),) = asked
    assert [spec.name for spec in todo] == ["srcu"]
    assert given is settings
    assert (work.func, work.keywords) == (relink, {"count": 5})
    module.link_layouts(replace(without, arms=("rwsem",), layouts=5), settings)
    assert len(asked) == 1, "nothing is missing"
