# SPDX-License-Identifier: GPL-2.0-or-later
"""Who owns a class: until it leaves the memory, and what pages say while the owner is silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine
from websockets.exceptions import ConnectionClosed

from duet.base import budgets
from duet.plugins.federation import shared as finding
from duet.plugins.federation.shared import SILENT
from duet.store import database as claims
from duet.stream.viewer import CLOSE_RESTART
from tests.plugins.classroom.pages import join, refused, start
from tests.plugins.federation.several import database, server
from tests.support.people import until
from tests.support.toy_server import Message, Page, browser, page

__all__ = ["database"]
WITHIN_S = 30.0
NOBODY_THERE = "http://127.0.0.1:9"


def test_pages_come_back_when_the_silent_server_is_ended(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setattr(finding, "FIND_S", 0.5)
    hung = create_engine(database, connect_args={"application_name": NOBODY_THERE})

    async def begin(address: str) -> tuple[str, str, str]:
        async with browser(address, "teacher") as teacher, page(address) as one:
            facts = await start(teacher)
            welcome = await join(one, facts["code"], "m")
            return facts["class_id"], facts["code"], welcome["secret"]

    async def go(address: str, class_id: str, code: str, secret: str) -> None:
        with hung.connect() as session:
            assert claims.claim(session, class_id) is None
            async with page(address) as one:
                join_anew = {"type": "class_join", "code": code, "nickname": "new"}
                error = await refused(one, **join_anew)
                assert "does not answer" in error["sentence"]
                assert f"End the server {NOBODY_THERE}" in error["remedy"]
            async with page(address) as one:
                with pytest.raises(ConnectionClosed) as closed:
                    await comes_back(one, code, secret)
                assert closed.value.rcvd is not None
                found = (closed.value.rcvd.code, closed.value.rcvd.reason)
                assert found == (CLOSE_RESTART, SILENT)
        hung.dispose()
        async with page(address) as one:
            welcome = await join(one, code, secret=secret)
            assert welcome["name"] == "m"

    async def comes_back(one: Page, code: str, secret: str) -> None:
        await one.say(type="class_join", code=code, secret=secret)
        await one.until_type("class_welcome")

    with server(tmp_path, database) as address:
        begun = run_async(begin(address))
    with server(tmp_path, database) as address:
        run_async(go(address, *begun))


def test_a_class_for_which_a_server_has_no_room_is_free_for_the_others(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setattr(budgets, "CLASSES_OPEN", 1)
    engine = create_engine(database)

    async def begin(address: str) -> Message:
        async with browser(address, "teacher") as teacher:
            return await start(teacher)

    async def go(full: str, other: str, facts: Message) -> None:
        async with browser(full, "teacher") as teacher, page(full) as one, page(other) as two:
            await start(teacher)
            error = await refused(one, type="class_join", code=facts["code"], nickname="m")
            assert error["code"] == "full"
            with engine.connect() as connection:
                assert claims.owner(connection, facts["class_id"]) is None
            await join(two, facts["code"], "m")
            await join(one, facts["code"], "n")  # by a relay

    with server(tmp_path, database) as address:
        begun = run_async(begin(address))
    with server(tmp_path, database) as full, server(tmp_path, database) as other:
        run_async(go(full, other, begun))
    engine.dispose()


def test_a_class_that_leaves_the_memory_is_free_for_the_others(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setattr(budgets, "CLASSES_OPEN", 1)
    engine = create_engine(database)

    def owner(class_id: str) -> str | None:
        with engine.connect() as connection:
            return claims.owner(connection, class_id)

    async def go(one: str, other: str) -> None:
        async with browser(one, "teacher") as teacher:
            first = await start(teacher)
            assert owner(first["class_id"]) == f"http://{one}"
            await teacher.say(type="class_leave")
            second = await start(teacher)
            assert owner(second["class_id"]) == f"http://{one}"
            await until(lambda: owner(first["class_id"]) is None, WITHIN_S)
            async with page(other) as member:
                await join(member, first["code"], "m")
                assert owner(first["class_id"]) == f"http://{other}"
            await teacher.say(type="class_end")
            await until(lambda: owner(second["class_id"]) is None, WITHIN_S)
            assert (await refused(teacher, type="class_join", code=second["code"]))[
                "code"
            ] == "no-class"

    with server(tmp_path, database) as one, server(tmp_path, database) as other:
        run_async(go(one, other))
    engine.dispose()
