# SPDX-License-Identifier: GPL-2.0-or-later
"""On a server that asks for tokens the code of a class lets its students in, while it goes on."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from duet.api.app import create_app
from duet.api.sessions import Sessions
from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.base.budgets import CodePace
from duet.server.director import Director
from duet.store.store import Store
from duet.stream.viewer import CLOSE_TOKEN
from tests.plugins.classroom.pages import join, start
from tests.support.toy_server import page, serving
from tests.support.toy_stage import ToyKernels, ToyRecordings, ToyStage

Served = tuple[str, str]
"""Address, and the instructor's token."""


def app(folder: Path) -> Any:
    def director(hub: Any) -> Director:
        store = Store(f"sqlite:///{folder / 'classes.sqlite'}")
        return Director(hub, ToyStage(50.0), ToyRecordings(), ToyKernels(), store=store)

    (folder / "index.html").write_text("the app")
    return create_app(director, page=folder, sessions=Sessions(AccessFile(folder / "access.json")))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    tokens = AccessFile(tmp_path / "access.json").make(Role, again=False)
    with serving(app(tmp_path)) as address:
        yield address, tokens[Role.INSTRUCTOR]


def get(address: str, path: str, **headers: str) -> tuple[int, str, str]:
    """Status, cookie and body."""
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request(
            "GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        answer = connection.getresponse()
        cookie = (answer.headers["set-cookie"] or "").partition(";")[0]
        return answer.status, cookie, answer.read().decode()
    finally:
        connection.close()


def browser(address: str, cookie: str) -> Any:
    return page(address, additional_headers={"Cookie": cookie})


def test_a_code_lets_in_as_a_student_until_the_class_ends(served: Served, run_async: Any) -> None:
    address, token = served
    _, teachers, _ = get(address, f"/?token={token}")

    async def go() -> tuple[str, str]:
        async with browser(address, teachers) as teacher:
            code = str((await start(teacher))["code"])
            status, cookie, _ = get(address, f"/?class={code.upper().replace('-', '%20')}")
            assert status == 303 and cookie
            assert get(address, f"/?class={code}", Cookie=cookie)[0::2] == (200, "the app")
            assert get(address, "/metrics", Cookie=cookie)[0] == 403
            async with browser(address, cookie) as student:
                assert student.seen[0]["role"] == "student"
                await join(student, code, "Ada")
                await teacher.say(type="class_end")
                with pytest.raises(ConnectionClosed) as end:
                    await student.until_type("no such message")
            assert end.value.rcvd is not None and end.value.rcvd.code == CLOSE_TOKEN
            return code, cookie

    code, cookie = run_async(go())
    assert get(address, "/api/lessons", Cookie=cookie)[0] == 401
    status, cookie, body = get(address, f"/?class={code}")
    assert status == 401 and "No class has this code" in body
    assert get(address, "/api/lessons", Cookie=cookie)[0] == 401  # a name, and no session


TEACHERS: list[dict[str, object]] = [
    {"type": "class_settle", "number": 1, "answered": True, "hidden": True},
    {"type": "class_show_raised", "shown": True},
    {"type": "class_count_down", "act": "start"},
    {"type": "class_watch", "member": "x"},
    {"type": "class_remove", "member": "x"},
]


def test_a_student_may_lead_nothing_and_has_no_report(served: Served, run_async: Any) -> None:
    """Refused by the role, before anything of the class is looked at."""
    address, token = served
    _, teachers, _ = get(address, f"/?token={token}")

    async def go() -> list[tuple[str, str]]:
        async with browser(address, teachers) as teacher:
            state = await start(teacher)
            _, cookie, _ = get(address, f"/?class={state['code']}")
            path = f"/api/classes/{state['class_id']}/report"
            assert get(address, path, Cookie=teachers)[0] == 200
            assert [get(address, f"{path}{e}", Cookie=cookie)[0] for e in ("", ".csv")] == [404] * 2
            async with browser(address, cookie) as student:
                await join(student, state["code"], "Ada")
                found = []
                for command in TEACHERS:
                    await student.say(**command)
                    error = await student.until_type("error")
                    found.append((error["code"], error["sentence"]))
        return found

    refused = run_async(go())
    assert len(refused) == len(TEACHERS)
    assert {code for code, _ in refused} == {"forbidden"}
    assert all("role instructor" in sentence for _, sentence in refused)


def test_a_link_on_a_foreign_page_changes_no_session(served: Served, run_async: Any) -> None:
    address, token = served
    _, teachers, _ = get(address, f"/?token={token}")

    async def go() -> str:
        async with browser(address, teachers) as teacher:
            return str((await start(teacher))["code"])

    code = run_async(go())
    # The browser held its cookie back; the same address is opened again, with it.
    status, cookie, body = get(address, f"/?class={code}", Sec_Fetch_Site="cross-site")
    assert (status, cookie) == (200, "") and 'http-equiv="refresh"' in body
    status, cookie, _ = get(address, f"/?class={code}", Cookie=teachers)
    assert (status, cookie) == (200, "")


async def wrong_codes(address: str, number: int) -> list[int]:
    """Statuses of so many wrong codes that come at once, each of a browser without a cookie."""
    ask, loop = partial(get, address, "/?class=apple-acorn-zebra"), asyncio.get_running_loop()
    with ThreadPoolExecutor(number) as threads:
        found = await asyncio.gather(*(loop.run_in_executor(threads, ask) for _ in range(number)))
    return [status for status, _, _ in found]


def test_behind_one_address_the_right_code_gets_in_among_many_wrong_ones(
    served: Served, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duet.api.class_codes.CODES_OF_ADDRESS", CodePace(30, 0.05))
    address, token = served
    _, teachers, _ = get(address, f"/?token={token}")

    async def go() -> None:
        async with browser(address, teachers) as teacher:
            code = str((await start(teacher))["code"])
            begun_s = time.monotonic()
            assert await wrong_codes(address, 60) == [401] * 60
            assert time.monotonic() - begun_s >= 0.05 * 29  # 30 were free, each other one waited
            found = [await asyncio.to_thread(get, address, f"/?class={code}") for _ in range(40)]
            assert [status for status, _, _ in found] == [303] * 40
            assert get(address, f"/?token={token}")[0] == 303

    run_async(go())


def test_a_flood_of_wrong_codes_gets_a_page_that_tries_again(
    served: Served, run_async: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duet.api.class_codes.CODES_OF_ADDRESS", CodePace(5, 0.5))
    monkeypatch.setattr("duet.api.class_codes.CODE_WAIT_S", 1.0)
    address, token = served
    _, teachers, _ = get(address, f"/?token={token}")

    async def go() -> None:
        async with browser(address, teachers) as teacher:
            code = str((await start(teacher))["code"])
            found = await wrong_codes(address, 20)
            assert set(found) == {401, 429}
            await wrong_codes(address, 2)
            status, _, body = get(address, f"/?class={code}")
            while status == 429:  # as the page does, which waits longer
                assert 'http-equiv="refresh"' in body
                status, _, body = await asyncio.to_thread(get, address, f"/?class={code}")
            assert status == 303

    run_async(go())


def test_a_browser_is_slowed_down_before_its_address(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duet.api.class_codes.CODES_OF_BROWSER", CodePace(2, 0.5))
    address, _ = served

    def asked(**headers: str) -> tuple[float, str]:
        begun_s = time.monotonic()
        status, cookie, _ = get(address, "/?class=apple-acorn-zebra", **headers)
        assert status == 401
        return time.monotonic() - begun_s, cookie

    _, cookie = asked()
    assert cookie and asked(Cookie=cookie)[1] == ""  # it has a name already
    times = [asked(Cookie=cookie)[0] for _ in range(3)]
    assert times[2] > 0.3
    assert min(asked()[0] for _ in range(3)) < 0.3


def test_a_restarted_server_knows_who_came_by_a_code(tmp_path: Path, run_async: Any) -> None:
    tokens = AccessFile(tmp_path / "access.json").make(Role, again=False)

    async def begun(address: str, teachers: str) -> str:
        async with browser(address, teachers) as teacher:
            return str((await start(teacher))["code"])

    with serving(app(tmp_path)) as address:
        _, teachers, _ = get(address, f"/?token={tokens[Role.INSTRUCTOR]}")
        code = run_async(begun(address, teachers))
        _, cookie, _ = get(address, f"/?class={code}")
    with serving(app(tmp_path)) as again:
        renamed = f"duet-{again.rpartition(':')[2]}={cookie.partition('=')[2]}"
        assert get(again, "/api/lessons", Cookie=renamed)[0] == 200
