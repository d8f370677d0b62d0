# SPDX-License-Identifier: GPL-2.0-or-later
"""What a viewer may do to a live run: a lesson's acts, as lines for its workload. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from duet.errors import InputError
from duet.lessons.schema import Lesson


def act_line(
    lesson: Lesson, workload: str, name: str, value: int, params: Mapping[str, int]
) -> str:
    """The line that does it.

    Args:
        workload: of the run.
        params: of the run; the largest value may be one of them.

    Raises:
        InputError: no such act for this workload, or a value out of its range.
    """
    acts = {n: act for n, act in lesson.acts.items() if act.workload == workload}
    act = acts.get(name)
    if act is None:
        raise InputError(
            f"the workload {workload} has no act '{name:.60}'.",
            remedy=f"It has: {', '.join(acts)}." if acts else "It takes none; choose another.",
        )
    most = params[act.max_param] if act.max_param else act.max
    if value < act.min or (most is not None and value > most):
        raise InputError(
            f"{name} takes a number from {act.min} to {most}, but {value} came.",
            remedy="Choose one within.",
        )
    return act.say.format(value=value)
