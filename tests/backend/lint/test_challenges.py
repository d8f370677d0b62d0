# SPDX-License-Identifier: GPL-2.0-or-later
"""The lint on challenges: three of them, limits that can be measured, patterns that can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.planted import SLUG, problems

FAULTS = {
    "a metric that is not there": (
        "metric: ops_per_s\n", "metric: ops_per_m\n", "no metric is called 'ops_per_m'"),
    "an arm that is not there": (
        "arm: srcu\n    aim: break", "arm: scru\n    aim: break", "no arm is called 'scru'"),
    "a knob out of range": (
        "ratio_min: 0.6\n        params: {hogs: 9}", "ratio_min: 0.6\n        params: {hogs: 99}",
        "parameter 'hogs' must be from 1 to 9"),
    "a metric that the workload does not give": (
        "metric: ops_per_s\n", "metric: bogo_ops_per_s\n",
        "does not give the metric bogo_ops_per_s"),
    "a pattern that cannot be read": (
        "'down_(read|write)", "'down_((read|write)", "this is not a regular expression"),
    "a script that is not there": (
        "beside: mounts", "beside: mouts", "there is no script 'mouts'"),
    "a pattern without a number": (
        r"umounts=(\d+)'", r"umounts=\d+'", "the pattern has no group for the number"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_file_and_line(copy: Path, name: str) -> None:
    path = copy / f"lessons/{SLUG}/challenges.yaml"
    old, new, sentence = FAULTS[name]
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    found = [one for one in problems() if sentence in one.sentence]
    assert found, problems()
    assert found[0].file == f"lessons/{SLUG}/challenges.yaml" and found[0].line > 1


def test_two_challenges_are_one_too_few(copy: Path) -> None:
    path = copy / f"lessons/{SLUG}/challenges.yaml"
    text = path.read_text()
    first, rest = text.index("  no-wait:"), text.index("  wait-for-nobody:")
    path.write_text(text[:first] + text[rest:])
    assert "a lesson that has challenges needs 3 challenges, not 2" in [
        p.sentence for p in problems()
    ]
