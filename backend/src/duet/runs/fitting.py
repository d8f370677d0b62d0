# SPDX-License-Identifier: GPL-2.0-or-later
"""Choose the recording for a step; frontend/src/derive/recording.ts must choose the same one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log1p

from pydantic import JsonValue

from duet.lessons.document import scene_called
from duet.lessons.load import LessonFolder
from duet.lessons.schema import Scene

Entry = Mapping[str, JsonValue]
"""One entry in a list of recordings (server.interfaces.Recordings)."""
RUNS_OWN = ("duration", "cpus")
"""Roles of knobs that do not matter to a step unless the step sets them."""


def fitting_step(folder: LessonFolder, step: str | None, listing: Sequence[Entry]) -> str | None:
    """Return the name of the recording for a step; None if there are no recordings or steps.

    As on the page, an unknown step counts as the first step.
    """
    scenes = folder.lesson.scenes
    found = scene_called(scenes, step) or next(iter(scenes), None)
    return None if found is None else best_recording(folder, found, listing)


def best_recording(folder: LessonFolder, scene: Scene, listing: Sequence[Entry]) -> str | None:
    """Return the name of the best recording for a scene, or None if there are no recordings.

    The criteria, in order, are the same workload, most of the scene's arms, fewest different knobs,
    nearest knob values, the lesson's clock, and the first position in the list.
    """
    lesson = folder.lesson
    wanted = wanted_params(folder, scene)
    workload = scene.workload or next(iter(lesson.workloads), "")

    def rank(entry: Entry) -> tuple[bool, int, int, float, bool]:
        arms, params = entry["arms"], entry["params"]
        assert isinstance(arms, list) and isinstance(params, dict)
        got = {name: _number(params.get(name), lesson.params[name].default) for name in wanted}
        off = [name for name in wanted if got[name] != wanted[name]]
        return (
            (entry.get("workload") or workload) != workload,
            sum(arm not in arms for arm in scene.arms),
            len(off),
            sum(abs(log1p(wanted[name]) - log1p(got[name])) for name in off),
            entry["clock"] != lesson.clock,
        )

    found = min(listing, key=rank, default=None)
    return None if found is None else str(found["name"])


def wanted_params(folder: LessonFolder, scene: Scene) -> dict[str, int]:
    """Return the knob values of a run in a step: values that the step sets, or else defaults."""
    params = folder.lesson.params
    usual = {name: knob.default for name, knob in params.items() if knob.role not in RUNS_OWN}
    return {
        name: value
        for name, value in {**usual, **scene.params}.items()
        if params[name].applies != "model"
    }


def _number(value: JsonValue, usual: int) -> int:
    return value if isinstance(value, int) else usual
