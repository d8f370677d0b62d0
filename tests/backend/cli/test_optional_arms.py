# SPDX-License-Identifier: GPL-2.0-or-later
"""An arm that is optional: no command takes it unless it is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duet.cli.arguments import read_request
from duet.cli.build import wanted_arms
from duet.lessons import load as lessons
from duet.lessons.load import LessonFolder, load

SLUG = "02-grace-periods"
OPTIONAL = "srcu-expedited"


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> LessonFolder:
    """The lesson with one arm marked optional."""
    whole = load(SLUG)
    arms = tuple(
        arm.model_copy(update={"optional": arm.optional or arm.name == OPTIONAL})
        for arm in whole.lesson.arms
    )
    marked = replace(whole, lesson=whole.lesson.model_copy(update={"arms": arms}))
    monkeypatch.setattr(lessons, "load", lambda slug: marked)
    return marked


def test_a_build_leaves_it_out_unless_it_is_asked_for(folder: LessonFolder) -> None:
    every = [arm.name for arm in folder.lesson.arms]
    assert OPTIONAL in every
    assert [spec.name for spec in wanted_arms([folder], [])] == list(folder.usual_arms)
    assert [spec.name for spec in wanted_arms([folder], [OPTIONAL])] == [OPTIONAL]
    assert [spec.name for spec in wanted_arms([folder], [], optional=True)] == every


def test_runs_and_measurements_leave_it_out_unless_it_is_named(folder: LessonFolder) -> None:
    assert read_request(SLUG, "", "", "", []).arms == folder.usual_arms
    assert OPTIONAL not in folder.usual_arms
    assert read_request(SLUG, f"rwsem,{OPTIONAL}", "", "", []).arms == ("rwsem", OPTIONAL)
