# SPDX-License-Identifier: GPL-2.0-or-later
"""What a member asks to try, as it is stored: with what was changed of the step. Pure."""

from __future__ import annotations

import time

from duet.classes.try_records import TryFacts
from duet.lessons.own import are_changed
from duet.lessons.schema import Lesson, Scene
from duet.runs.sources import RunRequest
from duet.server.classroom.refusals import CLOSED, refusal

SUMMARY_CHARS = 300


def step_of(lesson: Lesson, step: str) -> Scene:
    """A step of a lesson.

    Raises:
        InputError: it has none of that name.
    """
    found = next((scene for scene in lesson.scenes if scene.id == step), None)
    if found is None:
        raise refusal(
            CLOSED, f"the lesson has no step '{step:.60}'.", "Choose a step of the lesson."
        )
    return found


def turned(lesson: Lesson, scene: Scene, params: dict[str, int], clock: str) -> dict[str, int]:
    """Knobs that stand elsewhere than the step puts them on that clock."""
    usual = {name: param.default for name, param in lesson.params.items()} | scene.params
    if clock == "count":
        if scene.on_count is not None:
            usual |= scene.on_count.params
        # There is one CPU on it, whatever the knob says.
        usual |= {n: params[n] for n, p in lesson.params.items() if p.role == "cpus"}
    return {name: value for name, value in params.items() if usual.get(name) != value}


def facts_of(request: RunRequest, step: str, number: int, member: str) -> TryFacts:
    """A new try; its run is not known yet.

    Raises:
        InputError: there is no such step.
    """
    folder = request.folder
    arms = (*request.arms, *request.missing)
    changed = [folder.arm(arm).summary or folder.arm(arm).title for arm in are_changed(arms)]
    scene = step_of(folder.lesson, step)
    return TryFacts(
        number=number,
        lesson=folder.slug,
        step=step,
        workload=request.workload,
        clock=request.clock,
        arms=arms,
        params=dict(request.params),
        turned=turned(folder.lesson, scene, request.params, request.clock),
        summary="; ".join(changed)[:SUMMARY_CHARS],
        run_id="",
        asked_s=time.time(),
        makers=(member,),
    )
