# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server sends to a class passes the page's own checks, key by key."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any

from tests.plugins.classroom.pages import class_app, drive, join, start, teacher_and_two
from tests.support.page_checks import complaints, packed
from tests.support.toy_server import SLUG, cookie, serving


def test_a_class(root: Path, tmp_path: Path, run_async: Any) -> None:
    async def taught(address: str) -> list[dict[str, Any]]:
        async with teacher_and_two(address) as (teacher, one, two):
            state = await start(teacher)
            welcome = await join(one, state["code"], "Ada")
            await teacher.say(type="class_ask", text="Why?", options=["a", "b"])
            await one.until_type("class_question")
            await one.say(type="class_answer", question="poll-1", choice=1, right=True)
            mark = {"x": 0.5, "y": 0.5, "arm": "srcu", "t_ns": 1.0}
            await one.say(type="class_answer", step="s", question="q", mark=mark)
            await one.say(type="class_confused")
            await one.until_type("class_answered", question="q")
            await teacher.say(type="class_reveal", step="s", question="q")
            await one.until_type("class_tally", revealed=True)
            await drive(teacher, "s", spotlight={"arm": "srcu", "row": 1}, speed=0.5)
            await one.until_type("class_place")
            await teacher.until_type("class_confusion")
            await teacher.until(lambda m: m["type"] == "class_roster" and m["members"])
            await one.say(type="class_raise", text="Why?", step="s")
            await teacher.until(lambda m: m["type"] == "class_raised" and m["questions"])
            await teacher.say(type="class_count_down", act="start", seconds=60)
            await teacher.until_type("class_timer")
            await teacher.say(type="class_watch", member=welcome["member"])
            await one.until_type("class_watched", phase="asking")
            await one.say(type="class_consent", allowed=True)
            await one.say(type="class_here", lesson=SLUG, step="s")
            await teacher.until_type("class_seen")
            await join(two, state["code"], "", welcome["secret"])
            await two.until_type("class_answered", question="q")
            return teacher.seen + one.seen + two.seen

    with serving(class_app(tmp_path)) as address:
        seen = run_async(taught(address))
        (line,) = json.loads(asked(address, "/api/classes"))
        report = asked(address, f"/api/classes/{line['class_id']}/report")
    kinds = {message["type"] for message in seen if message["type"].startswith("class")}
    assert len(kinds) == 16
    bodies = [("readClassLine", json.dumps(line).encode()), ("readClassReport", report)]
    assert complaints(root, [*packed(seen), *bodies]) == []


def asked(address: str, path: str) -> bytes:
    """As the browser that started the class."""
    connection = http.client.HTTPConnection(address, timeout=200)
    try:
        connection.request("GET", path, headers=cookie(address, "teacher"))
        return connection.getresponse().read()
    finally:
        connection.close()
