# SPDX-License-Identifier: GPL-2.0-or-later
"""A browser keeps its name over reloads and reconnects, and the name alone opens nothing."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.asyncio.client import connect

from duet import messages as m
from duet.api.sessions import ident_of
from duet.base.access import Action
from duet.stream.hub import Hub
from tests.support.toy_server import page, serving
from tests.support.toy_stage import toy_app


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Hub]]:
    folder = tmp_path_factory.mktemp("dist")
    (folder / "index.html").write_text("<!doctype html><title>duet</title>")
    (folder / "main.js").write_text("export {}")
    hub = Hub()
    with serving(toy_app(folder, speed=20.0, hub=hub)) as address:
        yield address, hub


def cookie(address: str, path: str = "/", **headers: str) -> str:
    """The cookie line that an answer sets; empty: none."""
    connection = http.client.HTTPConnection(address, timeout=120)
    try:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers=names)
        answer = connection.getresponse()
        answer.read()
        return answer.getheader("set-cookie") or ""
    finally:
        connection.close()


def test_the_page_gives_a_cookie_that_scripts_and_foreign_pages_do_not_get(
    served: tuple[str, Hub],
) -> None:
    line = cookie(served[0])
    assert "HttpOnly" in line and "SameSite=Strict" in line and "Secure" not in line
    assert "Secure" in cookie(served[0], X_Forwarded_Proto="https")
    given = line.partition(";")[0]
    assert given.split("=")[0] == f"duet-{served[0].rpartition(':')[2]}"
    assert cookie(served[0], Cookie=given) == ""


def test_only_the_page_gives_one_and_a_link_elsewhere_does_not_replace_it(
    served: tuple[str, Hub],
) -> None:
    assert cookie(served[0], "/main.js") == cookie(served[0], "/api/health") == ""
    assert cookie(served[0], Sec_Fetch_Site="cross-site") == ""


def test_a_browser_has_one_name_in_each_tab_and_after_a_reload(
    served: tuple[str, Hub], run_async: Any
) -> None:
    address, hub = served
    given = cookie(address).partition(";")[0]

    async def idents() -> list[str]:
        found = []
        for headers in ({"Cookie": given}, {"Cookie": given}, {}, {"Cookie": f"{given}x"}):
            async with page(address, additional_headers=headers):
                found.append(hub.viewers[-1].visitor.ident)
        return found

    first, again, other, broken = run_async(idents())
    assert first == again == ident_of(given.partition("=")[2])
    assert len({first, other, broken}) == 3
    assert given.partition("=")[2] not in first


def test_a_socket_names_a_browser_that_came_without_a_cookie(
    served: tuple[str, Hub], run_async: Any
) -> None:
    async def given() -> str:
        async with connect(f"ws://{served[0]}/ws", compression=None) as one:
            assert one.response is not None
            return str(one.response.headers.get("set-cookie", ""))

    assert run_async(given()).startswith("duet-")


@pytest.mark.parametrize("bad", [b"duet=\xff\xfe", b'duet-1="\\', b"=;;==;", b"a" * 3000])
def test_cookies_of_any_shape_are_no_trouble(served: tuple[str, Hub], bad: bytes) -> None:
    host, _, port = served[0].rpartition(":")
    with socket.create_connection((host, int(port)), timeout=120) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nCookie: " + bad + b"\r\n\r\n")
        assert one.recv(4096).startswith(b"HTTP/1.1 200")


def test_each_command_of_a_page_is_an_action() -> None:
    commands = [one for one in m.models(m.ClientMessage).values() if one is not m.Ack]
    assert all(isinstance(one.needs, Action) for one in commands)
