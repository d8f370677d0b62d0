# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench lanes`: a lane that fails is counted and the next one starts; what meets a target."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from duet.cli.arguments import read_request
from duet.guests.clones import TemplateCounts, Templates
from duet.session import LaneSource
from tools.bench import lanes
from tools.bench.lanes import (
    IDLE_LANES,
    Idle,
    LaneStart,
    bench,
    measure_lanes,
    result_of,
    text_of,
    vng_rounds,
)
from tools.bench.results import at_least, at_most, target_lines

SLUG = "02-grace-periods"
WHY = "the kernel of lane rwsem panicked: no."


def idle(pss_mib: int = 40, copies: int = IDLE_LANES) -> Idle:
    return Idle([pss_mib << 20] * IDLE_LANES, copies)


def starts(boots: list[float], copies: list[float], cloned: bool = True) -> list[LaneStart]:
    return [
        *(LaneStart("boot", ms, False, 1) for ms in boots),
        *(LaneStart("copy", ms, cloned, 1) for ms in copies),
    ]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[LaneStart]], list[str]]:
    """Replaces the lanes by a list of what they come to; gives who was asked."""

    def script(answers: list[LaneStart]) -> list[str]:
        left, asked = list(answers), []

        async def first_event(request: Any, arm: str, templates: Templates | None) -> LaneStart:
            vng = os.environ.get("DUET_GUEST") == "vng"
            asked.append("vng" if vng else "boot" if templates is None else "copy")
            return left.pop(0) if left else LaneStart("", 100.0, templates is not None, 1)

        async def idle_lanes(*_: object) -> Idle:
            return idle()

        async def kernel_sources(*_: object) -> dict[str, LaneSource]:
            return {}

        monkeypatch.setattr(lanes, "first_event", first_event)
        monkeypatch.setattr(lanes, "idle_lanes", idle_lanes)
        monkeypatch.setattr(lanes, "kernel_sources", kernel_sources)
        return asked

    return script


def test_lanes_that_fail_are_counted_and_do_not_end_the_measurement(
    scripted: Callable[[list[LaneStart]], list[str]], run_async: Any
) -> None:
    asked = scripted(
        [
            LaneStart("", 2000.0, False, 1),  # has a guest parked
            LaneStart("", None, False, 2, WHY),
            LaneStart("", 200.0, True, 1),
            LaneStart("", 2500.0, False, 2),
            LaneStart("", None, False, 0, "the guests' root cannot be made."),
        ]
    )
    spec = read_request(SLUG, "", "", "wall", [])
    result = run_async(measure_lanes(spec, 4, vng=False))
    assert asked == ["copy", *["boot", "copy"] * 4]
    assert (result.starts, result.reached, result.retries) == (8, 6, 2)
    assert (result.copies, result.copies_asked) == (3, 4)
    assert result.not_reached == [f"boot: {WHY}", "copy: the guests' root cannot be made."]
    text = text_of(result)
    assert "8 starts: 6 reached their first event, with 2 further tries to boot" in text
    assert f"did not: boot: {WHY}" in text
    assert "MISSED        of 8 starts reach their first event" in text


def test_boots_by_virtme_ng_are_taken_in_turns_with_the_others(
    scripted: Callable[[list[LaneStart]], list[str]], run_async: Any
) -> None:
    asked = scripted([])
    run_async(measure_lanes(read_request(SLUG, "", "", "wall", []), 6, vng=True))
    pair = ["boot", "copy"]
    assert asked == ["copy", *[*pair, "vng", *pair] * 3]
    assert vng_rounds(1) == {0} and vng_rounds(2) == {0, 1}
    assert len(vng_rounds(200)) == 3 and max(vng_rounds(200)) > 100


def test_each_target_is_met_or_missed_or_was_not_measured() -> None:
    fast = starts([2000.0] * 9, [200.0] * 9)
    good = result_of(SLUG, "rwsem", fast, idle(), TemplateCounts())
    assert [one.met for one in good.targets] == [True, True, None, True, True]
    vng = [*fast, LaneStart("vng", 3999.0, False, 1)]
    slow = result_of(SLUG, "rwsem", vng, idle(101), TemplateCounts(refused=2))
    assert [one.met for one in slow.targets] == [True, True, False, True, False]
    assert slow.refused_copies == 2 and "2 failed, and their lanes booted" in text_of(slow)
    late = starts([2000.0] * 3, [200.0] * 8 + [900.0] * 2)
    assert result_of(SLUG, "rwsem", late, idle(), TemplateCounts()).targets[0].met is False
    assert (
        result_of(SLUG, "rwsem", starts([1990.0], [200.0]), idle(), TemplateCounts()).targets[1].met
        is False
    )


def test_idle_lanes_that_are_no_copies_are_not_taken_for_such() -> None:
    found = result_of(SLUG, "rwsem", starts([2e3], [2e2]), idle(40, copies=7), TemplateCounts())
    assert found.targets[-1].met is None
    assert "8 idle guests, of which 7 are copies, take at most 40 MiB each" in text_of(found)
    none = result_of(SLUG, "rwsem", starts([2e3], []), Idle(why=["no."]), TemplateCounts())
    assert none.copy is None and none.idle_pss_mib is None
    assert "no idle guest came up" in text_of(none) and "idle guest: no." in text_of(none)


def test_numbers_of_targets_have_their_units() -> None:
    lines = target_lines([at_most("a", 400, "ms", 411.26), at_least("b", 10, "", None)])
    assert lines[0] == "MISSED        a: at most 400 ms wanted, 411.3 ms found"
    assert lines[1] == "not measured  b: at least 10 wanted"


def test_the_document_is_printed(
    scripted: Callable[[list[LaneStart]], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    scripted([])
    assert bench(SLUG, "", 1, False, as_json=True) == 0
    tree = json.loads(capsys.readouterr().out)
    assert tree["starts"] == tree["reached"] == 2 and len(tree["targets"]) == 5
