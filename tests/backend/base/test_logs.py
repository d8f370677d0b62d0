# SPDX-License-Identifier: GPL-2.0-or-later
"""Log lines as JSON: each about a run has its id, lane and role, and none says who a visitor is."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from duet.api.sessions import Sessions
from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.base.errors import InputError
from duet.base.logs import JsonLines, about, fields
from duet.base.settings import log_form
from tests.support.toy_server import page, serving
from tests.support.toy_stage import toy_app

log = logging.getLogger("duet.test")


@dataclass
class Lines:
    """What was logged, read back."""

    out: io.StringIO

    def read(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.getvalue().splitlines()]


@pytest.fixture
def lines() -> Iterator[Lines]:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    ours = logging.getLogger("duet")
    level = ours.level
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)
    yield Lines(out)
    ours.removeHandler(handler)
    ours.setLevel(level)


def test_a_line_is_about_what_its_task_is_about(lines: Lines, run_async: Any) -> None:
    async def lane(arm: str) -> None:
        with about(lane=arm):
            await asyncio.sleep(0)
            await asyncio.to_thread(log.info, "in a thread")

    async def run(name: str) -> None:
        with about(run=name):
            async with asyncio.TaskGroup() as group:
                group.create_task(lane("one"))
                group.create_task(lane("two"))
        log.info("after")

    async def both() -> None:
        await asyncio.gather(run("a"), run("b"))

    run_async(both())
    found = {(line.get("run"), line.get("lane"), line["message"]) for line in lines.read()}
    lanes = {(run, lane, "in a thread") for run in "ab" for lane in ("one", "two")}
    assert found == lanes | {(None, None, "after")}


def test_a_line_is_one_object_whatever_is_in_it(lines: Lines) -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError:
        log.exception('a "%s"\x1b[2J', "quote\n", extra=fields(took_s=0.5))
    (line,) = lines.read()
    assert line["message"] == 'a "quote\n"\x1b[2J' and line["took_s"] == 0.5
    assert line["level"] == "error" and "two\nlines" in line["error"]
    assert line["time"].endswith("+00:00")


def test_a_run_says_when_it_begins_and_ends_and_nobody_is_named(
    tmp_path: Path, lines: Lines, run_async: Any
) -> None:
    file = AccessFile(tmp_path / "access.json")
    tokens = file.make(Role, again=False)
    sessions = Sessions(file)

    async def run(where: str) -> tuple[str, str]:
        bearer = {"Authorization": f"Bearer {tokens[Role.STUDENT]}"}
        async with page(where, additional_headers=bearer) as one:
            await one.open()
            await one.start("srcu", seconds=1)
            run_id = await one.begun()
            await one.until_over()
            await one.say(type="nothing of ours")
            return run_id, next(iter(app.state.hub.viewers)).visitor.ident

    app: Any = toy_app(tmp_path, speed=20.0, sessions=sessions)
    with serving(app) as where:
        run_id, ident = run_async(run(where))
    of_run = [line for line in lines.read() if line.get("run") == run_id]
    begins, over = (line for line in of_run if line["logger"] == "duet.runs")
    assert (begins["message"], begins["lesson"]) == ("run begins", "02-grace-periods")
    assert begins["waited_s"] >= 0
    assert (over["message"], over["outcome"]) == ("run is over", "done") and over["took_s"] > 0
    whole = lines.out.getvalue()
    for secret in (ident, "127.0.0.1", *tokens.values()):
        assert secret not in whole


def test_the_form_is_text_or_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUET_LOG", raising=False)
    assert log_form() == "text"
    monkeypatch.setenv("DUET_LOG", "json")
    assert log_form() == "json"
    monkeypatch.setenv("DUET_LOG", "yaml")
    with pytest.raises(InputError, match="DUET_LOG"):
        log_form()
