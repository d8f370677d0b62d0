# SPDX-License-Identifier: GPL-2.0-or-later
"""Costly requests stand in line, share results, and disturb neither measurement nor page."""

from __future__ import annotations

import asyncio
import http.client
import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from duet.api.app import create_app
from duet.api.stills import Busy, Costly
from duet.base import budgets
from duet.kernels import KernelSettings
from duet.lessons.load import load
from duet.server import archive as kept_module
from duet.server.wiring import default_director
from tests.support.toy_server import SLUG, page, serving
from tests.support.toy_stage import toy_app

NINE, ONE = (load(SLUG).folder / f"recorded/{name}.duet" for name in ("9-hogs", "1-hog"))
RUNS = 40
Answer = tuple[int, dict[str, str], bytes]


def get(address: str, path: str, **headers: str) -> Answer:
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


@pytest.fixture
def work() -> Iterator[Work]:
    made = Work()
    yield made
    made.go_on.set()


class Work:
    """Work that waits until it may go on."""

    def __init__(self) -> None:
        self.began, self.go_on = threading.Event(), threading.Event()
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        self.began.set()
        self.go_on.wait(60)
        return self.calls


def test_equal_requests_share_one_result_and_the_rest_wait_in_line(
    run_async: Any, work: Work
) -> None:
    async def ask() -> None:
        costly = Costly(lambda: None)
        equal = [asyncio.create_task(costly.run("compare", "a", work, same=1)) for _ in range(24)]
        await asyncio.to_thread(work.began.wait, 60)
        _, at_most, per_address = budgets.COSTLY["compare"]
        more = [
            asyncio.create_task(costly.run("compare", "a", work)) for _ in range(per_address - 1)
        ]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="are waiting already"):
            await costly.run("compare", "a", work)
        others = [
            asyncio.create_task(costly.run("compare", f"b{n}", work))
            for n in range(at_most - per_address + 1)
        ]
        await asyncio.sleep(0.01)
        with pytest.raises(Busy, match="are waiting already"):
            await costly.run("compare", "c", work)
        assert await costly.run("listing", "c", lambda: "another kind") == "another kind"
        work.go_on.set()
        assert await asyncio.gather(*equal) == [1] * 24
        await asyncio.gather(*more, *others)
        assert await costly.run("compare", "c", work) == work.calls
        costly.close()

    run_async(ask())


def test_nothing_costly_runs_beside_a_measurement(run_async: Any, work: Work) -> None:
    work.go_on.set()

    async def ask() -> None:
        costly = Costly(lambda: "arms are being measured")
        for kind in ("compare", "bundle", "events"):
            with pytest.raises(Busy, match="while arms are being measured"):
                await costly.run(kind, "a", work)
        assert work.calls == 0

    run_async(ask())


def test_a_turn_that_does_not_come_is_reported(
    run_async: Any, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "COSTLY_WAIT_S", 0.05)

    async def ask() -> None:
        costly = Costly(lambda: None)
        first = asyncio.create_task(costly.run("compare", "a", work))
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="got no turn within"):
            await costly.run("compare", "a", work)
        work.go_on.set()
        await first

    run_async(ask())


@pytest.fixture
def saved(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A real server over 40 saved runs; yields its address and application."""
    runs = tmp_path / "runs"
    runs.mkdir()
    monkeypatch.setenv("DUET_RUNS", str(runs))
    for number in range(RUNS):
        shutil.copy(NINE if number % 2 else ONE, runs / f"run-20260101-{number:06}.duet")
    (tmp_path / "index.html").write_text("built")
    settings = KernelSettings(tmp_path / "cache", root / "kernel-patches")
    app = create_app(lambda hub: default_director(hub, settings, False), page=tmp_path)
    with serving(app) as address:
        yield address, app


def test_24_comparisons_are_made_once_and_the_page_is_answered(saved: Any) -> None:
    address, app = saved
    ids = [f"kept:{SLUG}:run-20260101-{number:06}" for number in (0, 1, 2, 3)]
    path = f"/api/compare?first={ids[0]}&second={ids[1]}"
    with ThreadPoolExecutor(24) as pool:
        asked = [pool.submit(get, address, path) for _ in range(24)]
        assert get(address, "/")[0] == 200
        answers = [each.result() for each in asked]
    assert {status for status, _, _ in answers} == {200}
    assert len({body for _, _, body in answers}) == 1
    again = get(address, f"/api/compare?first={ids[2]}&second={ids[3]}")  # copies of the same
    assert again[2] == answers[0][2]
    assert app.state.comparisons.count == 1


def test_the_first_open_of_a_saved_run_reads_no_other_one_on_the_event_loop(
    saved: Any, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _ = saved
    loop_threads: list[bool] = []
    describe = kept_module.describe

    def watched(*given: Any, **named: Any) -> Any:
        try:
            asyncio.get_running_loop()
            loop_threads.append(True)
        except RuntimeError:
            loop_threads.append(False)
        return describe(*given, **named)

    monkeypatch.setattr(kept_module, "describe", watched)

    async def watch() -> None:
        async with page(address) as one:
            await one.open(f"kept:{SLUG}:run-20260101-000001")
            await one.until_type("batch")
            assert loop_threads == []
            status, _, body = await asyncio.to_thread(get, address, f"/api/kept?lesson={SLUG}")
            assert (status, len(json.loads(body))) == (200, RUNS)
            assert loop_threads == [False] * RUNS
            assert (await asyncio.to_thread(get, address, "/api/kept"))[2] == body
            assert len(loop_threads) == RUNS
            one.socket.transport.abort()  # with a backlog unread, a close takes 10 s

    run_async(watch())


def test_a_saved_run_of_another_lesson_is_refused_when_it_is_opened(
    saved: Any, run_async: Any
) -> None:
    async def ask() -> dict[str, Any]:
        async with page(saved[0]) as one:
            run = "kept:01-shrinker-bitmaps:run-20260101-000001"
            await one.say(type="open", lesson="01-shrinker-bitmaps", run=run)
            return await one.until_type("error")

    assert "does not belong to lesson 01-shrinker-bitmaps" in run_async(ask())["sentence"]


def test_a_saved_run_is_downloaded_as_the_file_that_it_is(saved: Any) -> None:
    status, headers, body = get(saved[0], f"/api/runs/kept:{SLUG}:run-20260101-000001/bundle")
    assert (status, body) == (200, NINE.read_bytes())
    assert f"{SLUG}-kept-{SLUG}-run-20260101-000001.duet" in headers["content-disposition"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    built = tmp_path_factory.mktemp("dist")
    (built / "index.html").write_text("built")
    with serving(toy_app(built, speed=20.0)) as address:
        yield address


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e999"])
def test_a_moment_that_is_no_number_is_refused(toy: str, value: str) -> None:
    run = f"recorded:{SLUG}:synthetic"
    status, _, body = get(toy, f"/api/runs/{run}/lanes/srcu/events?around_ns={value}")
    assert status == 422
    assert "around_ns is not usable" in json.loads(body)["error"]["sentence"]


@pytest.mark.parametrize(
    ("path", "site", "mode", "status"),
    [
        ("/", "cross-site", "navigate", 200),
        ("/?embed=1", "cross-site", "navigate", 200),
        ("/", "cross-site", "no-cors", 403),
        ("/", "same-origin", "cors", 200),
        ("/api/health", "none", "navigate", 200),
        ("/api/health", "same-origin", "cors", 200),
        ("/api/health", "cross-site", "no-cors", 403),
        ("/api/health", "same-site", "no-cors", 403),  # another server of this host
        ("/api/compare?first=a&second=b", "cross-site", "navigate", 403),
        ("/still.png?lesson=02-grace-periods", "cross-site", "no-cors", 403),
        ("/api/lessons", "", "", 200),
    ],
)
def test_pages_of_other_sites_may_only_link_to_the_page(
    toy: str, path: str, site: str, mode: str, status: int
) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode} if site else {}
    came, answered, _ = get(toy, path, **headers)
    assert came == status
    if status == 200:
        assert answered["cross-origin-resource-policy"] == "same-origin"
