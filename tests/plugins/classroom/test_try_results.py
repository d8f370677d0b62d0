# SPDX-License-Identifier: GPL-2.0-or-later
"""The one number of a tried run, and why it has none: out of what its lanes have said."""

from __future__ import annotations

from duet import messages as m
from duet.lessons import load as lesson_cache
from duet.lessons.own import with_own
from duet.messages.codec import pack, pack_line
from duet.plugins.classroom.tries import (
    FAILED,
    STOPPED,
    compared,
    failed_lanes,
    result_of,
    sentence_of,
)
from duet.plugins.classroom.try_parts import turned
from duet.stream.hub import RunLog

SLUG = "02-grace-periods"
RUN = f"kept:{SLUG}:run-1"


def log(phase: m.RunPhase, **lanes: str) -> RunLog:
    """A run whose lanes have printed so many umounts/s; a lane that says no number has failed."""
    made = RunLog(RUN, SLUG)
    arms = [name.replace("_", "-") for name in lanes]
    made.add(
        pack(
            m.Run(
                run_id=RUN,
                lesson=SLUG,
                clock="wall",
                source="live",
                params={},
                phase=phase,
                workload="storm",
                arms=arms,
            )
        )
    )
    for number, (arm, said) in enumerate(zip(arms, lanes.values(), strict=True)):
        fine = said.isdecimal()
        lane = m.Lane(
            run_id=RUN, arm=arm, phase="done" if fine else "failed", message="" if fine else said
        )
        made.add(pack(lane))
        if fine:
            text = f"storm: umounts=1 per_s={said}"
            line = m.Line(run_id=RUN, arm=arm, stream="out", text=text, t_ns=0.0)
            made.add(pack_line(line, number))
    return made


def values(made: RunLog) -> tuple[list[tuple[str, float]], float | None]:
    folder = lesson_cache.find(SLUG)
    for arm in made.lanes():
        folder = with_own(folder, arm) if arm.startswith("own-") else folder
    result = result_of(made, folder, "storm", "wall")
    return [(lane["arm"], lane["value"]) for lane in result["lanes"]], result["ratio"]


def test_two_lanes_are_compared_and_a_changed_patch_with_what_it_changes() -> None:
    assert values(log("done", rwsem="900", srcu="180")) == ([("rwsem", 900), ("srcu", 180)], 0.2)
    own = log("done", rwsem="900", srcu="180", own_srcu_0123456789="360")
    assert values(own) == ([("srcu", 180), ("own-srcu-0123456789", 360)], 2.0)
    assert values(log("done", rwsem="900")) == ([("rwsem", 900)], None)
    assert values(log("done", rwsem="0", srcu="180"))[1] is None
    assert compared(["own-srcu-0123456789"]) == ["own-srcu-0123456789"]


def test_a_run_says_why_it_has_no_number_or_but_one() -> None:
    assert sentence_of(log("done", rwsem="900", srcu="180")) == ""
    partly = log("done", rwsem="900", srcu="QEMU ended.")
    assert sentence_of(partly) == ""
    assert failed_lanes(partly) == "The lane srcu failed. QEMU ended."
    assert values(partly) == ([("rwsem", 900)], None)
    assert sentence_of(log("failed", srcu="QEMU ended.")) == "The lane srcu failed. QEMU ended."
    assert sentence_of(log("stopped", rwsem="900")) == STOPPED
    assert sentence_of(RunLog(RUN, SLUG)) == FAILED


def test_what_was_turned_is_what_stands_elsewhere_than_the_step_puts_it() -> None:
    lesson = lesson_cache.find(SLUG).lesson
    step = next(scene for scene in lesson.scenes if scene.id == "three-hogs")
    usual = {name: param.default for name, param in lesson.params.items()}
    assert turned(lesson, step, usual, "wall") == {}
    assert turned(lesson, step, usual | {"hogs": 9}, "wall") == {"hogs": 9}
    assert turned(lesson, step, usual | {"hogs": 6, "vcpus": 1}, "count") == {}
