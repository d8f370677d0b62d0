# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lesson claims, on live guests: on the count clock, where there is no noise to excuse.

Claims on the wall clock are checked on the recorded table by `duet lint`: a busy host would make
them a timed test.
"""

from __future__ import annotations

import asyncio

import pytest

from duet.api.sources import house_sources
from duet.guests import Clock
from duet.kernels import KernelImage, KernelSettings
from duet.lessons.load import load, slugs
from duet.lessons.manifest import Claim
from duet.measure import Measurement, measure

pytestmark = pytest.mark.guest

CLAIMS = [
    pytest.param(slug, claim, id=f"{slug}-{claim.arm}-{claim.clock}-{claim.params['hogs']}-hogs")
    for slug in slugs()
    for claim in load(slug).lesson.claims
    if claim.metric == "ops_per_s" and claim.clock == "count"
]


async def table_of(slug: str, claim: Claim) -> Measurement:
    folder = load(slug)
    arms = (claim.arm, claim.to)
    params = folder.check_params({**claim.params, "seconds": 1}, claim.clock)
    sources = await house_sources(folder, arms, KernelSettings.default())
    async with asyncio.timeout(240):
        return await measure(
            folder,
            arms,
            next(iter(folder.lesson.workloads)),
            params,
            Clock.COUNT,
            1,
            sources,
            traced=False,
        )


@pytest.mark.parametrize(("slug", "claim"), CLAIMS)
def test_claim_holds(kernel_images: dict[str, KernelImage], slug: str, claim: Claim) -> None:
    rows = {row.arm: row for row in asyncio.run(table_of(slug, claim)).rows}
    rates = rows[claim.arm].ops_per_s_median, rows[claim.to].ops_per_s_median
    assert rates[0] is not None and rates[1] is not None, rows
    ratio = rates[0] / rates[1]
    print(f"{claim.arm} / {claim.to} = {ratio:.3f} on the count clock ({claim.source})")
    assert claim.ratio_max is None or ratio <= claim.ratio_max
    assert claim.ratio_min is None or ratio >= claim.ratio_min
