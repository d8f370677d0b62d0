# SPDX-License-Identifier: GPL-2.0-or-later
"""How far changes are, as the `changed` messages that the pages of their visitors get."""

from __future__ import annotations

import time
from typing import get_args

from duet.kernels import BuildProgress, Phase
from duet.serve.build_messages import TELL_EVERY_S
from duet.serve.own_queue import OwnBuild, OwnQueue
from duet.serve.problems import problems
from duet.stream import messages as m
from duet.stream.codec import pack
from duet.stream.hub import Hub, Viewer

PHASES: dict[Phase, m.ChangePhase] = {
    phase: name for phase in Phase for name in get_args(m.ChangePhase) if name == phase
}


class OwnReports:
    """Sends them to the pages of a lesson."""

    def __init__(self, hub: Hub, queue: OwnQueue) -> None:
        self._hub = hub
        self._queue = queue
        self._phase = ""
        self._sent_at = 0.0

    def refused(self, viewer: Viewer, command: m.Change, error: m.ErrorMessage) -> None:
        """A change will not be built; the page that sent it reads why."""
        viewer.put(
            pack(
                m.Changed(
                    lesson=command.lesson, base=command.arm, arm="", phase="refused", error=error
                )
            )
        )

    def waiting(self) -> None:
        """The queue has moved: everybody's place."""
        for job in self._queue.waiting:
            self._send(job, _state(job, "wait", ahead=self._queue.ahead(job)))

    def held(self, job: OwnBuild, why: str) -> None:
        """It is next, and must wait."""
        self._send(job, _state(job, "wait", message=why))

    def progress(self, job: OwnBuild, progress: BuildProgress) -> None:
        """A moment of the build; one of many, but for changes of the phase."""
        phase = PHASES.get(progress.phase)
        now = time.monotonic()
        if phase is None or (phase == self._phase and now - self._sent_at < TELL_EVERY_S):
            return
        self._phase, self._sent_at = phase, now
        done, total = progress.objects_done, progress.objects_expected
        self._send(job, _state(job, phase, done=done, total=total, message=progress.note))

    def finished(self, job: OwnBuild) -> None:
        """The kernel is there, for all that waited for it."""
        self._send(job, _state(job, "built"))

    def failed(self, job: OwnBuild, error: m.ErrorMessage) -> None:
        """It cannot be built."""
        found = problems(error.detail)
        state = _state(job, "failed")
        self._send(job, state.model_copy(update={"error": error, "problems": found}))

    def _send(self, job: OwnBuild, message: m.Changed) -> None:
        packet = pack(message)
        for owner in job.owners:
            for page in self._hub.pages_of(owner):
                if page.lesson == job.change.lesson:
                    page.put(packet)


def _state(
    job: OwnBuild,
    phase: m.ChangePhase,
    *,
    ahead: int = 0,
    done: int = 0,
    total: int = 0,
    message: str = "",
) -> m.Changed:
    return m.Changed(
        lesson=job.change.lesson,
        base=job.change.arm,
        arm=job.change.name,
        phase=phase,
        ahead=ahead,
        done=done,
        total=total,
        elapsed_s=job.elapsed_s,
        message=message,
    )
