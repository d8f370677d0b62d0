# SPDX-License-Identifier: GPL-2.0-or-later
"""A few seconds of the crowd (crowd.py), with hostile manifests among the saved runs."""

from __future__ import annotations

import statistics

from tests.stress.crowd import allow_files, run

SECONDS = 6.0
PAGE_MS = 300.0
END_S = 5.0


def test_a_crowd_keeps_nobody_waiting_and_the_server_ends_in_time() -> None:
    allow_files()
    report = run(SECONDS, family="manifest")
    reported = report.summary()
    assert "Traceback" not in report.log, reported
    assert report.health["loop"]["holds_cpu"] == 0, reported
    # The longest look depends on what else the host does; half of the looks do not.
    assert statistics.median(report.page_ms) < PAGE_MS, reported
    assert statistics.median(report.socket_ms) < PAGE_MS, reported
    assert report.health["connections"]["dropped"] > 0, reported  # the silent ones made room
    assert (report.code, report.end_s < END_S) == (0, True), reported
