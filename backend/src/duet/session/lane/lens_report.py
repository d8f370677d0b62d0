# SPDX-License-Identifier: GPL-2.0-or-later
"""The state of a lens, reported to the sink and saved with the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from duet.lenses import LensState, Sample, pack_record


class LensSink(Protocol):
    """Receiver of samples and states of a lens."""

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        """Handle a sample. Its guest time counts from the start marker."""

    def on_lens(self, arm: str, state: LensState) -> None:
        """Handle a new state."""


class ReportedLens:
    """One lens of one lane, with the state of the lens.

    Args:
        save: saves a record with its host time in the transcript.
        state: the initial state.
        gone_message: message of the state if the guest ends during the run.
    """

    def __init__(
        self,
        arm: str,
        sink: LensSink,
        save: Callable[[bytes, int], None],
        state: LensState,
        gone_message: str,
    ) -> None:
        self._arm, self._save, self.state = arm, save, state
        self._lens_sink, self._gone_message = sink, gone_message
        self._reported_at = 0.0

    def gone(self) -> None:
        """Handle the end of the guest during the run."""
        if self.state.state in ("attaching", "on"):
            self._change(state="failed", message=self._gone_message)

    def _change(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self._report()

    def _report(self) -> None:
        self._reported_at = time.monotonic()
        self._save(pack_record(self.state), time.monotonic_ns())
        self._lens_sink.on_lens(self._arm, self.state)

    def _replay_state(self, state: LensState) -> None:
        self.state = state
        self._lens_sink.on_lens(self._arm, state)
