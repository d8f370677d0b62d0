# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench followers` on few followers: every place reaches each of them."""

from __future__ import annotations

from typing import Any

import pytest

from tools.bench.followers import following, measure, text_of
from tools.bench.watchers import BINS

FOLLOWERS, RATE, SECONDS = 6, 10.0, 4.0


@pytest.mark.nightly
def test_few_followers(run_async: Any) -> None:
    result = run_async(measure(FOLLOWERS, RATE, SECONDS, 1))
    expected = FOLLOWERS * RATE * SECONDS / 2
    came = result.all_read.places + result.all_read.missed
    assert expected * 0.8 <= came <= expected * 1.2
    assert 0 < result.some_stalled.places < result.all_read.places
    assert 0 < result.all_read.p50_ms <= result.all_read.p99_ms
    assert result.all_read.longest_ms > 0 and result.closed == 0
    assert 0 < result.server_cores < 2
    assert f"{FOLLOWERS} followers" in text_of(result)


def test_two_processes_are_added_up() -> None:
    bins = [[0] * (BINS + 1) for _ in range(2)]
    bins[1][3] = 5
    tree = {"bins": bins, "missed": [0, 2], "longest_ms": [0.0, 7.25]}
    found = following([tree, tree | {"longest_ms": [0.0, 9.0]}], 1)
    assert (found.places, found.missed, found.longest_ms, found.p99_ms) == (10, 4, 9.0, 2.0)
