# SPDX-License-Identifier: GPL-2.0-or-later
"""The owner of a class does not answer: pages say so, and come back when it is ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine
from websockets.exceptions import ConnectionClosed

from duet.classes import claims
from duet.serve.servers import finding
from duet.serve.servers.shared import SILENT
from duet.stream.endpoint import CLOSE_RESTART
from tests.support.class_pages import browser, join, refused, start
from tests.support.several import database, server
from tests.support.toy_server import Page, page

__all__ = ["database"]
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
