# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims against the recorded tables: broken ones fail, arms newer than the recording wait."""

from __future__ import annotations

from duet.lessons import load as lessons
from duet.lessons.schema import Claim, Lesson
from duet.lint.names import broken_claims
from duet.server.recordings import MEASURED, read_tables

FOLDER = lessons.load("02-grace-periods")
TABLES = read_tables(FOLDER.folder / "recorded" / MEASURED)


def reported(**changes: object) -> list[str]:
    """What is said of one claim: SRCU's on the wall clock, changed."""
    claim: Claim = next(c for c in FOLDER.lesson.claims if c.arm == "srcu" and c.clock == "wall")
    lesson: Lesson = FOLDER.lesson.model_copy(
        update={"claims": (claim.model_copy(update=changes),)}
    )
    return [sentence for _, sentence in broken_claims(lesson, TABLES)]


def test_a_claim_that_holds_says_nothing() -> None:
    assert TABLES and reported() == []


def test_a_claim_that_does_not_hold_or_was_not_measured_is_reported() -> None:
    assert "is claimed" in " ".join(reported(ratio_max=0.01))
    assert "no recorded table" in " ".join(reported(params={"hogs": 4}))


def test_an_arm_newer_than_the_recording_and_another_shift_are_left_to_live_guests() -> None:
    assert reported(arm="newer") == []
    assert reported(shift=3, ratio_max=0.01) == []
