# SPDX-License-Identifier: GPL-2.0-or-later
"""A row of `duet run`: a time never appears under the key of a rate."""

from __future__ import annotations

from duet.cli.run import RunRow


def test_a_rate_has_both_keys_and_a_time_has_none_of_a_rate() -> None:
    rate = RunRow("stock", samples=[7.0, 9.0, 8.0], unit="umounts/s").result()
    assert (rate.median, rate.ops_per_s, rate.ops_per_s_all) == (8.0, 8.0, [7.0, 9.0, 8.0])
    time = RunRow("stock", samples=[640.0, 641.0], unit="ns").result()
    assert (time.median, time.samples, time.n) == (640.5, [640.0, 641.0], 2)
    assert (time.ops_per_s, time.ops_per_s_all) == (None, [])
