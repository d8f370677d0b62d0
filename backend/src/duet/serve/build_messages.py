# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of one kernel's build, as the messages that viewers get."""

from __future__ import annotations

import time
from collections.abc import Callable

from duet.kernels import BuildProgress, Phase
from duet.serve.meters import BUILDS
from duet.stream import messages as m

TELL_EVERY_S = 0.25
"""Progress goes out at most this often; changes of phase always do."""


class BuildMessages:
    """Turns the progress of one arm's build into `build` messages.

    Args:
        missing: arms of its lesson that are not built yet, this one included.
    """

    def __init__(
        self, slug: str, arm: str, missing: list[str], publish: Callable[[m.Build], None]
    ) -> None:
        self._slug = slug
        self._arm = arm
        self._missing = missing
        self._publish = publish
        self._now: BuildProgress | None = None
        self._sent_at = 0.0

    def progress(self, progress: BuildProgress) -> None:
        """A moment of the build."""
        former, self._now = self._now, progress
        changed = former is None or former.phase != progress.phase
        now = time.monotonic()
        if progress.phase is Phase.DONE or not (changed or now - self._sent_at > TELL_EVERY_S):
            return
        self._sent_at = now
        self._send(_PHASES[progress.phase])

    def finished(self) -> None:
        """The kernel is there."""
        BUILDS.labels("done").inc()
        self._send("done")

    def failed(self, error: m.ErrorMessage) -> None:
        """It cannot be built."""
        BUILDS.labels("failed").inc()
        self._send("failed", error)

    def waits(self) -> None:
        """Another kernel is built first."""
        self._now = None
        self._send("wait")

    def _send(self, phase: m.BuildPhase, error: m.ErrorMessage | None = None) -> None:
        now = self._now
        self._publish(
            m.Build(
                lesson=self._slug,
                arms=self._missing,
                arm=self._arm,
                phase=phase,
                done=now.objects_done if now else 0,
                total=now.objects_expected if now else 0,
                elapsed_s=round(now.elapsed_s, 1) if now else 0.0,
                message=now.note if now else "",
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
