# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports phases of a lane with the facts of its guest; times the guest while the workload runs."""

from __future__ import annotations

from collections.abc import Callable

from duet.guests.types import Clock, GuestFacts
from duet.session.events import LanePhase, LaneState
from duet.session.lane.parts import Parts


class PhaseReporter:
    """Tells the sink where the lane stands.

    Args:
        changed: called after every report.
    """

    def __init__(self, parts: Parts, changed: Callable[[], None]) -> None:
        self._parts, self._changed = parts, changed

    def set_phase(self, phase: LanePhase, facts: GuestFacts | None) -> None:
        """Report a phase that the machine is in.

        Args:
            facts: of the guest, once it is up.
        """
        parts = self._parts
        if phase is not LanePhase.RUNNING:
            parts.contention.finish()
        elif facts and facts.pid and parts.spec.clock is Clock.WALL:
            parts.contention.begin(facts.pid)
        error = parts.inputs.error if phase is LanePhase.FAILED else None
        hello = parts.inputs.hello
        parts.sink.on_lane(
            LaneState(
                arm=parts.arm,
                phase=phase,
                message=error.sentence if error else "",
                remedy=error.remedy if error else "",
                detail=error.detail if error else "",
                accel=facts.accel if facts else None,
                pid=facts.pid if facts else None,
                kernel=hello.kernel if hello else "",
                boot_s=facts.boot_s if facts else None,
                cloned=facts.cloned if facts else False,
            )
        )
        self._changed()
