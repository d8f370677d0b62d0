# SPDX-License-Identifier: GPL-2.0-or-later
"""Segments of a recording over HTTP: the same run, immutable, for whoever may watch; real nginx."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from duet.api.app import create_app
from duet.api.proxy import Front, PublicUrl
from duet.api.sessions import Sessions
from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.base.budgets import PROBE_SEGMENTS, SEGMENT_RAW_BYTES
from duet.server.director import Director
from duet.server.recordings import LessonRecordings
from duet.stream.cutting import Cutting
from tests.support.proxy import NGINX, free_port, nginx
from tests.support.real_server import keyed, look
from tests.support.segments import Message, messages_of
from tests.support.toy_server import SLUG, page, serving
from tests.support.toy_stage import ToyKernels, ToyRecordings, ToyStage

NINE = f"recorded:{SLUG}:9-hogs"
NO_SEGMENT = f"0-{'0' * 32}"
YEAR = "public, max-age=31536000, immutable"


@dataclass
class Served:
    """A server of the lessons' own recordings, and how many requests for segments reached it."""

    address: str
    tokens: dict[Role, str] = field(default_factory=dict)
    reached: list[str] = field(default_factory=list)

    def get(self, path: str, cookie: str = "") -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection(self.address, timeout=120)
        try:
            connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def listing(self, cookie: str = "") -> list[Message]:
        status, headers, body = self.get(f"/api/runs/{NINE}/segments", cookie)
        assert (status, headers["cache-control"]) == (200, "no-store")
        found: list[Message] = json.loads(body)["segments"]
        return found


def recorded_app(
    served: Served, sessions: Sessions | None = None, front: Front | None = None
) -> Any:
    app = create_app(
        lambda hub: Director(hub, ToyStage(), LessonRecordings(), ToyKernels(), builds=False),
        page=Path("/nonexistent"),
        sessions=sessions,
        front=front,
    )

    @app.middleware("http")
    async def count(request: Any, go_on: Any) -> Any:
        if "/segments/" in request.url.path:
            served.reached.append(request.url.path)
        return await go_on(request)

    return app


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    made = Served("")
    with serving(recorded_app(made)) as address:
        made.address = address
        yield made


def name(line: Message) -> str:
    return f"{line['n']}-{line['digest']}"


def test_the_segments_are_the_run_that_the_socket_sends(served: Served, run_async: Any) -> None:
    seen = run_async(look(served.address, NINE)).seen
    found: list[Message] = []
    for at, line in enumerate(served.listing()):
        status, headers, body = served.get(f"/segments/{NINE}/{name(line)}")
        assert (status, line["n"], line["bytes"]) == (200, at, len(body))
        assert (headers["content-encoding"], headers["cache-control"]) == ("gzip", YEAR)
        assert headers["set-cookie"] is None and headers["vary"] is None, "or no cache takes it"
        messages = messages_of(body)
        assert len(body) <= SEGMENT_RAW_BYTES // 3
        found += messages
    assert found[0]["type"] == "run" and found[-1] == seen[-1] | {"whole": True}
    whole = [x for x in seen if x.get("run_id") == NINE]
    assert keyed(found) == keyed(whole)
    packed = sum(line["bytes"] for line in served.listing())
    raw = sum(len(c) for x in found if x["type"] == "batch" for c in x["columns"].values())
    assert packed * 3 < raw


def test_a_page_that_fetches_is_sent_the_list_alone(served: Served, run_async: Any) -> None:
    listed = served.listing()

    async def opened() -> list[Message]:
        async with page(served.address) as one:
            await one.say(type="open", lesson=SLUG, run=NINE, segments=True)
            await one.until_type("segments")
            await one.say(type="open", lesson=SLUG, run="none")
            await one.until_type("lesson")
            return one.seen

    seen = run_async(opened())
    of_run = [x for x in seen if x.get("run_id") == NINE]
    assert [x["type"] for x in of_run] == ["segments"]
    assert of_run[0]["segments"] == listed


def test_it_stays_the_same_for_all_who_ask(served: Served) -> None:
    paths = [f"/segments/{NINE}/{name(line)}" for line in served.listing()]
    with ThreadPoolExecutor(4) as pool:
        rounds = [list(pool.map(lambda path: served.get(path)[2], paths)) for _ in range(3)]
    assert rounds[0] == rounds[1] == rounds[2]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        (f"/segments/{NINE}/7", "'7' is not a segment name."),
        (f"/segments/{NINE}/{NO_SEGMENT}", f"has no segment '{NO_SEGMENT}' here."),
        (f"/segments/nowhere/{NO_SEGMENT}", "the run 'nowhere' has no segment"),
        ("/api/runs/nowhere/segments", "there is no run 'nowhere' here"),
    ],
)
def test_a_bad_address_is_one_sentence(served: Served, path: str, sentence: str) -> None:
    status, headers, body = served.get(path)
    assert status == 404 and headers["cache-control"] is None
    assert sentence in json.loads(body)["error"]["sentence"]


def test_who_may_not_watch_gets_no_list_and_no_segment(tmp_path: Path) -> None:
    made = Served("")
    access = AccessFile(tmp_path / "access.json")
    made.tokens = access.make(Role, again=False)
    with serving(recorded_app(made, Sessions(access))) as address:
        made.address = address
        _, headers, _ = made.get(f"/?token={made.tokens[Role.VIEWER]}")
        cookie = str(headers["set-cookie"]).partition(";")[0]
        (first, *_) = made.listing(cookie)
        path = f"/segments/{NINE}/{name(first)}"
        assert made.get(path, cookie)[0] == 200
        for stranger in ("", f"{cookie}x"):
            assert made.get(path, stranger)[0] == 401
            assert made.get(f"/api/runs/{NINE}/segments", stranger)[0] == 401


def test_a_live_run_by_segments_is_the_run_by_messages(run_async: Any) -> None:
    made = Served("")
    app, cutting = live_app()

    async def watch() -> tuple[list[Message], list[Message]]:
        async with page(made.address) as first, page(made.address) as led:
            for one in (first, led):
                await one.say(type="open", lesson=SLUG, run="none", segments=True)
                await one.until_type("lesson")
            await first.start("srcu", seconds=1)
            run = await first.begun()
            await led.say(type="open", lesson=SLUG, run=run, segments=True)
            await first.until_over()
            got: list[Message] = []
            last = -1
            while not (got and got[-1]["type"] == "run" and got[-1]["phase"] == "done"):
                message = await led.next()
                if message["type"] != "segments":
                    got += [message] if message.get("run_id") == run else []
                    continue
                numbers = [line["n"] for line in message["segments"]]
                assert numbers == list(range(last + 1, last + 1 + len(numbers))) or last < 0
                last = numbers[-1]
                for line in message["segments"]:
                    path = f"/segments/{run}/{name(line)}"
                    got += messages_of((await asyncio.to_thread(made.get, path))[2])
            assert last >= 0, "it was led to segments"
            return first.of_run(run, "batch"), [x for x in got if x["type"] == "batch"]

    with serving(app) as made.address:
        cutting[0].direct = 1
        cutting[0].announcer.reach.led(PROBE_SEGMENTS)  # as if a cache had shown itself
        messages, segments = run_async(watch())
    kept = [x for x in messages if x["table"] != "open"]
    assert [x for x in segments if x["table"] != "open"] == kept and kept


def live_app() -> tuple[Any, list[Cutting]]:
    """A server whose guests are synthetic, and what cuts its runs."""
    made: list[Cutting] = []

    def director(hub: Any) -> Director:
        one = Director(hub, ToyStage(1.0), ToyRecordings(), ToyKernels(()), builds=False)
        made.append(one.segments)
        return one

    return create_app(director, page=Path("/nonexistent")), made


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed (setup.sh dev)")
def test_nginx_asks_the_server_once_for_each_segment(tmp_path: Path) -> None:
    made = Served("")
    port = free_port()
    front = Front(PublicUrl.parse(f"http://127.0.0.1:{port}/duet/"))
    with (
        serving(recorded_app(made, front=front)) as upstream,
        nginx(tmp_path, port, upstream),
    ):
        made.address = upstream
        lines = made.listing()
        made.address = f"127.0.0.1:{port}"
        paths = [f"/duet/segments/{NINE}/{name(line)}" for line in lines]
        with ThreadPoolExecutor(8) as pool:  # all at once: the lock lets one request through
            together = list(pool.map(made.get, [paths[0]] * 8))
        assert [status for status, _, _ in together] == [200] * 8, together[0][2]
        assert {body for _, _, body in together} == {together[0][2]}
        assert len(made.reached) == 1
        for path in paths:
            made.get(path)
            status, headers, body = made.get(path)
            assert (status, headers["x-cache-status"]) == (200, "HIT")
            assert (headers["content-encoding"], headers["cache-control"]) == ("gzip", YEAR)
            assert len(body) == lines[paths.index(path)]["bytes"]
        assert len(made.reached) == len(paths)
        missing = f"/duet/segments/{NINE}/{NO_SEGMENT}"
        assert [made.get(missing)[0] for _ in range(2)] == [404, 404]
        assert len(made.reached) == len(paths) + 2, "a refusal is not cached"
