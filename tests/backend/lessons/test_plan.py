# SPDX-License-Identifier: GPL-2.0-or-later
"""Braces of a lesson are filled in, or refused in a sentence."""

from __future__ import annotations

import pytest

from duet.base.errors import InputError
from duet.lessons.load import LessonFolder
from duet.lessons.plan import command, filled


def test_a_knob_that_does_not_exist_is_refused(lesson02: LessonFolder) -> None:
    storm = lesson02.lesson.workloads["storm"]
    wrong = storm.model_copy(update={"run": "storm --hogs {hogz}"})
    absent = (
        r"cannot be filled in: it names a value that does not exist, "
        r"or its braces do not match \(hogz\)"
    )
    with pytest.raises(InputError, match=absent) as reported:
        command(wrong, lesson02.check_params({}))
    assert "hogs, " in reported.value.remedy


def test_braces_that_do_not_match_are_refused() -> None:
    with pytest.raises(InputError, match="cannot be filled in"):
        filled("sh -c {", {})
