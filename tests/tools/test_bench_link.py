# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulation against reality: real nginx, real segments, real viewers at a bounded link."""

from __future__ import annotations

import pytest

from duet.base.errors import InputError
from tools.bench.link import counts_of, measure, missing, text_of
from tools.bench.proxy import NGINX

WITHIN = 2.0
"""Times, of delays. Seen: 1.1 to 1.4, on two cores with a load of 4 to 10."""
CPU_WITHIN = 2.5
"""Times, of nginx's CPU time, which is tens of ms here. Seen: 1.2 to 1.5."""
SLUG = "01-shrinker-bitmaps"
"""Its recording has some segments, so that the first and the last are apart."""


@pytest.mark.nightly
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed (setup.sh dev)")
@pytest.mark.skipif(bool(missing()), reason=f"no link can be bounded: {missing()}")
def test_the_simulation_is_within_twice_of_real_viewers_at_two_sizes() -> None:
    result = measure(SLUG, [20, 80], mbit=40)
    assert result.segments >= 4 and [one.viewers for one in result.rows] == [20, 80]
    for row in result.rows:
        assert row.farthest < WITHIN, text_of(result)
        ratio = row.nginx_s / row.nginx_simulated_s
        assert 1 / CPU_WITHIN < ratio < CPU_WITHIN, text_of(result)
        assert row.first_p50_s < row.whole_p50_s
        # TCP shares a full queue equally on average, not for each: the unluckiest wait for all.
        assert row.first_p99_s < WITHIN * row.whole_p99_simulated_s
    few, many = result.rows
    assert many.whole_p50_s > 2 * few.whole_p50_s, "the link was what all waited for"
    assert "Mbit/s" in text_of(result)


@pytest.mark.parametrize("text", ["", "0", "x", "10,-1", "10,2000", "1.5"])
def test_numbers_of_viewers_are_checked(text: str) -> None:
    with pytest.raises(InputError, match="--viewers needs whole numbers"):
        counts_of(text)
    assert counts_of("30, 120") == [30, 120]
