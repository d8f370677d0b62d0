# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of the microscope on their way to the sink: a few a second, and the last ones."""

from __future__ import annotations

import time
from collections.abc import Callable

from duet.lenses import pack_record
from duet.lenses.limits import SCOPE_TELL_HZ
from duet.lenses.scope.wire import Cells
from duet.session.accesses import count_sample
from duet.session.lane.clock import LaneClock
from duet.session.lane.lens_report import LensSink


class CellCounts:
    """Counts become samples.

    Args:
        functions: their names, in the plugin's order.
        save: takes a record, and its host time, into the transcript.
    """

    def __init__(
        self,
        arm: str,
        sink: LensSink,
        functions: tuple[str, ...],
        clock: LaneClock,
        save: Callable[[bytes, int], None],
    ) -> None:
        self._arm, self._sink, self._functions = arm, sink, functions
        self._clock, self._save = clock, save
        self._seq = 0
        self._reported_at = 0.0
        self._waiting: tuple[Cells, tuple[int, int] | None] | None = None

    @property
    def due(self) -> bool:
        """The newest counts are old enough for others."""
        return time.monotonic() - self._reported_at > 1 / SCOPE_TELL_HZ

    @property
    def waiting(self) -> bool:
        """The last counts were not reported yet."""
        return self._waiting is not None

    def report_waiting(self) -> None:
        """More is known of times: report the last counts if they wait for that."""
        if self._waiting is not None and self.report(*self._waiting):
            self._waiting = None

    def report(self, cells: Cells, watched: tuple[int, int] | None, *, last: bool = False) -> bool:
        """Give counts to the sink; False: their time is not known, or before the start.

        Args:
            watched: address and bytes of the object.
            last: they wait until their time is known. A short run may end before a busy host has
                decoded its start marker.
        """
        window = self._clock.guest_window(cells.host_ns, cells.host_ns)
        origin = self._clock.origin_ns
        if window is None or origin is None or window.at_ns < origin:
            self._waiting = (cells, watched) if last else self._waiting
            return False
        self._reported_at = time.monotonic()
        sample = count_sample(
            cells, self._seq, window.at_ns, window.error_ns, watched, self._functions
        )
        self._seq += 1
        self._save(pack_record(sample), time.monotonic_ns())
        self._sink.on_sample(self._arm, sample, float(sample.at_ns - origin))
        return True
