# SPDX-License-Identifier: GPL-2.0-or-later
"""Knobs by their role, whatever a lesson calls them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from duet.lessons.schema import NO_ROWS, KnobRole, Lesson, Workload

USUAL_CPUS = 2
"""vCPUs of a guest whose lesson has no knob for them."""


def knob(lesson: Lesson, role: KnobRole) -> str | None:
    """Name of the knob that has this role; None: the lesson has none."""
    return next((name for name, param in lesson.params.items() if param.role == role), None)


def duration_s(lesson: Lesson, params: Mapping[str, int], usual: int) -> int:
    """How long the workload runs, in seconds; `usual` where no knob says it."""
    return _value(lesson, params, "duration", usual)


def cpus(lesson: Lesson, params: Mapping[str, int]) -> int:
    """vCPUs of each guest (check_params makes it 1 on the count clock)."""
    return _value(lesson, params, "cpus", USUAL_CPUS)


def rows(lesson: Lesson, workload: Workload, params: Mapping[str, int]) -> int:
    """Rows to reserve: the threads that work side by side; 0 where no knob or no row says it."""
    return 0 if workload.rows == NO_ROWS else _value(lesson, params, "threads", 0)


def _value(lesson: Lesson, params: Mapping[str, int], role: KnobRole, usual: int) -> int:
    name = knob(lesson, role)
    return usual if name is None else params.get(name, usual)
