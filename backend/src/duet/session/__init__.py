# SPDX-License-Identifier: GPL-2.0-or-later
"""Run lanes, and reduce their pages to spans, operations, links and counts (stage 6)."""

from duet.bundle.manifest import Record
from duet.session.events import (
    Contention,
    GuestRequest,
    LaneResult,
    LaneSource,
    Line,
    RunResult,
    ScopeResult,
    SessionSink,
    contention_bound,
)
from duet.session.lane.guest import LaneGuests
from duet.session.limits import Limits
from duet.session.program import needed_symbols
from duet.session.run import RunSession
from duet.session.spec import MicroscopeRequest, RunSpec, check_run, lesson_shift
from duet.session.tables import TABLES, Batch, Columns, Loss, Metrics, Quantiles, Row
from duet.session.transcript import Transcript
from duet.session.trouble import workload_trouble

__all__ = [
    "TABLES",
    "Batch",
    "Columns",
    "Contention",
    "GuestRequest",
    "LaneGuests",
    "LaneResult",
    "LaneSource",
    "Limits",
    "Line",
    "Loss",
    "Metrics",
    "MicroscopeRequest",
    "Quantiles",
    "Record",
    "Row",
    "RunResult",
    "RunSession",
    "RunSpec",
    "ScopeResult",
    "SessionSink",
    "Transcript",
    "check_run",
    "contention_bound",
    "lesson_shift",
    "needed_symbols",
    "workload_trouble",
]
