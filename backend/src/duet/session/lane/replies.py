# SPDX-License-Identifier: GPL-2.0-or-later
"""Replies of a lane's child process, checked: it has read bytes that nobody vouches for."""

from __future__ import annotations

from typing import Any, Final, get_args

import numpy as np
from pydantic import JsonValue

from duet import budgets
from duet.confined import Reply
from duet.confined.replies import Odd, number, one_of, text, whole
from duet.errors import InputError
from duet.session.engine import Counts, Progress
from duet.session.reduce import Reduction
from duet.session.tables import TABLES, Batch, Loss, Metrics, Quantiles, Role, Row

MOST_LOSSES: Final = 100_000
MOST_BATCHES: Final = 64
LOST_AT: Final = ("ring buffer", "kprobe", "host")
INT64: Final = (-(1 << 63), (1 << 63) - 1)
DIGITS: Final = 40


def reduction(reply: Reply) -> Reduction:
    """What a step gave: rows, losses and batches.

    Raises:
        Odd, ValueError or TypeError: the reply is of another shape.
    """
    made = Reduction(more=reply.flag("more"))
    if reply.tree.get("rows") is not None:
        rows = reply.rows("rows", 4, 1 << 18)
        if len(rows) > budgets.ROWS:
            raise InputError(
                f"it has {len(rows)} threads to draw, and {budgets.ROWS} are allowed.",
                remedy="Ask for less of the workload.",
            )
        made.rows = tuple(_row(cells) for cells in rows)
    made.losses = [
        Loss(
            number(t0),
            number(t1),
            None if events is None else whole(events),
            one_of(where, LOST_AT),  # type: ignore[arg-type]
        )
        for t0, t1, events, where in reply.rows("losses", 4, MOST_LOSSES)
    ]
    for table, n, watermark in reply.rows("batches", 3, MOST_BATCHES):
        name, rows_n = one_of(table, TABLES), whole(n, 0, 1 << 26)
        columns = {column: _column(reply, dtype, rows_n) for column, dtype in TABLES[name].items()}
        made.batches.append(Batch(name, columns, rows_n, number(watermark)))
    return made


def _column(reply: Reply, dtype: str, rows: int) -> np.ndarray[Any, np.dtype[np.generic]]:
    cells = reply.blob()
    if len(cells) != rows * np.dtype(dtype).itemsize:
        raise Odd("a column")
    return np.frombuffer(bytes(cells), dtype)


def _row(cells: list[Any]) -> Row:
    row, tid, name, role = cells
    number_of, thread = whole(row), whole(tid, *INT64)
    return Row(number_of, thread, text(name), one_of(role, get_args(Role)))  # type: ignore[arg-type]


def progress(reply: Reply) -> Progress:
    """How far the engine is.

    Raises:
        Odd, ValueError or TypeError: the reply is of another shape.
    """
    return Progress(
        begun=reply.flag("begun"),
        origin_ns=reply.maybe_whole("origin_ns", *INT64),
        watermark_ns=number(reply.tree.get("watermark_ns")),
        missed=reply.whole("missed", *INT64),
        decoded=reply.whole("decoded"),
    )


def counts(reply: Reply) -> Counts:
    """Figures so far.

    Raises:
        Odd, ValueError or TypeError: the reply is of another shape.
    """
    tree = reply.map("metrics")
    spans = tree.get("spans")
    if not isinstance(spans, dict) or len(spans) > 256:
        raise Odd("spans")
    metrics = Metrics(
        watermark_ns=number(tree.get("watermark_ns")),
        start_ns=None if tree.get("start_ns") is None else whole(tree["start_ns"], *INT64),
        ops=whole(tree.get("ops")),
        spans={text(name): whole(n) for name, n in spans.items()},
        cycles=whole(tree.get("cycles")),
        wait_ns=_quantiles(tree.get("wait_ns")),
        op_ns=_quantiles(tree.get("op_ns")),
        events_read=whole(tree.get("events_read")),
    )
    tallies = {name: _tally(value) for name, value in reply.map("tallies").items()}
    return Counts(metrics, tallies, {n: text(t) for n, t in reply.map("faults").items()})


def _quantiles(tree: object) -> Quantiles | None:
    if tree is None:
        return None
    if not isinstance(tree, dict):
        raise Odd("quantiles")
    p50, p95, most = (number(tree.get(name)) for name in ("p50", "p95", "max"))
    return Quantiles(p50, p95, most, whole(tree.get("n")))


def _tally(value: object) -> float:
    if isinstance(value, str):
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= DIGITS):
            raise Odd("a tally")
        return int(value)
    return number(value)


def event(found: object) -> dict[str, JsonValue]:
    """One raw event.

    Raises:
        Odd: the reply is of another shape.
    """
    if not isinstance(found, dict) or set(found) != {
        *("t_ns", "cpu", "tid", "task", "event", "fields")
    }:
        raise Odd("an event")
    fields = found["fields"]
    if not isinstance(fields, dict) or not all(isinstance(f, str | int) for f in fields.values()):
        raise Odd("fields of an event")
    return {
        "t_ns": number(found["t_ns"]),
        **{name: whole(found[name], *INT64) for name in ("cpu", "tid")},
        **{name: text(found[name]) for name in ("task", "event")},
        "fields": {str(name): value for name, value in fields.items()},
    }
