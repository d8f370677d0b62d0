# SPDX-License-Identifier: GPL-2.0-or-later
"""What a class answered, for the browser that started it and for no other."""

from __future__ import annotations

import asyncio
import csv
import http.client
import io
import json
from pathlib import Path
from typing import Any

from tests.plugins.classroom.pages import class_app, join, start, teacher_and_two
from tests.plugins.classroom.trying import NumberedStage, attempt, gallery, tries_app, trying
from tests.support.toy_server import SLUG, browser, cookie, serving


def get(address: str, path: str, name: str, method: str = "GET") -> tuple[int, str, str]:
    """Status, type and body, as a browser of that name gets it."""
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request(method, path, headers=cookie(address, name))
        answer = connection.getresponse()
        return answer.status, str(answer.headers["content-type"]), answer.read().decode()
    finally:
        connection.close()


async def lesson(address: str) -> dict[str, Any]:
    """A class with a poll in two rounds and a mark."""
    async with teacher_and_two(address) as (teacher, one, two):
        state = await start(teacher, title="Monday")
        await join(one, state["code"], "Ada Lovelace")
        await join(two, state["code"], "Bo")
        await teacher.say(type="class_ask", text="=Why?", options=["wait", "go"])
        for member, choice in ((one, 0), (two, 1)):
            await member.until_type("class_question")
            await member.say(type="class_answer", question="poll-1", choice=choice)
            await member.until_type("class_answered")
        await teacher.say(type="class_ask", question="poll-1", round=2)
        for member in (one, two):
            await member.until_type("class_question", round=2)
            await member.say(type="class_answer", question="poll-1", round=2, choice=1, right=True)
            await member.until_type("class_answered", round=2)
        mark = {"x": 0.5, "y": 0.25}
        await one.say(type="class_answer", step="one hog", question="where", mark=mark)
        await one.until_type("class_answered", question="where")
    return state


def test_a_report_has_counts_and_no_names(tmp_path: Path, run_async: Any) -> None:
    with serving(class_app(tmp_path)) as address:
        state = run_async(lesson(address))
        path = f"/api/classes/{state['class_id']}/report"
        status, _, body = get(address, path, "teacher")
        table = get(address, f"{path}.csv", "teacher")
        (line,) = json.loads(get(address, "/api/classes", "teacher")[2])
        others = get(address, "/api/classes", "another")
        refused = [get(address, f"{path}{end}", "another") for end in ("", ".csv")]
        unknown = get(address, "/api/classes/nothing/report", "another")
    assert status == 200 and "Ada" not in body + table[2]
    report = json.loads(body)
    assert (report["title"], report["lesson"], report["members"]) == ("Monday", SLUG, 2)
    poll, where = report["questions"]
    assert [r["counts"] for r in poll["rounds"]] == [{"0": 1, "1": 1}, {"1": 2}]
    assert [r["right"] for r in poll["rounds"]] == [None, 2] and poll["changed"] == 1
    assert where["rounds"][0]["marks"] == [[0.5, 0.25]]
    assert (line["title"], line["open"], line["members"]) == ("Monday", True, 2)
    assert line["code"] == state["code"] and line["started_at"].endswith("+00:00")
    assert json.loads(others[2]) == []
    assert [answer[0] for answer in (*refused, unknown)] == [404] * 3
    sentences = {json.loads(a[2])["error"]["sentence"] for a in refused}
    assert sentences == {
        json.loads(unknown[2])["error"]["sentence"].replace("nothing", state["class_id"])
    }
    assert table[1].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table[2])))
    assert [(r["round"], r["kind"], r["label"], r["count"]) for r in rows] == [
        ("1", "answer", "wait", "1"),
        ("1", "answer", "go", "1"),
        ("2", "answer", "go", "2"),
        ("2", "right", "", "2"),
        ("1", "mark", "", "1"),
    ]
    assert rows[0]["text"] == "'=Why?", "a spreadsheet calculates no text of a class"


def test_the_newest_class_comes_first(tmp_path: Path, run_async: Any) -> None:
    async def two(address: str) -> None:
        async with browser(address, "teacher") as teacher:
            await start(teacher, title="first")
            await teacher.say(type="class_end")
            await teacher.until_type("class", open=False)
            await start(teacher, title="second")

    with serving(class_app(tmp_path)) as address:
        run_async(two(address))
        lines = json.loads(get(address, "/api/classes", "teacher")[2])
    assert [(one["title"], one["open"]) for one in lines] == [("second", True), ("first", False)]


def test_a_class_is_deleted_by_who_started_it(tmp_path: Path, run_async: Any) -> None:
    async def going_on(address: str) -> tuple[int, int]:
        async with browser(address, "teacher") as teacher, browser(address, "ada") as one:
            state = await start(teacher)
            await join(one, state["code"], "Ada Lovelace")
            path = f"/api/classes/{state['class_id']}"
            found = [
                (await asyncio.to_thread(get, address, path, name, "DELETE"))[0]
                for name in ("ada", "teacher")
            ]
            await one.until_type("class", open=False)
            assert json.loads(get(address, "/api/classes", "teacher")[2]) == []
            assert get(address, path + "/report", "teacher")[0] == 404
            return found[0], found[1]

    with serving(class_app(tmp_path)) as address:
        assert run_async(going_on(address)) == (404, 200)
    assert b"Lovelace" not in (tmp_path / "classes.sqlite").read_bytes()


def test_a_report_has_what_was_tried_without_names(tmp_path: Path, run_async: Any) -> None:
    async def go(address: str) -> str:
        async with trying(address, "Ada") as (teacher, ada):
            await attempt(ada, hogs=9, seconds=1)
            await gallery(ada, "done")
            return str(next(m for m in teacher.seen if m["type"] == "class")["class_id"])

    with serving(tries_app(tmp_path, NumberedStage(50.0))) as address:
        path = f"/api/classes/{run_async(go(address))}/report"
        _, _, body = get(address, path, "teacher")
        _, _, table = get(address, f"{path}.csv", "teacher")
    (tried,) = json.loads(body)["tries"]
    assert (tried["makers"], tried["turned"]) == (1, {"hogs": 9, "seconds": 1})
    assert (tried["state"], tried["unit"], tried["ratio"]) == ("done", "umounts/s", 0.2)
    assert tried["values"] == {"rwsem": 900, "srcu": 180}
    (row,) = (row for row in csv.DictReader(io.StringIO(table)) if row["kind"] == "try")
    assert (row["text"], row["answer"], row["count"]) == ("hogs=9; seconds=1", "0.2", "1")
    assert row["label"] == "umounts: rwsem 900, srcu 180 umounts/s" and "Ada" not in body + table
