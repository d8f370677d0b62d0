# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may do what, on a real server that asks for tokens: page, calls and sockets."""

from __future__ import annotations

import http.client
import json
import logging
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from duet.api.app import create_app
from duet.api.routes import ROUTES
from duet.api.sessions import Sessions, ident_of
from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.base.settings import repo_root
from duet.server.archive import ArchivedRuns, ArchiveFolder
from duet.server.director import Director
from duet.stream.viewer import CLOSE_TOKEN
from tests.support.toy_server import page, serving
from tests.support.toy_stage import ToyKernels, ToyRecordings, ToyStage

NINE = repo_root() / "lessons/02-grace-periods/recorded/9-hogs.duet"


@dataclass
class Served:
    """A server with tokens, and the saved runs of its folder."""

    address: str
    file: AccessFile
    tokens: dict[Role, str]
    saved: ArchiveFolder
    app: FastAPI

    def get(
        self, path: str, method: str = "GET", **headers: str
    ) -> tuple[int, http.client.HTTPMessage, str]:
        connection = http.client.HTTPConnection(self.address, timeout=10)
        try:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=names)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def cookie(self, role: Role) -> str:
        """What a browser has after it opened a link."""
        _, headers, _ = self.get(f"/?token={self.tokens[role]}")
        return str(headers["set-cookie"]).partition(";")[0]

    def page(self, cookie: str) -> Any:
        return page(self.address, additional_headers={"Cookie": cookie})

    def save(self, owner: str) -> str:
        name = self.saved.save(NINE.read_bytes(), owner=owner)
        assert name is not None
        return name


def owner(cookie: str) -> str:
    return ident_of(cookie.partition("=")[2].partition(".")[0])


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist/index.html").write_text("<!doctype html><title>the app</title>")
    file = AccessFile(tmp_path / "access.json")
    tokens = file.make(Role, again=False)
    saved = ArchiveFolder(tmp_path / "runs", 40, 1 << 30)

    def director(hub: Any) -> Director:
        stage = ToyStage(20.0)
        return Director(
            hub, stage, ToyRecordings(), ToyKernels(()), False, True, ArchivedRuns(saved)
        )

    app = create_app(director, page=tmp_path / "dist", sessions=Sessions(file))
    with serving(app) as address:
        yield Served(address, file, tokens, saved, app)


def test_a_link_sets_a_cookie_and_leaves_the_address(served: Served) -> None:
    token = served.tokens[Role.STUDENT]
    status, headers, body = served.get(f"/?lesson=02-grace-periods&token={token}&step=one%20hog")
    assert status == 303 and token not in body
    assert headers["location"] == "./?lesson=02-grace-periods&step=one%20hog"
    assert headers["cache-control"] == "no-store" and headers["referrer-policy"] == "no-referrer"
    line = headers["set-cookie"]
    assert "HttpOnly" in line and "SameSite=Strict" in line and token not in line
    cookie = line.partition(";")[0]
    status, headers, body = served.get("/?lesson=02-grace-periods", Cookie=cookie)
    assert (status, "the app" in body, headers["set-cookie"]) == (200, True, None)


@pytest.mark.parametrize("path", ["/", "/api/health", "/api/kept", "/still.png", "/assets/x.js"])
def test_without_a_session_nothing_is_given_out(served: Served, path: str) -> None:
    status, headers, body = served.get(path)
    assert (status, headers["set-cookie"], "the app" in body) == (401, None, False)
    if path == "/":
        assert "Open the link" in body and "<style>" in body and "<script" not in body
    else:
        assert json.loads(body)["error"]["code"] == "token"
    assert served.get(path, Cookie=f"duet-{served.address.rpartition(':')[2]}=a.b.1.c")[0] == 401


def test_a_link_on_a_foreign_page_goes_on_once_by_itself(served: Served) -> None:
    status, headers, body = served.get("/?lesson=x", Sec_Fetch_Site="cross-site")
    assert (status, 'http-equiv="refresh"' in body, headers["set-cookie"]) == (200, True, None)
    assert served.get("/?lesson=x", Sec_Fetch_Site="same-origin")[0] == 401


def test_a_socket_without_a_session_learns_why_it_closes(served: Served, run_async: Any) -> None:
    async def closed() -> tuple[int, str]:
        async with connect(f"ws://{served.address}/ws", compression=None) as one:
            with pytest.raises(ConnectionClosed) as end:
                await one.recv()
        assert end.value.rcvd is not None
        return end.value.rcvd.code, end.value.rcvd.reason

    code, reason = run_async(closed())
    assert code == CLOSE_TOKEN and "Open the link" in reason


def test_a_script_sends_the_token_itself(served: Served) -> None:
    token = served.tokens[Role.VIEWER]
    assert served.get("/api/health", Authorization=f"Bearer {token}")[0] == 200
    assert served.get("/api/health", Authorization=f"Bearer {token}x")[0] == 401


def test_the_right_token_gets_in_after_many_wrong_ones(served: Served) -> None:
    """A token has 256 bits: nobody guesses it, however fast."""
    for _ in range(100):
        status, _, body = served.get("/?token=wrong")
        assert (status, "not valid" in body) == (401, True)
    status, headers, _ = served.get(f"/?token={served.tokens[Role.STUDENT]}")
    assert status == 303 and headers["set-cookie"]


SLUG = "02-grace-periods"
START = {"lesson": SLUG, "arms": ["srcu"], "params": {"seconds": 1}}


def test_each_role_may_run_and_measure_as_it_says(served: Served, run_async: Any) -> None:
    async def tried(role: Role) -> tuple[dict[str, Any], dict[str, str]]:
        words = {}
        async with served.page(served.cookie(role)) as one:
            hello = one.seen[0]
            assert hello["role"] == role.word
            await one.open("none")
            if role < Role.INSTRUCTOR:
                await one.say(type="measure", **START)
                words["measure"] = (await one.until_type("error"))["sentence"]
            await one.say(type="start", **START)
            came = await one.until(lambda m: m["type"] == "error" or m.get("source") == "live")
            words["run"] = came.get("sentence", "yes")
            if words["run"] == "yes":  # a socket with unread messages takes seconds to close
                await one.until_over()
        return hello["denied"], words

    viewer, student, teacher, operator = (run_async(tried(role)) for role in Role)
    sentence = "A viewer may not start a live run; that takes the role student or higher."
    assert viewer[0]["run"] == viewer[1]["run"] == sentence
    assert student[1]["run"] == "yes" and "may not measure" in student[1]["measure"]
    assert set(student[0]) == {"control_others", "teach", "measure", "delete_others"}
    assert teacher[1]["run"] == "yes" and set(teacher[0]) == {"delete_others"}
    assert operator == ({}, {"run": "yes"})


def test_a_student_follows_a_class_and_starts_none(served: Served, run_async: Any) -> None:
    async def codes(role: Role) -> list[str]:
        async with served.page(served.cookie(role)) as one:
            found = []
            for command in (
                {"type": "class_start", "lesson": SLUG},
                {"type": "class_join", "code": "no such class", "nickname": "Ada"},
                {"type": "class_open_step", "lesson": SLUG, "step": "ticks", "knobs": True},
                {"type": "class_show_gallery", "shown": True},
                {"type": "class_try", "step": "ticks", **START},
                {"type": "class_take_back", "number": 1},
            ):
                await one.say(**command)
                found.append((await one.until_type("error"))["code"])
        return found

    # This server holds no classes, which is said to whoever may ask.
    teaches, tries = ["forbidden"] * 2, ["infra"] * 2
    assert run_async(codes(Role.VIEWER)) == ["forbidden", "infra", *teaches, *teaches]
    assert run_async(codes(Role.STUDENT)) == ["forbidden", "infra", *teaches, *tries]
    assert run_async(codes(Role.INSTRUCTOR)) == ["infra"] * 6


def test_a_saved_run_is_deleted_by_its_owner_or_the_operator(served: Served) -> None:
    mine, theirs = served.cookie(Role.STUDENT), served.cookie(Role.STUDENT)
    own, other, old = served.save(owner(mine)), served.save(owner(theirs)), served.save("")
    listed = json.loads(served.get("/api/kept", Cookie=mine)[2])
    assert {run["name"]: (run["yours"], run["deletable"]) for run in listed} == {
        own: (True, True),
        other: (False, False),
        old: (False, False),
    }
    for name, cookie in (
        (other, mine),
        (old, mine),
        (own, served.cookie(Role.INSTRUCTOR)),
        (own, served.cookie(Role.VIEWER)),
    ):
        status, _, body = served.get(f"/api/kept/{name}", "DELETE", Cookie=cookie)
        assert (status, json.loads(body)["error"]["code"]) == (403, "forbidden")
    assert served.get(f"/api/kept/{own}", "DELETE", Cookie=mine)[0] == 200
    assert served.get(f"/api/kept/{other}", "DELETE", Cookie=served.cookie(Role.OPERATOR))[0] == 200
    assert list(served.saved.paths()) == [old]
    assert not list(served.saved.folder.glob("*.owner"))
    shutil.rmtree(served.saved.folder)


def test_a_live_run_is_saved_as_its_starters(served: Served, run_async: Any) -> None:
    """The toy stage saves nothing, so what the director passes on is looked at."""
    given: list[str] = []
    cookie = served.cookie(Role.STUDENT)

    async def run() -> None:
        async with served.page(cookie) as one:
            await one.open()
            await one.start("srcu", seconds=1)
            await one.until_over()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "duet.server.archive.Archiver.save",
            lambda self, run, owner="", **_: given.append(owner),
        )
        run_async(run())
        for _ in range(1000):
            if given:
                break
            time.sleep(0.01)
    assert given == [owner(cookie)]


def test_a_rotated_token_ends_its_sessions_and_their_sockets(
    served: Served, run_async: Any
) -> None:
    cookie, teacher = served.cookie(Role.STUDENT), served.cookie(Role.INSTRUCTOR)

    async def closed() -> int:
        async with served.page(cookie) as student, served.page(teacher) as other:
            AccessFile(served.file.path).make([Role.STUDENT], again=True)
            with pytest.raises(ConnectionClosed) as end:
                while True:
                    await student.next(10)
            await other.open()
            await other.until_type("lesson")
        assert end.value.rcvd is not None
        return end.value.rcvd.code

    assert run_async(closed()) == CLOSE_TOKEN
    assert served.get("/", Cookie=cookie)[0] == 401
    assert served.get("/", Cookie=teacher)[0] == 200
    assert served.get(f"/?token={served.tokens[Role.STUDENT]}")[0] == 401


def test_no_token_reaches_a_log(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="duet")
    caplog.set_level(logging.WARNING, logger="uvicorn")
    for path in ("/", "/nothing", "/api/health"):
        for token in ("wrong-token", served.tokens[Role.STUDENT]):
            served.get(f"{path}?token={token}")
    said = caplog.text
    assert "wrong-token" not in said and served.tokens[Role.STUDENT] not in said


def test_each_route_has_an_action(served: Served) -> None:
    paths = {route.path for route in served.app.routes if isinstance(route, APIRoute)}
    of_plugins = {path for one in served.app.state.director.services for path in one.actions}
    assert not of_plugins & set(ROUTES)
    assert paths | {"/ws"} == set(ROUTES) | of_plugins


def test_a_students_run_is_taken_by_an_instructor_and_by_no_other_student(
    served: Served, run_async: Any
) -> None:
    async def reported() -> tuple[list[str], list[str]]:
        cookies = [served.cookie(r) for r in (Role.STUDENT, Role.STUDENT, Role.INSTRUCTOR)]
        async with (
            served.page(cookies[0]) as starter,
            served.page(cookies[1]) as other,
            served.page(cookies[2]) as teacher,
        ):
            await starter.open("none")
            await starter.start("srcu", hogs=1, seconds=30)
            run_id = (await starter.until_type("begun"))["run_id"]
            await other.open(run_id)
            refused, offered = [], []
            for command in ({"type": "stop", "run": run_id}, {"type": "control", "take": True}):
                await other.say(**command)
                refused.append((await other.until_type("error"))["code"])
            await teacher.open(run_id)
            for by, command in (
                ("other", {"type": "control", "take": True}),
                ("you", {"type": "stop", "run": run_id}),
            ):
                control = await teacher.until_type("control", run_id=run_id, by=by)
                offered.append(f"{by} {control['may_take']} {control['yours']}")
                await teacher.say(**command)
            await teacher.until_over()
            await starter.until_type("control", by="other")
            await starter.until_over()
            await other.until_over()
        return refused, offered

    refused, offered = run_async(reported())
    assert refused == ["not-controller"] * 2
    assert offered[0] == "other True False" and offered[1].startswith("you ")
