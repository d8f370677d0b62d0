# SPDX-License-Identifier: GPL-2.0-or-later
"""The client of a lane's engine in a child process, and the child's lifetime."""

from __future__ import annotations

import json
import weakref
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, get_args

import numpy as np
from pydantic import JsonValue

from duet.base import budgets
from duet.base.errors import InputError, KernelError
from duet.confine import Child, ChildLimits, ReplyReader
from duet.confine.messages import BadReply, as_choice, as_integer, as_number, as_text
from duet.processes.cpus import thread_first
from duet.session.engine import Counts, LaneSetup, Progress, StepRequest
from duet.session.reduce import Reduction
from duet.session.tables import TABLES, Batch, Loss, Metrics, Quantiles, Role, Row

# Checks of the child's replies. The child has read untrusted bytes, so its replies are untrusted.

MOST_LOSSES: Final = 100_000
MOST_BATCHES: Final = 64
LOST_AT: Final = ("ring buffer", "kprobe", "host")
INT64: Final = (-(1 << 63), (1 << 63) - 1)
DIGITS: Final = 40


def reduction(reply: ReplyReader) -> Reduction:
    """Read the reduction in a reply to `step`.

    Raises:
        BadReply, ValueError or TypeError: the reply is malformed.
        InputError: there are more than budgets.ROWS rows.
    """
    made = Reduction(more=reply.flag("more"))
    if reply.tree.get("rows") is not None:
        rows = reply.rows("rows", 4, 1 << 18)
        if len(rows) > budgets.ROWS:
            raise InputError(
                f"the lane has {len(rows)} rows to draw, but at most {budgets.ROWS} are allowed.",
                remedy="Run the workload with fewer threads.",
            )
        made.rows = tuple(_row(cells) for cells in rows)
    made.losses = [
        Loss(
            as_number(t0),
            as_number(t1),
            None if events is None else as_integer(events),
            as_choice(where, LOST_AT),  # type: ignore[arg-type]
        )
        for t0, t1, events, where in reply.rows("losses", 4, MOST_LOSSES)
    ]
    for table, n, watermark in reply.rows("batches", 3, MOST_BATCHES):
        name, rows_n = as_choice(table, TABLES), as_integer(n, 0, 1 << 26)
        columns = {column: _column(reply, dtype, rows_n) for column, dtype in TABLES[name].items()}
        made.batches.append(Batch(name, columns, rows_n, as_number(watermark)))
    return made


def _column(reply: ReplyReader, dtype: str, rows: int) -> np.ndarray[Any, np.dtype[np.generic]]:
    return np.frombuffer(reply.blob(rows * np.dtype(dtype).itemsize), dtype)


def _row(cells: list[Any]) -> Row:
    row, tid, name, role = cells
    number_of, thread = as_integer(row), as_integer(tid, *INT64)
    return Row(number_of, thread, as_text(name), as_choice(role, get_args(Role)))  # type: ignore[arg-type]


def progress(reply: ReplyReader) -> Progress:
    """Read the progress in a reply to `step`.

    Raises:
        BadReply, ValueError or TypeError: the reply is malformed.
    """
    return Progress(
        begun=reply.flag("begun"),
        origin_ns=reply.integer_or_none("origin_ns", *INT64),
        watermark_ns=as_number(reply.tree.get("watermark_ns")),
        missed=reply.integer("missed", *INT64),
        decoded=reply.integer("decoded"),
    )


def counts(reply: ReplyReader) -> Counts:
    """Read the figures in a reply to `counts`.

    Raises:
        BadReply, ValueError or TypeError: the reply is malformed.
    """
    tree = reply.map("metrics")
    spans = tree.get("spans")
    if not isinstance(spans, dict) or len(spans) > 256:
        raise BadReply("spans")
    metrics = Metrics(
        watermark_ns=as_number(tree.get("watermark_ns")),
        start_ns=None if tree.get("start_ns") is None else as_integer(tree["start_ns"], *INT64),
        ops=as_integer(tree.get("ops")),
        spans={as_text(name): as_integer(n) for name, n in spans.items()},
        cycles=as_integer(tree.get("cycles")),
        wait_ns=_quantiles(tree.get("wait_ns")),
        op_ns=_quantiles(tree.get("op_ns")),
        events_read=as_integer(tree.get("events_read")),
    )
    tallies = {name: _tally(value) for name, value in reply.map("tallies").items()}
    return Counts(metrics, tallies, {n: as_text(t) for n, t in reply.map("faults").items()})


def _quantiles(tree: object) -> Quantiles | None:
    if tree is None:
        return None
    if not isinstance(tree, dict):
        raise BadReply("quantiles")
    p50, p95, most = (as_number(tree.get(name)) for name in ("p50", "p95", "max"))
    return Quantiles(p50, p95, most, as_integer(tree.get("n")))


def _tally(value: object) -> float:
    if isinstance(value, str):
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= DIGITS):
            raise BadReply("a tally")
        return int(value)
    return as_number(value)


def event(found: object) -> dict[str, JsonValue]:
    """Check one raw event in a reply to `events`.

    Raises:
        BadReply: the reply is malformed.
    """
    if not isinstance(found, dict) or set(found) != {
        *("t_ns", "cpu", "tid", "task", "event", "fields")
    }:
        raise BadReply("an event")
    fields = found["fields"]
    if not isinstance(fields, dict) or not all(isinstance(f, str | int) for f in fields.values()):
        raise BadReply("fields of an event")
    return {
        "t_ns": as_number(found["t_ns"]),
        **{name: as_integer(found[name], *INT64) for name in ("cpu", "tid")},
        **{name: as_text(found[name]) for name in ("task", "event")},
        "fields": {str(name): value for name, value in fields.items()},
    }


POOL: Final = ThreadPoolExecutor(32, thread_name_prefix="lane", initializer=thread_first)
"""Threads that wait for children. They are separate from the threads that serve pages."""


_idle: deque[weakref.ref[LaneChild]] = deque()


def retire(child: LaneChild) -> None:
    """Keep a child for `raw_events` after its run.

    If more than IDLE_CHILDREN children are kept, close the oldest child.
    """
    for former in [one for one in _idle if one() is None]:
        _idle.remove(former)
    _idle.append(weakref.ref(child))
    while len(_idle) > budgets.IDLE_CHILDREN:
        oldest = _idle.popleft()()
        if oldest is not None:
            oldest.close()


def terms_of(lane: LaneSetup) -> ChildLimits:
    """Return a child's limits. A live lane gets more CPU time than a recording."""
    if lane.live:
        return ChildLimits(
            f"the events of lane {lane.arm}",
            blame=KernelError,
            remedy="Run it again; if it fails again, report it with the saved run.",
            cpu_s=budgets.LIVE_CPU_S,
        )
    return ChildLimits(f"lane {lane.arm} of the recording")


class LaneChild:
    """One lane's engine in a child process. All methods but `close` block."""

    def __init__(self, lane: LaneSetup) -> None:
        self._lane = lane
        self._started: Child | None = None
        self._closed = False

    def close(self) -> None:
        """End the child without waiting. Calls that wait for the child then raise an error."""
        self._closed = True
        if self._started:
            self._started.close()

    def begin(self) -> None:
        """Start the child early, so that the first pages need not wait for it.

        Raises:
            DuetError: the child cannot be started.
        """
        self._child()

    def _child(self) -> Child:
        if self._started is None:
            self._started = Child("lane", terms_of(self._lane))
            if self._closed:
                self._started.close()
            self._started.call({"do": "lane", "lane": self._lane})
        return self._started

    def step(self, step: StepRequest) -> tuple[Reduction, Progress]:
        """Run LaneEngine.step in the child.

        Raises:
            DuetError: the engine failed, or the child has ended.
        """
        if not step.pages and self._started is None:
            return Reduction(), Progress()
        request: dict[str, object] = {**_fields(step), "do": "step"}
        child = self._child()
        reply = child.call(request, [part.pages for part in step.pages])
        try:
            return reduction(reply), progress(reply)
        except (BadReply, ValueError, TypeError) as error:
            raise child.reject_reply(error) from error

    def counts(self, *, tallies: bool) -> Counts:
        """Run LaneEngine.counts in the child.

        Raises:
            DuetError: the engine failed, or the child has ended.
        """
        if self._started is None:
            return Counts()
        child = self._child()
        reply = child.call({"do": "counts", "tallies": tallies})
        try:
            return counts(reply)
        except (BadReply, ValueError, TypeError) as error:
            raise child.reject_reply(error) from error

    def raw_events(
        self, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        """Run LaneEngine.raw_events in the child.

        Raises:
            DuetError: the engine failed, the child has ended, or it is busy for EVENTS_WAIT_S.
        """
        about: dict[str, object] = {"around_ns": around_ns, "row": row, "n": n, "cpu": cpu}
        request: dict[str, object] = {"do": "events", **about}
        if self._started is None:
            return []
        child = self._child()
        reply = child.call(request, turn_s=budgets.EVENTS_WAIT_S)
        try:
            found = json.loads(bytes(reply.blob()))
            if not isinstance(found, list) or len(found) > n:
                raise BadReply("no list of events")
            return [event(one) for one in found]
        except (BadReply, ValueError, RecursionError) as error:
            raise child.reject_reply(error) from error


def _fields(step: StepRequest) -> dict[str, object]:
    """Encode a step without its pages' bytes, which are sent as blobs."""
    return {
        "files": step.files,
        "cpus": [part.cpu for part in step.pages],
        "complete": [part.complete for part in step.pages],
        "watermark_ns": step.watermark_ns,
        "final": step.final,
        "drained": step.drained,
    }
