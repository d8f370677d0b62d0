# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench switch`: clicks on a lesson of a server whose runs come from synthetic parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from duet.base.errors import InfraError, InputError
from duet.lessons import load as lessons
from tests.support.toy_server import SLUG, serving
from tests.support.toy_stage import toy_app
from tools.bench import switch
from tools.bench.clicks import Moved, Step, main_step, opened
from tools.bench.switch import clicks, measure, result_of, templates, text_of, until_parked

FROM = "03-inode-recycling"


def step() -> Step:
    return main_step(SLUG, "")


def test_the_main_step_is_asked_for_as_the_page_does() -> None:
    found = lessons.load(SLUG).lesson
    hero = next(one for one in found.scenes if one.id == found.hero)
    assert step().start["arms"] == list(hero.arms) and step().start["params"] == dict(hero.params)
    assert (step().step, step().clock) == (found.hero, "wall")
    assert main_step(SLUG, "count").start["clock"] == "count"
    assert main_step(FROM, "").clock == "count", "the clock of the lesson"
    with pytest.raises(InputError):
        main_step("no-lesson", "")


def test_a_click_is_timed_until_every_lane_moves(tmp_path: Path, run_async: Any) -> None:
    async def body(address: str) -> tuple[Sequence[Moved], Sequence[Moved]]:
        async with opened(address) as page:
            shown = await clicks(page, FROM, 2, lambda: page.recorded(step()))
            return shown, await clicks(page, FROM, 2, lambda: page.live(step()))

    with serving(toy_app(tmp_path, speed=20.0)) as address:
        shown, live = run_async(body(address))
        assert templates(address)["held"] == 2
    for one in (*shown, *live):
        assert one.ms is not None and 0 < one.ms < 60_000 and one.lanes >= 2 and not one.why
    assert live[0].copies == 0, "no guest was copied"


def test_a_click_that_the_server_refuses_says_why(tmp_path: Path, run_async: Any) -> None:
    wrong = Step(SLUG, "", "wall", step().start | {"arms": ["nobody"]})

    async def body(address: str) -> Moved:
        async with opened(address) as page:
            return (await clicks(page, FROM, 1, lambda: page.live(wrong)))[0]

    with serving(toy_app(tmp_path)) as address:
        found = run_async(body(address))
    assert found.ms is None and "nobody" in found.why


def test_both_servers_are_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run_async: Any
) -> None:
    started: list[dict[str, str]] = []

    @contextmanager
    def server(**variables: str) -> Iterator[tuple[None, str]]:
        started.append(variables)
        with serving(toy_app(tmp_path / str(len(started)), speed=20.0)) as address:
            yield None, address

    async def at_once(*_: object) -> None:
        return

    monkeypatch.setattr(switch, "server", server)
    monkeypatch.setattr(switch, "until_parked", at_once)
    monkeypatch.setattr(switch, "SETTLE_S", 0.0)
    result = run_async(measure(FROM, step(), 2))
    assert started == [{}, {"DUET_TEMPLATES_MIB": "0"}, {"DUET_TEMPLATES_MIB": "0"}]
    assert result.recorded and result.parked and result.booted and not result.failed
    assert (result.recorded.n, result.parked.n, result.booted.n) == (2, 2, 2)
    assert result.lanes == 2 * result.lanes // 2 > 0 and result.copies == 0
    assert result.targets[1].met is None, "lanes that booted are no copies"


def test_waiting_for_parked_guests_ends(monkeypatch: pytest.MonkeyPatch, run_async: Any) -> None:
    answers = [{"waiting": 1.0, "later": 0.0, "making": 0.0}, {"waiting": 0.0, "later": 0.0}]
    asked: list[int] = []

    def scripted(address: str) -> dict[str, float]:
        asked.append(1)
        return {"making": 0.0} | answers[min(len(asked) - 1, 1)]

    monkeypatch.setattr(switch, "templates", scripted)
    monkeypatch.setattr(switch, "LOOK_S", 0.01)
    run_async(until_parked("x", 0))
    assert len(asked) == 2
    monkeypatch.setattr(switch, "PARK_S", 0.1)
    monkeypatch.setattr(switch, "templates", lambda address: answers[0])
    run_async(until_parked("x", 0))


def test_a_server_that_is_gone_is_one_sentence(run_async: Any) -> None:
    async def body() -> None:
        async with opened("127.0.0.1:9"):
            pass

    with pytest.raises(InfraError, match="the server does not answer"):
        run_async(body())


def test_the_text_says_which_target_is_met() -> None:
    def of(*ms: float, copies: int = 2) -> list[Moved]:
        return [Moved(one, 2, copies) for one in ms]

    fast = result_of(FROM, step(), of(900, 80, 90), of(500, 600), of(3000, copies=0))
    assert [one.met for one in fast.targets] == [True, True]
    assert fast.recorded_first_ms == 900 and fast.recorded and fast.recorded.p95_ms < 100
    text = text_of(fast)
    assert "the first time: 900 ms" in text and "copies: 4 of 4 lanes" in text
    slow = result_of(FROM, step(), of(900, 1800), of(1500), [Moved(why="it hangs.")])
    assert [one.met for one in slow.targets] == [False, False]
    assert "failed: booted: it hangs." in text_of(slow) and "none parked: none moved" in text_of(
        slow
    )
    booted = result_of(FROM, step(), of(9, 9), of(500, copies=1), [])
    assert [one.met for one in booted.targets] == [True, None]
