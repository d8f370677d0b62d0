# SPDX-License-Identifier: GPL-2.0-or-later
"""Accesses that the microscope saw, on their way to the sink: they wait for their guest time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from duet.budgets import LENS_RECORDS_PENDING
from duet.errors import InputError
from duet.lenses import Sample, pack_record
from duet.lenses.scope.wire import Log
from duet.session.accesses import ACCESSES, access_sample, points_of
from duet.session.lane.clock import LaneClock
from duet.session.lane.lens_report import LensSink
from duet.session.tables import Batch


class PointSink(LensSink, Protocol):
    """What receives samples, states and points of the microscope."""

    def on_batch(self, arm: str, new: Batch) -> None:
        """New points."""


class AccessQueue:
    """Logs of the plugin become samples, and samples become points of the lesson.

    Args:
        kind: number of the lesson's point that is an access; None: it has none.
        save: takes a record, and its host time, into the transcript.
        on_fault: receives a sentence and a remedy.
    """

    def __init__(
        self,
        arm: str,
        sink: PointSink,
        kind: int | None,
        clock: LaneClock,
        save: Callable[[bytes, int], None],
        on_fault: Callable[[str, str], None],
    ) -> None:
        self._arm, self._sink, self._kind = arm, sink, kind
        self._clock, self._save, self._on_fault = clock, save, on_fault
        self._logs: list[Log] = []
        self._samples: list[Sample] = []
        self._timed = self._points = 0
        self._last_ns = 0
        """Guest time of the newest access that has one."""

    @property
    def untimed(self) -> bool:
        """Accesses wait for the guest's clock to be calibrated."""
        return bool(self._logs)

    def log(self, log: Log) -> None:
        """Accesses of a live run."""
        self._logs.append(log)

    def replay(self, sample: Sample) -> None:
        """A record of a recording: accesses or counts."""
        if len(self._samples) >= LENS_RECORDS_PENDING:
            self._on_fault(
                "The recording has more of the microscope's records before its events than can "
                "wait; later ones are left out.",
                "Get the file anew, or record it again.",
            )
            return
        self._samples.append(sample)

    def time_logs(self) -> int:
        """Logs become samples with guest times, which are saved; how many accesses did."""
        count = 0
        while self._logs:
            records = self._logs[0].records
            if len(records):
                host_ns = int(records["host_ns"][0])
                window = self._clock.guest_window(host_ns, host_ns)
                if window is None:
                    break
                # What is known of the guest's clock gets better meanwhile; time does not go back.
                at_ns = max(window.at_ns, self._last_ns)
                self._last_ns = at_ns + int(records["host_ns"].max()) - host_ns
                offset = host_ns - at_ns
                sample = access_sample(records, self._timed, offset, window.error_ns)
                self._timed += 1
                self._save(pack_record(sample), time.monotonic_ns())
                self._samples.append(sample)
                count += sample.n
            self._logs.pop(0)
        return count

    def pass_on(self, origin_ns: int, *, final: bool) -> None:
        """Give samples to the sink: up to the watermark, or with `final` all."""
        mark = self._clock.watermark_ns
        while self._samples:
            sample = self._samples[0]
            t_ns = float(sample.at_ns - origin_ns)
            if sample.probe != ACCESSES:
                self._sink.on_sample(self._arm, sample, t_ns)
            elif not final and t_ns > mark:
                return
            else:
                self._give_points(sample, origin_ns, mark)
            self._samples.pop(0)

    def _give_points(self, sample: Sample, origin_ns: int, mark: float) -> None:
        if self._kind is None or not sample.n:
            return
        try:
            points = points_of(sample, self._kind, origin_ns, self._points + 1)
        except InputError as error:
            self._on_fault(error.sentence, error.remedy)
            return
        self._points += sample.n
        # Host times stand for guest times here, give or take: none may lie past what is known.
        mark = max(mark, float(points["t_ns"][-1]))
        self._sink.on_batch(self._arm, Batch("points", points, sample.n, mark))
