# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench class`: students on the real server, whose runs come from synthetic parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from duet.base.budgets import WAITING_RUNS
from tests.support.toy_server import SLUG, serving
from tests.support.toy_stage import toy_app
from tools.bench import students
from tools.bench.classroom import HEALTH, PAGE, answers, request_ms, settings_of, text_of
from tools.bench.results import Answers, ClassResult
from tools.bench.students import everyone


def test_a_class_is_served_by_shared_runs_and_the_queue(
    tmp_path: Path, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(students, "PROBE_S", 0.2)
    settings = [setting | {"seconds": 1} for setting in settings_of(SLUG, 3)]
    assert len({tuple(setting.items()) for setting in settings}) == 3
    with serving(toy_app(tmp_path, speed=20.0)) as address:
        found = run_async(everyone(address, SLUG, 40, settings))
        assert request_ms(address, HEALTH) > 0 and request_ms(address, PAGE) > 0
    assert [one["end"] for one in found] == ["done"] * 40
    assert 3 <= len({one["run"] for one in found}) < 40, "equal requests share a run"
    asked = [ms for one in found for ms in one["answers_ms"]]
    assert len(asked) >= 40 and all(0 < ms < 60_000 for ms in asked), "each socket was answered"
    assert all(0 <= one["waited_s"] <= one["took_s"] for one in found)


def test_a_class_with_forty_requests_fits_the_queue() -> None:
    assert WAITING_RUNS >= 40


def test_the_text_says_what_was_missed() -> None:
    fast, slow = Answers(9, 10.0, 199.0), Answers(9, 10.0, 250.0)
    result = ClassResult(
        *(SLUG, 2, 1, 1, 1, ["the queue is full."], 1.0, 2.0, fast, slow, Answers(0, 0.0, 0.0)),
        *(9.5, 0.97, 412.0, 1.0),
    )
    text = text_of(result)
    assert "slot for 9.5 s; a lane took 0.97 CPUs and 412 MiB" in text
    assert "not: the queue is full." in text
    assert "/api/health: 9 answers, p99 10.0 ms, longest 199.0 ms (within 200 ms)" in text
    assert "the page (/): 9 answers, p99 10.0 ms, longest 250.0 ms (beyond 200 ms)" in text
    assert "student's socket: no answer came" in text
    assert answers([1.0] * 99 + [500.0]).longest_ms == 500.0 and answers([]).n == 0
