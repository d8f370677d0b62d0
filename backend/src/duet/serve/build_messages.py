# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of a kernel build, as the messages that viewers get."""

from __future__ import annotations

import time
from collections.abc import Callable

from duet.kernels import BuildProgress, Phase
from duet.serve.meters import BUILDS
from duet.stream import messages as m

TELL_EVERY_S = 0.25
"""Progress of one arm goes out at most this often; changes of phase always do."""


class BuildMessages:
    """Turns the progress of a build into `build` messages, one stream per arm."""

    def __init__(self, slug: str, arms: list[str], publish: Callable[[m.Build], None]) -> None:
        self._slug = slug
        self._arms = arms
        self._publish = publish
        self._open = list(arms)
        self._now: BuildProgress | None = None
        self._sent_at = 0.0

    def progress(self, progress: BuildProgress) -> None:
        """A moment of the build."""
        former, self._now = self._now, progress
        if former is not None and former.arm != progress.arm:
            self._end(former.arm, "done", None)
        changed = former is None or (former.phase, former.arm) != (progress.phase, progress.arm)
        now = time.monotonic()
        if progress.phase is Phase.DONE or not (changed or now - self._sent_at > TELL_EVERY_S):
            return
        self._sent_at = now
        self._send(progress.arm, _PHASES[progress.phase], None)

    def finished(self) -> None:
        """All are built."""
        for arm in list(self._open):
            self._end(arm, "done", None)

    def failed(self, error: m.ErrorMessage) -> None:
        """The rest cannot be built."""
        for arm in list(self._open):
            self._end(arm, "failed", error)

    def _end(self, arm: str, phase: m.BuildPhase, error: m.ErrorMessage | None) -> None:
        if arm in self._open:
            BUILDS.labels(phase).inc()
            self._send(arm, phase, error)
            self._open.remove(arm)

    def _send(self, arm: str, phase: m.BuildPhase, error: m.ErrorMessage | None) -> None:
        now = self._now
        of_this = now is not None and now.arm == arm
        self._publish(
            m.Build(
                lesson=self._slug,
                arms=self._arms,
                arm=arm,
                phase=phase,
                done=now.objects_done if now and of_this else 0,
                total=now.objects_expected if now and of_this else 0,
                elapsed_s=round(now.elapsed_s, 1) if now else 0.0,
                message=now.note if now and of_this else "",
                error=error,
            )
        )


_PHASES: dict[Phase, m.BuildPhase] = {
    Phase.WAIT: "wait",
    Phase.EXTRACT: "extract",
    Phase.PATCH: "patch",
    Phase.CONFIG: "config",
    Phase.COMPILE: "compile",
    Phase.LINK: "link",
    Phase.STORE: "store",
    Phase.DONE: "done",
}
