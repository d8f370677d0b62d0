# SPDX-License-Identifier: GPL-2.0-or-later
"""Prometheus counters that are updated when events happen. Gauges are in api/metrics.py.

Names and units follow https://prometheus.io/docs/practices/naming/. The metrics are global to the
process, as is usual for the library. They contain nothing about single visitors.
"""

from __future__ import annotations

import logging
import time
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from duet.base.logs import fields
from duet.messages import Lane
from duet.runs.sources import Job, JudgeRequest, MeasureRequest

log = logging.getLogger("duet.runs")
EVENTS: Final = CollectorRegistry()
RUNS: Final = Counter(
    "duet_runs",
    "Ended runs. kind: run, measurement, judgement; outcome: done, stopped, failed.",
    ("kind", "outcome"),
    registry=EVENTS,
)
QUEUE: Final = Histogram(
    "duet_run_queue_seconds",
    "From a run's request to its start.",
    ("kind",),
    buckets=(0.05, 0.2, 1, 5, 15, 30, 60, 120, 300, 600, 1800),
    registry=EVENTS,
)
FIRST_EVENT: Final = Histogram(
    "duet_lane_first_event_seconds",
    "From the start of a live lane to its first decoded event. start: boot, copy (of a parked "
    "guest), reused (a guest that was up).",
    ("start",),
    buckets=(0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12, 30, 60),
    registry=EVENTS,
)
LANE_FAILURES: Final = Counter("duet_lane_failures", "Live lanes that failed.", registry=EVENTS)
BUILDS: Final = Counter(
    "duet_kernel_builds",
    "Ended builds of lessons' kernels. outcome: done, failed.",
    ("outcome",),
    registry=EVENTS,
)


def kind_of(job: Job) -> str:
    """Return the value of the label `kind` for a job."""
    if isinstance(job, MeasureRequest):
        return "measurement"
    return "judgement" if isinstance(job, JudgeRequest) else "run"


class LaneStarts:
    """Times the lanes of one live run until their first events."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()
        self._start: dict[str, str] = {}
        self._seen: set[str] = set()

    def begin(self) -> None:
        """Start the timing. Called when the run leaves the queue."""
        self._began_s = time.monotonic()

    def on_lane(self, state: Lane) -> None:
        if state.phase == "failed":
            LANE_FAILURES.inc()
            log.warning("a lane failed: %s", state.message)
        if state.phase == "booting":
            self._start[state.arm] = "boot"
        if state.cloned and state.arm in self._start:
            self._start[state.arm] = "copy"

    def on_batch(self, arm: str) -> None:
        if arm not in self._seen:
            self._seen.add(arm)
            took_s = time.monotonic() - self._began_s
            start = self._start.get(arm, "reused")
            FIRST_EVENT.labels(start).observe(took_s)
            log.info("first event of a lane", extra=fields(start=start, took_s=round(took_s, 3)))
