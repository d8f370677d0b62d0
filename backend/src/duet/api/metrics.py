# SPDX-License-Identifier: GPL-2.0-or-later
"""`/metrics` in Prometheus text format: the counters in server/meters.py, and the current state.

The metrics are for operators. They contain only counts, and name no run, visitor or address.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import psutil
from fastapi import FastAPI
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from starlette.responses import Response

from duet import __version__
from duet.guests.clones import TemplateCounts
from duet.server.director import Director
from duet.server.meters import EVENTS
from duet.server.watchdog import Watchdog
from duet.stream.http import Admission

PROGRAMS: Final = ("qemu", "python", "bwrap", "chromium", "ffmpeg", "make")
"""Child processes are counted by the start of their name; all other names count as `other`."""


def add_metrics(app: FastAPI, director: Director) -> None:
    """Add the route. Its access rights are in api/routes.py."""
    states = CollectorRegistry()
    states.register(States(director, app.state.admission, app.state.watchdog))
    ProcessCollector(registry=states)

    @app.get("/metrics")
    def metrics() -> Response:
        body = generate_latest(EVENTS) + generate_latest(states)
        return Response(body, headers={"content-type": CONTENT_TYPE_LATEST})


class States(Collector):
    """Collects the server's state at the moment of a request. It runs in a thread, as does
    /api/health."""

    def __init__(self, director: Director, admission: Admission, watchdog: Watchdog) -> None:
        self._director = director
        self._admission = admission
        self._watchdog = watchdog

    def collect(self) -> Iterable[Metric]:
        live, hub, holds = self._director.live_runs, self._director.hub, self._watchdog.holds
        phases = Counter(str(lane["phase"]) for lane in self._director.lanes())
        yield gauge("duet_build_info", "Always 1.", {__version__: 1}, "version")
        yield gauge("duet_runs_active", "Runs, measurements and judgements.", len(live.running()))
        yield gauge("duet_runs_waiting", "Requests in the queue.", live.waiting())
        yield gauge("duet_pages_open", "Pages that are connected.", len(hub.viewers))
        for service in self._director.services:
            yield from (gauge(*one) for one in service.gauges())
        yield gauge("duet_lanes", "Lanes of runs that go on, or of the newest.", phases, "phase")
        yield gauge("duet_child_processes", "Below this process.", children(), "program")
        yield counter("duet_sent_bytes", "Messages to pages, in bytes.", hub.sent_bytes)
        yield counter("duet_sent_messages", "Messages to pages.", hub.sent_messages)
        segments = self._director.segments
        yield counter("duet_segments_cut", "Segments of runs, packed.", segments.store.added)
        yield counter(
            "duet_segments_asked", "Requests that no cache answered.", segments.store.asked
        )
        yield counter("duet_loop_holds", "Callbacks beyond 50 ms of wall time.", holds.count)
        yield counter("duet_loop_cpu_holds", "Those beyond 50 ms of CPU time.", holds.worked)
        yield gauge("duet_loop_longest_hold_seconds", "Wall time.", holds.longest_s)
        yield gauge("duet_loop_longest_cpu_hold_seconds", "CPU time.", holds.longest_cpu_s)
        yield from of_templates(self._director.parked())
        seats = self._admission.counts()
        for word, make, text in SEATS:
            values = {kind: count[word] for kind, count in seats.items()}
            yield make(f"duet_seats_{word}", text, values, "kind")


def of_templates(now: TemplateCounts) -> Iterable[Metric]:
    """Return metrics about the parked guests from which lanes are copied."""
    yield gauge("duet_templates_held", "Parked guests that can be copied.", now.held)
    yield gauge("duet_templates_held_bytes", "Their memory.", now.held_bytes)
    yield gauge("duet_templates_making", "1 while a guest is being parked.", now.making)
    yield gauge("duet_templates_waiting", "To be parked when nothing runs.", now.waiting)
    yield gauge("duet_templates_later", "To be parked after those, if there is room.", now.later)
    yield counter("duet_templates_made", "Guests that were parked.", now.made)
    yield counter("duet_templates_failed", "Tries to park one that failed.", now.failed)
    yield gauge("duet_template_copies_ready", "That wait for a lane, loaded.", now.ready)
    yield gauge("duet_template_copies_ready_bytes", "Their memory.", now.ready_bytes)
    yield counter("duet_template_copies_taken", "Lanes that took a ready copy.", now.taken)
    yield counter("duet_template_copies_refused", "Copies that failed; they booted.", now.refused)


def gauge(
    name: str, text: str, value: float | Mapping[str, float], label: str = ""
) -> GaugeMetricFamily:
    """Return a metric for a current value. With a label, the metric has one value per label
    value."""
    family = GaugeMetricFamily(name, text, labels=[label] if label else None)
    filled(family, value)
    return family


def counter(
    name: str, text: str, value: float | Mapping[str, float], label: str = ""
) -> CounterMetricFamily:
    """Return a metric for a value that only increases. The library appends _total to the metric's
    name."""
    family = CounterMetricFamily(name, text, labels=[label] if label else None)
    filled(family, value)
    return family


def filled(
    family: GaugeMetricFamily | CounterMetricFamily, value: float | Mapping[str, float]
) -> None:
    """Add one value, or one value per label, to a metric family."""
    if isinstance(value, Mapping):
        for label, each in value.items():
            family.add_metric([label], each)
    else:
        family.add_metric([], value)


def children() -> Counter[str]:
    """Count the descendants of this process, by program."""
    found: Counter[str] = Counter()
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            name = process.name()
            found[next((word for word in PROGRAMS if name.startswith(word)), "other")] += 1
    return found


SEATS: Final = (
    ("open", gauge, "Connections and sockets now."),
    ("most", gauge, "How many there may be."),
    ("dropped", counter, "Silent ones that were closed for a newcomer."),
    ("refused", counter, "Newcomers for whom there was no room."),
)
