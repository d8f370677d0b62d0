# SPDX-License-Identifier: GPL-2.0-or-later
"""A lesson compiled for one arm and one workload."""

from __future__ import annotations

from duet.lessons.load import LessonFolder
from duet.lessons.schema import Lesson
from duet.session.program import Act, Program, compile_program

SYMBOLS = {"shrinker_srcu": 1, "shrinker_rwsem": 2, "namespace_sem": 3}


def compiled(lesson: Lesson, workload: str) -> Program:
    ids: dict[str, int] = {}

    def string_id(text: str) -> int:
        return ids.setdefault(text, len(ids))

    return compile_program(lesson, "srcu", lesson.workloads[workload], SYMBOLS, string_id)


def ends(program: Program) -> dict[Act, str]:
    """The events that open and close an operation."""
    acts = {name: [act for act, _ in program.acts[code]] for name, code in program.codes.items()}
    both = (Act.OP_OPEN, Act.OP_CLOSE)
    return {act: name for name, several in acts.items() for act in several if act in both}


def test_an_operation_is_the_lesson_s_or_the_workload_s_own(lesson02: LessonFolder) -> None:
    tree = lesson02.lesson.model_dump()
    walk = {"name": "walk", "plural": "walks", "open": "shrink", "close": "shrink_ret"}
    tree["workloads"]["stress-ng"]["operation"] = walk
    lesson = Lesson.model_validate(tree)
    assert [one and one.name for one in map(lesson.operation_of, lesson.workloads)] == [
        "umount",
        "walk",
    ]
    assert ends(compiled(lesson, "storm")) == {
        Act.OP_OPEN: "duet/sys_umount",
        Act.OP_CLOSE: "duet/cleanup_ret",
    }
    assert ends(compiled(lesson, "stress-ng")) == {
        Act.OP_OPEN: "duet/shrink",
        Act.OP_CLOSE: "duet/shrink_ret",
    }


def test_an_operation_that_no_event_marks(lesson02: LessonFolder) -> None:
    tree = lesson02.lesson.model_dump()
    tree["workloads"]["storm"]["operation"] = {"name": "loop", "plural": "loops"}
    assert ends(compiled(Lesson.model_validate(tree), "storm")) == {}
