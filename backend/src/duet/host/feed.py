# SPDX-License-Identifier: GPL-2.0-or-later
"""Convert the reports of a session to messages for pages."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict

from duet import messages as m
from duet.lenses import LensState, Sample
from duet.lessons.load import USUAL_CPUS
from duet.messages.base import SAMPLES
from duet.messages.codec import Packet, batch, pack, pack_line
from duet.session import Batch, Contention, Line, Loss, Metrics, Row, SessionSink, contention_bound

Send = Callable[[Packet], None]
SAMPLE_FIELDS = (
    *("probe", "clock", "torn", "failed", "n"),
    *("columns", "dtypes", "facts", "texts"),
)


class Feed(SessionSink):
    """Publishes the reports of a session as messages.

    Args:
        run: the run's message before the run starts; later its phase and message are updated.
        send: function that gets each packet and passes it to the hub and log of a live run, or to
            the log of a recording.
        contention: contention of each lane of a recording; a live run reports its contention
            itself.
        cpus: number of CPUs of the host on which the guests run; None for the CPUs of this process.
        vcpus: number of vCPUs of each guest.
    """

    def __init__(
        self,
        run: m.Run,
        send: Send,
        contention: Mapping[str, Contention] | None = None,
        cpus: int | None = None,
        vcpus: int = USUAL_CPUS,
    ) -> None:
        self.run = run
        self._send = send
        self._lanes: dict[str, m.Lane] = {}
        self._contention = dict(contention or {})
        self._bound = contention_bound(max(1, vcpus), cpus or len(os.sched_getaffinity(0)))
        self._seq: Counter[tuple[str, str]] = Counter()
        # This offset converts the monotonic host times of chunks to the Unix times that pages need.
        self._to_unix_ns = time.time_ns() - time.monotonic_ns()

    def announce(self, **changes: object) -> None:
        """Change fields of the run message, and publish it."""
        self.run = self.run.model_copy(update=changes)
        self._send(pack(self.run))

    def on_run(self, phase: m.RunPhase, message: str) -> None:
        self.announce(phase=phase, message=message)

    def on_lane(self, state: m.Lane) -> None:
        self._lanes[state.arm] = state
        self._send_lane(state)

    def on_contention(self, arm: str, contention: Contention) -> None:
        """Publish a lane's contention together with its state."""
        self._contention[arm] = contention
        if arm in self._lanes:
            self._send_lane(self._lanes[arm])

    def _send_lane(self, state: m.Lane) -> None:
        found = self._contention.get(state.arm)
        waited = None if found is None else m.Contention(bound=self._bound, **asdict(found))
        self._send(pack(state.model_copy(update={"contention": waited})))

    def on_rows(self, arm: str, rows: tuple[Row, ...]) -> None:
        body = [
            m.Row.model_validate({"row": r.row, "tid": r.tid, "name": r.name, "role": str(r.role)})
            for r in rows
        ]
        self._send(pack(m.Rows(run_id=self.run.run_id, arm=arm, rows=body)))

    def on_batch(self, arm: str, new: Batch) -> None:
        """Publish a batch. Batches are numbered per table and lane."""
        seq = self._seq[arm, new.table]
        self._seq[arm, new.table] += 1
        newest: float | None = None
        if self.run.source == "live" and new.newest_host_ns:
            newest = (new.newest_host_ns + self._to_unix_ns) / 1e6
        run_id = self.run.run_id
        self._send(pack(batch(run_id, arm, new.table, seq, new.watermark_ns, new.columns, newest)))

    def on_metrics(self, arm: str, metrics: Metrics) -> None:
        tree: Mapping[str, object] = metrics.as_dict()
        self._send(pack(m.Metrics.model_validate({"run_id": self.run.run_id, "arm": arm, **tree})))

    def on_loss(self, arm: str, loss: Loss) -> None:
        """Publish events that were lost before decoding."""
        tree = {"t0_ns": loss.t0_ns, "t1_ns": loss.t1_ns, "events": loss.events}
        where = {"run_id": self.run.run_id, "arm": arm, "where": str(loss.where)}
        self._send(pack(m.Loss.model_validate({**where, **tree})))

    def on_sample(self, arm: str, sample: Sample, t_ns: float) -> None:
        """Publish a sample, numbered per probe and lane."""
        table = SAMPLES + sample.probe
        seq = self._seq[arm, table]
        self._seq[arm, table] += 1
        body = {
            "run_id": self.run.run_id,
            "arm": arm,
            "seq": seq,
            "t_ns": t_ns,
            "error_ns": float(sample.error_ns),
            "took_ns": float(sample.took_ns),
            **{name: getattr(sample, name) for name in SAMPLE_FIELDS},
        }
        self._send(pack(m.Sample.model_validate(body)))

    def on_lens(self, arm: str, state: LensState) -> None:
        tree = {"run_id": self.run.run_id, "arm": arm, **asdict(state)}
        self._send(pack(m.Lens.model_validate(tree)))

    def on_hold(self, state: m.Held) -> None:
        self._send(pack(state))

    def on_line(self, arm: str, line: Line) -> None:
        """Publish a line of the workload's output."""
        seq = self._seq[arm, "lines"]
        self._seq[arm, "lines"] += 1
        body = m.Line.model_validate(
            {
                "run_id": self.run.run_id,
                "arm": arm,
                "stream": line.stream,
                "text": line.text,
                "t_ns": line.t_ns,
            }
        )
        self._send(pack_line(body, seq))
