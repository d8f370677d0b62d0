# SPDX-License-Identifier: GPL-2.0-or-later
"""One state of a run whose lanes are on several hosts, and when they may begin. Pure.

It follows session/run.py, which does the same for lanes of one process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from duet.errors import DuetError
from duet.stream import messages as m
from duet.stream.runlog import OVER

_GOING: Final = ("preparing", "booting", "ready", "running", "draining")
"""In the order of a run."""
_NOT_READY: Final = frozenset({"waiting", "building", "booting"})


class Merged:
    """The run as its parts report it.

    Args:
        first: what was said of the run before it began.
        parts: how many there are.
    """

    def __init__(self, first: m.Run, parts: int) -> None:
        self._parts = [first] * parts
        self._last: m.Run | None = None

    def report(self, part: int, state: m.Run) -> m.Run | None:
        """A part's newest state; returns that of the run, if it is another one now."""
        self._parts[part] = state
        last, self._last = self._last, self._state()
        return None if self._last == last else self._last

    def fail(self, part: int, error: DuetError) -> m.Run | None:
        """A part is gone; returns as `report`. One that has reported its end stays as it was."""
        state = self._parts[part]
        if state.phase in OVER:
            return None
        how = {"phase": "failed", "message": error.sentence}
        return self.report(part, state.model_copy(update=how))

    def _state(self) -> m.Run:
        """A run is where its slowest part is, parts that are over aside."""
        phases = [part.phase for part in self._parts]
        started = [part.started_at for part in self._parts if part.started_at]
        same = {"started_at": min(started, default=None)}
        for phase in _GOING:
            if phase in phases:
                return self._of(phase).model_copy(update=same)
        for phase in ("stopped", "done"):
            if phase in phases:
                return self._of(phase).model_copy(update={**same, "message": ""})
        return self._of("failed").model_copy(update=same)

    def _of(self, phase: str) -> m.Run:
        return next(part for part in self._parts if part.phase == phase)


def not_ready(arms: Iterable[str], lanes: Mapping[str, m.Lane]) -> set[str]:
    """Those that are neither ready nor over: lanes start together."""
    return {arm for arm in arms if arm not in lanes or lanes[arm].phase in _NOT_READY}
