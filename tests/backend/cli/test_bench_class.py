# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet bench class`: students on the real server, whose runs come from synthetic parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duet.budgets import WAITING_RUNS
from duet.cli.bench.classroom import health_ms, settings_of, text_of
from duet.cli.bench.students import everyone
from duet.cli.results.benching import ClassResult
from tests.support.toy_server import SLUG, serving
from tests.support.toy_stage import toy_app


def test_a_class_is_served_by_shared_runs_and_the_queue(tmp_path: Path, run_async: Any) -> None:
    settings = [setting | {"seconds": 1} for setting in settings_of(SLUG, 3)]
    assert len({tuple(setting.items()) for setting in settings}) == 3
    with serving(toy_app(tmp_path, speed=20.0)) as address:
        found = run_async(everyone(address, SLUG, 40, settings))
        assert health_ms(address) > 0
    assert [one["end"] for one in found] == ["done"] * 40
    assert 3 <= len({one["run"] for one in found}) < 40, "equal requests share a run"
    assert all(0 <= one["waited_s"] <= one["took_s"] for one in found)


def test_a_class_with_forty_requests_fits_the_queue() -> None:
    assert WAITING_RUNS >= 40


def test_the_text_says_what_was_missed() -> None:
    result = ClassResult(SLUG, 2, 1, 1, 1, ["the queue is full."], 1.0, 2.0, 9, 10.0, 250.0, 1.0)
    text = text_of(result)
    assert "not: the queue is full." in text and "beyond 200 ms" in text
