# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes on the kernels of arms: what they lack is named, what is not built is left out."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from duet.kernels.image import KernelImage
from duet.kernels.traceable import Functions
from duet.lessons.load import LessonFolder, load
from duet.lessons.schema import Lesson
from duet.lint import probes
from duet.lint.lessons import lint_lesson
from tests.support.planted import SLUG, line_of, not_built, problems


def test_kernels_that_are_not_built_are_said_to_be_left_out(copy: Path) -> None:
    del copy
    names = ", ".join(arm.name for arm in load(SLUG).lesson.arms)
    said = f"whether the probes fit the kernels of {names}, which are not built"
    assert lint_lesson(SLUG)[1] == [said]


def functions_of(lesson: Lesson, without: str) -> Functions:
    """A kernel that has all that the probes name, but for one name."""
    names = {
        match["function"]
        for p in lesson.probes
        if (match := probes.DEFINITION.match(p.define or ""))
    }
    names |= {f"event_{p.event.partition('/')[2]}" for p in lesson.probes if not p.define}
    names |= {"shrinker_srcu"}
    there = sorted(names - {without})
    symbols = [(address, True, name) for address, name in enumerate(there, 1)]
    return Functions(symbols, None, ())


@pytest.mark.parametrize(
    ("without", "sentence"),
    [
        (
            "__cleanup_mnt",
            "the kernel of rwsem and srcu-expedited has no place for a probe on __cleanup_mnt(): "
            "there is no such function; it may be inlined",
        ),
        (
            "event_srcu_gp_state",
            "the kernel of srcu-expedited has no tracepoint rcu/srcu_gp_state: "
            "no event has this name",
        ),
        (
            "shrinker_srcu",
            "the kernel of srcu-expedited has no symbol shrinker_srcu: it is not in System.map",
        ),
    ],
)
def test_what_a_built_kernel_lacks_is_named(
    copy: Path, monkeypatch: pytest.MonkeyPatch, without: str, sentence: str
) -> None:
    """Two arms are built; a probe that is not for an arm is not looked for there."""

    def find(folder: LessonFolder, arm: str, settings: object) -> KernelImage:
        del folder, settings
        if arm not in ("rwsem", "srcu-expedited"):
            not_built()
        return cast(KernelImage, arm)

    lesson = load(SLUG).lesson
    monkeypatch.setattr(probes, "find_image", find)
    monkeypatch.setattr(probes, "read_functions", lambda image: functions_of(lesson, without))
    found = problems()
    assert {p.sentence for p in found} == {sentence}
    assert all(without.removeprefix("event_") in line_of(copy, p) for p in found)
