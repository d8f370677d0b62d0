# SPDX-License-Identifier: GPL-2.0-or-later
"""A visitor's request as the scheduler takes it: key, expected time, name of the run."""

from __future__ import annotations

from duet.lessons.roles import duration_s
from duet.runs.request import Job, JudgeRequest, MeasureRequest, run_of
from duet.serve.archive import new_name
from duet.serve.waiting_line import Request

BOOT_S = 15.0
"""What a run takes beyond its own seconds, until runs have shown what they take here."""
USUAL_SECONDS = 10
"""Of a lesson without that parameter."""


def queue_request(owner: str, job: Job, number: int, tries: bool = False) -> Request:
    """What the scheduler needs of a visitor's request; equal ones have equal keys.

    Args:
        tries: a member of a class tries it; it replaces nothing that this visitor waits for.
    """
    what = run_of(job)
    repeats = job.repeats if isinstance(job, MeasureRequest) else 0
    judged = (job.challenge, job.arm) if isinstance(job, JudgeRequest) else ()
    alone = bool(repeats or judged)
    slug = what.folder.slug
    seconds = duration_s(what.folder.lesson, what.params, USUAL_SECONDS) + BOOT_S
    return Request(
        run_id=f"measure-{number}" if alone else f"kept:{slug}:{new_name()}",
        owner=owner,
        key=(
            *(slug, repeats, what.workload, what.clock, *judged),
            *(frozenset(what.arms), frozenset(what.missing), frozenset(what.params.items())),
        ),
        kind=(slug, what.clock, alone, *judged[:1]),
        expected_s=seconds * max(1, (repeats or len(judged)) * len(what.arms)),
        alone=alone,
        judges=bool(judged),
        sort=("try", number) if tries else bool(judged),
    )
