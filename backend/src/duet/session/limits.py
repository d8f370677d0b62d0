# SPDX-License-Identifier: GPL-2.0-or-later
"""Every time limit and bound of a session, by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds unless named otherwise.

    Args:
        hello_s: from an open port to the agent's greeting.
        ready_s: from a sent plan to READY (probes are set up, which emulation makes slow).
        setup_s: beyond ready_s, for a workload with commands before the run; the agent's own limit
            is in guest time, which passes slowly on the count clock.
        run_slack_s: beyond the workload's own seconds, before it is stopped from here; the agent
            stops it by itself sooner (lessons.plan.DEADLINE_SLACK_S).
        drain_s: from the workload's end to the last byte.
        stop_s: from STOP to the end of draining.
        missing_s: after DRAINED, how long no byte may come of those that the agent says it sent.
        close_s: for a guest to go when it is closed.
        hold_s: so long a viewer may hold a guest; then it goes on.
        hold_after_s: from a hold that is asked for until its accesses have come.
        tick_s: between two batches.
        metrics_s: between two counts.
        backlog_bytes: pages taken in but not yet decoded; beyond it the guest's port waits.
        transcript_bytes: kept of one run of one lane; what comes later is not recorded, and said.
        history_events: decoded events kept of one run of one lane.
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
