# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lane measured: columns, counts, lines, and what was lost."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duet.stream.messages.base import Dtype, Message


class Batch(Message):
    """New rows of one table as columns: raw little-endian bytes, `n` values each."""

    type: Literal["batch"] = "batch"
    run_id: str
    arm: str
    table: str = Field(description="spans, ops, links; open replaces its former self")
    seq: int = Field(description="running number of this table of this lane, from 0")
    n: int = Field(ge=0)
    watermark_ns: float = Field(description="the lane's data are complete up to here")
    columns: dict[str, bytes]
    dtypes: dict[str, Dtype]
    sent_ns: float = Field(description="Unix time in ns when the server encoded it")
    newest_event_host_ms: float | None = Field(
        default=None, description="Unix time in ms when the newest event in it happened (estimate)"
    )


class Reading(Message):
    """How far a recording is read; stands among its batches. Until it is `whole` more comes."""

    type: Literal["reading"] = "reading"
    run_id: str
    read: int = Field(ge=0, description="bytes of its transcripts that are decoded, at least")
    total: int = Field(ge=0, description="all bytes of its transcripts; 0: not known yet")
    whole: bool = Field(description="nothing more comes")


class Waits(Message):
    """Quantiles of the waits of the lesson; null where nothing waited."""

    p50: float | None
    p95: float | None
    max: float | None
    n: int


class Metrics(Message):
    """Counts so far of one lane; latest wins."""

    type: Literal["metrics"] = "metrics"
    run_id: str
    arm: str
    watermark_ns: float
    start_ns: int | None = Field(
        default=None,
        description="the guest's monotonic clock where its time here is 0; null: not known",
    )
    ops: int
    spans: dict[str, int]
    events_read: int
    events_lost: int
    cycles: int = Field(description="ended cycles of the lesson's first track")
    wait_ns: Waits


class Gap(Message):
    """Batches that this browser was not sent, because it or the replay buffer was full."""

    type: Literal["gap"] = "gap"
    run_id: str
    arm: str
    table: str
    from_seq: int
    to_seq: int = Field(description="inclusive")
    rows: int


class Loss(Message):
    """Events lost before the stream."""

    type: Literal["loss"] = "loss"
    run_id: str
    arm: str
    t0_ns: float
    t1_ns: float
    events: int | None = Field(description="null: it is not known how many")
    where: Literal["ring buffer", "kprobe", "host"]


class Line(Message):
    """One line of the workload, verbatim."""

    type: Literal["line"] = "line"
    run_id: str
    arm: str
    stream: Literal["out", "err"]
    text: str
    t_ns: float
