# SPDX-License-Identifier: GPL-2.0-or-later
"""Timeouts and bounds of a session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Timeouts and bounds of one session; seconds unless the name has another unit.

    Args:
        hello_s: from an open port to the agent's greeting.
        ready_s: from a sent plan to READY. Setting up probes is slow under emulation.
        setup_s: added to ready_s if the workload has setup commands. The agent's own limit is in
            guest time, which passes slowly on the count clock.
        run_slack_s: from the workload's planned end until the host stops it. The agent stops it
            earlier (lessons.plan.DEADLINE_SLACK_S).
        drain_s: from the workload's end to the last byte.
        stop_s: from STOP to the end of draining.
        missing_s: after DRAINED, longest silence while bytes that the agent has sent are missing.
        close_s: for a guest to end after it is closed.
        hold_s: longest time that a viewer may hold a guest. Then the guest resumes.
        hold_after_s: from a hold request until the requested accesses have happened.
        tick_s: between two batches.
        metrics_s: between two counts.
        backlog_bytes: maximum size of the pages received but not yet decoded. Above this
            size, we stop reading from the guest.
        transcript_bytes: maximum size of the recording of one lane's run. A longer transcript is
            marked as truncated.
        history_events: maximum number of decoded events kept from one lane's run.
    """

    hello_s: float = 90.0
    ready_s: float = 90.0
    setup_s: float = 180.0
    run_slack_s: float = 150.0
    drain_s: float = 120.0
    stop_s: float = 30.0
    missing_s: float = 5.0
    close_s: float = 20.0
    hold_s: float = 300.0
    hold_after_s: float = 10.0
    tick_s: float = 0.04
    metrics_s: float = 0.2
    backlog_bytes: int = 8 << 20
    transcript_bytes: int = 256 << 20
    history_events: int = 2_000_000
