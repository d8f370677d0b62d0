# SPDX-License-Identifier: GPL-2.0-or-later
"""A made-up run of lesson 02 in the shape of the contract, for tests and for work on the page.

No kernel ran. A toy scheduler with two CPUs and a tick of 4 ms makes spans that look like those
of a real lane; every message of it says "synthetic". It is never shipped as a recording.
"""

from __future__ import annotations

import bisect
import heapq
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from duet import messages as m
from duet.lessons.load import LessonFolder
from duet.messages.codec import batch

TICK = 4_000_000.0
BATCH = 50_000_000.0
LABEL = "synthetic: made up for tests, no kernel ran"
SPAN_COLUMNS = ("t0_ns f8", "t1_ns f8", "row i4", "kind u1", "cpu i2", "arg f8", "id u4")
OP_COLUMNS = ("t0_ns f8", "t1_ns f8", "row i4", "ok u1", "id u4")
LINK_COLUMNS = ("t_ns f8", "from_row i4", "to_row i4", "kind u1", "id u4")

Value = tuple[float, ...]


@dataclass
class Tables:
    """Finished marks as (time of completion, values)."""

    spans: list[tuple[float, Value]] = field(default_factory=list)
    ops: list[tuple[float, Value]] = field(default_factory=list)
    links: list[tuple[float, Value]] = field(default_factory=list)


class ToyLane:
    """One lane: hogs, two CPUs, and a grace period that moves by ticks."""

    def __init__(self, folder: LessonFolder, arm: str, hogs: int, seconds: float) -> None:
        self.kinds = {k.name: i for i, k in enumerate(folder.lesson.kinds)}
        self.srcu = arm.startswith("srcu")
        self.expedited = arm == "srcu-expedited"
        self.hogs = hogs
        self.end = seconds * 1e9
        self.tables = Tables()
        self.random = random.Random(f"{arm}-{hogs}")
        self.events: list[tuple[float, int, str, int]] = []
        self.cpus = [0, 1]
        self.queue: deque[tuple[int, float]] = deque()
        self.step = [0] * hogs
        self.began = [0.0] * hogs
        self.asked = [0.0] * hogs
        self.waiting: list[int] = []
        self.riders: list[int] = []
        self.gp_busy = False
        self.gp_idle_since = -1e9
        self.count = 0
        names = [t.name for t in folder.lesson.tracks if not t.arms or arm in t.arms]
        self.tracks = {name: hogs + i for i, name in enumerate(names)}

    def rows(self) -> list[m.Row]:
        """Rows as the session names them."""
        out = [
            m.Row(row=i, tid=100 + i, name=f"storm-{i}", role="thread") for i in range(self.hogs)
        ]
        return out + [m.Row(row=r, tid=-1, name=n, role="track") for n, r in self.tracks.items()]

    def run(self) -> Tables:
        """Simulate all of it."""
        for hog in range(self.hogs):
            self._at(self.random.uniform(0, 3e5), "ready", hog)
        while self.events and self.events[0][0] < self.end:
            now, _, what, hog = heapq.heappop(self.events)
            getattr(self, f"_on_{what}")(now, hog)
        return self.tables

    def _at(self, when: float, what: str, hog: int) -> None:
        self.count += 1
        heapq.heappush(self.events, (when, self.count, what, hog))

    def _span(
        self, kind: str, row: int, t0: float, t1: float, cpu: int = -1, arg: float = 0
    ) -> None:
        ident = float(len(self.tables.spans))
        values = (t0, t1, float(row), float(self.kinds[kind]), float(cpu), arg, ident)
        self.tables.spans.append((t1, values))

    def _on_ready(self, now: float, hog: int) -> None:
        self.queue.append((hog, now))
        self._dispatch(now)

    def _dispatch(self, now: float) -> None:
        while self.queue and self.cpus:
            hog, since = self.queue.popleft()
            cpu = self.cpus.pop(0)
            if now > since:
                self._span("runnable", hog, since, now)
            burst = (7e5, 4e5, 3e5)[self.step[hog]] * self.random.uniform(0.7, 1.5)
            self._span("running", hog, now, now + burst, cpu)
            self._at(now + burst, f"done{cpu}", hog)

    def _on_done0(self, now: float, hog: int) -> None:
        self._done(now, hog, 0)

    def _on_done1(self, now: float, hog: int) -> None:
        self._done(now, hog, 1)

    def _done(self, now: float, hog: int, cpu: int) -> None:
        self.cpus.append(cpu)
        step = self.step[hog]
        self.step[hog] = (step + 1) % 3
        if step == 0:
            self.began[hog] = now
            wait = self.random.uniform(2e5, 8e5)
            self._span("wait_exp", hog, now, now + wait)
            self._span("exp_gp", self.tracks["exp-rcu"], now + 1e4, now + wait - 1e4)
            self._at(now + wait, "ready", hog)
        elif step == 1 and self.srcu:
            self.asked[hog] = now
            self.waiting.append(hog)
            self._arm(now)
        elif step == 1:
            self._span("unregister", hog, now - 2e4, now)
            self.queue.append((hog, now))
        else:
            ident = float(len(self.tables.ops))
            self.tables.ops.append((now, (self.began[hog], now, float(hog), 1.0, ident)))
            self.queue.append((hog, now))
        self._dispatch(now)

    def _arm(self, now: float) -> None:
        if self.gp_busy or not self.waiting:
            return
        self.gp_busy = True
        self.riders, self.waiting = self.waiting, []
        urgent = self.expedited or now - self.gp_idle_since > 5e5
        look = now + 2e4 if urgent else (now // TICK + 1) * TICK
        row = self.tracks["grace-period"]
        self._span("gp_armed", row, now, look)
        self._span("gp_check", row, look, look + 6e3)
        reported = look + 2e4 if urgent else look + TICK
        calls = self.tracks["callbacks"]
        self._span("cb_delay", calls, look + 6e3, reported)
        self._span("cb_wake", calls, reported, reported + 9e3)
        self._at(reported, "wake", 0)

    def _on_wake(self, now: float, _: int) -> None:
        for hog in self.riders:
            ident = float(len(self.tables.links))
            link = (now + 2e3, float(self.tracks["callbacks"]), float(hog), 0.0, ident)
            self.tables.links.append((now + 2e3, link))
            self._span("wait_srcu", hog, self.asked[hog], now + 2e3)
            self._span("srcu_call", hog, self.asked[hog], now + 4e3, -1, 0 if self.expedited else 1)
            self._span("unregister", hog, self.asked[hog] - 1e4, now + 6e3)
            self._at(now + 2e3, "ready", hog)
        self.gp_busy = False
        self.gp_idle_since = now
        self._arm(now)


def _columns(names: tuple[str, ...], values: list[Value]) -> dict[str, np.ndarray]:
    table = np.array(values, dtype="f8").reshape(len(values), len(names))
    pairs = [name.split() for name in names]
    return {name: table[:, i].astype(f"<{dtype}") for i, (name, dtype) in enumerate(pairs)}


def lane_messages(
    folder: LessonFolder, run_id: str, arm: str, hogs: int, seconds: float
) -> Iterator[tuple[float, m.ServerMessage]]:
    """Messages of a lane with the guest time in ns at which each would be sent."""
    lane = ToyLane(folder, arm, hogs, seconds)
    tables = lane.run()
    yield 0.0, m.Rows(run_id=run_id, arm=arm, rows=lane.rows())
    kinds = list(lane.kinds)
    sources = {
        "spans": (SPAN_COLUMNS, sorted(tables.spans)),
        "ops": (OP_COLUMNS, sorted(tables.ops)),
        "links": (LINK_COLUMNS, sorted(tables.links)),
    }
    done_at = {name: [done for done, _ in marks] for name, (_, marks) in sources.items()}
    counts = {"spans": dict.fromkeys(kinds, 0), "ops": 0}
    waits: list[float] = []
    seqs = dict.fromkeys(sources, 0)
    for slot in range(int(lane.end // BATCH)):
        t0, t1 = slot * BATCH, (slot + 1) * BATCH
        for name, (names, marks) in sources.items():
            first, last = (bisect.bisect_left(done_at[name], t) for t in (t0, t1))
            chosen = [values for _, values in marks[first:last]]
            if not chosen:
                continue
            yield t1, batch(run_id, arm, name, seqs[name], t1, _columns(names, chosen))
            seqs[name] += 1
            if name == "ops":
                counts["ops"] += len(chosen)
            elif name == "spans":
                for values in chosen:
                    counts["spans"][kinds[int(values[3])]] += 1
                waits += [v[1] - v[0] for v in chosen if kinds[int(v[3])] == "wait_srcu"]
        yield t1, _metrics(run_id, arm, t1, counts, waits)
        first = bisect.bisect_left(done_at["spans"], t1)
        near = sources["spans"][1][first : first + 200]
        cut = [(v[0], t1, *v[2:]) for _, v in near if v[0] < t1]
        yield t1, batch(run_id, arm, "open", slot, t1, _columns(SPAN_COLUMNS, cut))


def _metrics(
    run_id: str, arm: str, now: float, counts: dict[str, object], waits: list[float]
) -> m.Metrics:
    some = np.array(waits) if waits else None
    spans = dict(counts["spans"])  # type: ignore[call-overload]
    return m.Metrics(
        run_id=run_id,
        arm=arm,
        watermark_ns=now,
        ops=counts["ops"],  # type: ignore[arg-type]
        spans=spans,
        events_read=sum(spans.values()) * 3,
        events_lost=0,
        cycles=spans["gp_check"],
        wait_ns=m.Waits(
            p50=None if some is None else float(np.percentile(some, 50)),
            p95=None if some is None else float(np.percentile(some, 95)),
            max=None if some is None else float(some.max()),
            n=len(waits),
        ),
    )
