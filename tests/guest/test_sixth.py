# SPDX-License-Identifier: GPL-2.0-or-later
"""The sixth lesson, of the tests alone, on live guests of the count clock: its claims hold, and
fail when the kernels are swapped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from duet.base.settings import EXTRA_LESSONS, repo_root
from duet.lessons.load import LessonFolder, load
from duet.measure.claims import broken, plan_of_claim
from tests.guest import test_claims_live as live
from tests.support.live_measure import TIMEOUT_S, measured

pytestmark = [pytest.mark.guest, pytest.mark.timeout(TIMEOUT_S)]


@pytest.fixture
def sixth(monkeypatch: pytest.MonkeyPatch) -> Iterator[LessonFolder]:
    monkeypatch.setenv(EXTRA_LESSONS, str(repo_root() / "tests" / "sixth"))
    yield load("06-pipe-herd")


def test_its_claims_hold_and_fail_when_the_kernels_are_swapped(sixth: LessonFolder) -> None:
    for claim in sixth.lesson.claims:
        (table,) = measured(plan_of_claim(sixth, claim))
        assert not table.errors, table.errors
        trouble = broken(claim, table)
        assert trouble is None, f"{trouble} ({claim.source})"
    first = sixth.lesson.claims[0]
    swapped = asyncio.run(live._swapped(plan_of_claim(sixth, first)))
    assert not swapped.errors, swapped.errors
    trouble = broken(first, swapped)
    assert trouble is not None and "is claimed" in trouble, trouble
