# SPDX-License-Identifier: GPL-2.0-or-later
"""Behind a proxy: which words of its head count, what is answered under a sub-path, real nginx."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from duet.api.guard import Guard, answered_names
from duet.api.proxy import Front, Proxies, ProxyMiddleware, PublicUrl, same_place
from duet.api.sessions import cookie_line
from duet.base.errors import InputError
from tests.support.proxy import NGINX, free_port, nginx
from tests.support.toy_server import Page, serving
from tests.support.toy_stage import toy_app

LAB = PublicUrl.parse("https://Lab.example.org/duet/")
PROXY, STRANGER = "10.0.0.5", "192.0.2.7"
Answer = dict[str, Any]


async def asked(
    front: Front,
    path: str = "/",
    peer: str = PROXY,
    method: str = "GET",
    **headers: str,
) -> Answer:
    """What reaches the application, or the status of a refusal."""
    seen: Answer = {}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.update(path=scope["path"], raw=scope["raw_path"], client=scope["client"][0])
        seen.update(cookie=cookie_line(scope, "x"), status=200)

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            seen.update(status=message["status"], headers=dict(message["headers"]))

    guard = Guard(app, answered_names("127.0.0.1", front.names))
    lines = {"host": "127.0.0.1:8642"} | {k.replace("_", "-"): v for k, v in headers.items()}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "scheme": "http",
        "client": (peer, 1234),
        "server": ("127.0.0.1", 8642),
        "headers": [(name.lower().encode(), value.encode()) for name, value in lines.items()],
    }
    await ProxyMiddleware(guard, front)(scope, None, send)  # type: ignore[arg-type]
    return seen


def ask(run_async: Any, *args: Any, **more: Any) -> Answer:
    found: Answer = run_async(asked(*args, **more))
    return found


FRONT = Front(LAB, Proxies((PROXY,)))


@pytest.mark.parametrize(
    ("origin", "headers", "status"),
    [
        ("https://lab.example.org", {}, 200),
        ("https://lab.example.org:443", {}, 200),
        ("http://lab.example.org", {}, 403),
        ("https://lab.example.org.evil.example", {}, 403),
        ("http://127.0.0.1:8642", {}, 200),
        ("http://127.0.0.1:8643", {}, 403),
        ("null", {}, 403),
        ("https://[", {}, 403),
        ("https://lab.example.org", {"host": "lab.example.org"}, 200),
        ("https://evil.example", {"host": "evil.example"}, 403),
        ("https://evil.example", {"X_Forwarded_Host": "evil.example"}, 403),
        ("http://localhost:9000", {"X_Forwarded_Host": "localhost:9000"}, 200),
        ("http://localhost:9000", {"X_Forwarded_Host": "localhost:9000, inner"}, 200),
    ],
)
def test_a_page_may_act_if_its_origin_is_the_address_that_browsers_open(
    run_async: Any, origin: str, headers: dict[str, str], status: int
) -> None:
    seen = ask(run_async, FRONT, method="POST", Origin=origin, **headers)
    assert seen["status"] == status


def test_a_rebound_name_is_refused_whatever_it_says_of_a_forwarded_one(
    run_async: Any,
) -> None:
    forged = {"host": "evil.example", "X_Forwarded_Host": "localhost"}
    assert ask(run_async, FRONT, peer="127.0.0.1", **forged)["status"] == 403


def test_forwarded_words_of_strangers_do_not_count(run_async: Any) -> None:
    said = {
        "X_Forwarded_Host": "localhost:9000",
        "X_Forwarded_Proto": "https",
        "X_Forwarded_For": "198.51.100.9",
    }
    origin = "http://localhost:9000"
    assert ask(run_async, FRONT, method="POST", Origin=origin, **said)["status"] == 200
    trusted = ask(run_async, FRONT, **said)
    assert (trusted["client"], "Secure" in trusted["cookie"]) == ("198.51.100.9", True)
    refused = ask(run_async, FRONT, peer=STRANGER, method="POST", Origin=origin, **said)
    assert refused["status"] == 403
    stranger = ask(run_async, FRONT, peer=STRANGER, **said)
    assert (stranger["client"], "Secure" in stranger["cookie"]) == (STRANGER, False)


@pytest.mark.parametrize(
    ("path", "host", "seen", "cookie"),
    [
        ("/", "127.0.0.1:8642", "/", "Path=/;"),
        ("/", "lab.example.org", "/", "Path=/duet/;"),
        ("/duet/", "127.0.0.1:8642", "/", "Path=/duet/;"),
        ("/duet/api/health", "lab.example.org", "/api/health", "Path=/duet/;"),
        ("/duets/api", "127.0.0.1:8642", "/duets/api", "Path=/;"),
    ],
)
def test_the_sub_path_is_taken_away_where_the_proxy_did_not(
    run_async: Any, path: str, host: str, seen: str, cookie: str
) -> None:
    found = ask(run_async, FRONT, path, host=host)
    assert (found["path"], found["raw"]) == (seen, seen.encode())
    assert cookie in found["cookie"]


def test_the_sub_path_without_its_slash_leads_to_the_page(run_async: Any) -> None:
    found = ask(run_async, FRONT, "/duet")
    assert (found["status"], found["headers"][b"location"]) == (307, b"/duet/")


@pytest.mark.parametrize(
    "text",
    ["lab.example.org", "ftp://lab/", "https://", "https://u@lab/", "https://lab/?x=1",
     "https://lab/a b/", "https://lab//duet", "https://lab/%2e", "https://lab:0/", "https://lab:x/"],
)  # fmt: skip
def test_what_is_no_address_of_a_page_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        PublicUrl.parse(text)


def test_addresses_are_read_as_operators_write_them() -> None:
    assert (str(LAB), LAB.name) == ("https://lab.example.org/duet/", "lab.example.org")
    assert str(PublicUrl.parse("http://lab:8080")) == "http://lab:8080/"
    assert "172.18.3.4" in Proxies.parse(("172.18.0.0/16",))
    assert "172.19.0.1" not in Proxies.parse(("172.18.0.0/16", "::1"))
    assert "" not in Proxies.parse(("0.0.0.0/0",))
    with pytest.raises(InputError, match="proxy"):
        Proxies.parse(("nginx",))
    assert same_place("http", "LAB", "lab:80") and not same_place("http", "", "")


needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not installed (setup.sh dev)")


@pytest.fixture(scope="module", params=["/", ""], ids=["taken away", "passed on"])
def proxied(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    """The port of an nginx that has the page under /duet/."""
    built = tmp_path_factory.mktemp("dist")
    (built / "index.html").write_text("<!doctype html><title>duet</title>")
    (built / "assets").mkdir()
    (built / "assets" / "main-1234.js").write_text(f"export const long = '{'x' * 4096}'")
    port = free_port()
    front = Front(PublicUrl.parse(f"http://127.0.0.1:{port}/duet/"))
    with (
        serving(toy_app(built, speed=20.0, front=front)) as upstream,
        nginx(tmp_path_factory.mktemp("nginx"), port, upstream, sub_path=request.param),
    ):
        yield port


def get(port: int, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers=names)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


@needs_nginx
def test_nginx_page_assets_and_api(proxied: int) -> None:
    status, headers, body = get(proxied, "/duet/")
    assert (status, b"duet" in body) == (200, True)
    assert "Path=/duet/;" in headers["set-cookie"]
    assert "default-src 'self'" in headers["content-security-policy"]
    status, headers, body = get(proxied, "/duet/assets/main-1234.js", Accept_Encoding="gzip")
    assert (status, headers["content-encoding"]) == (200, "gzip")
    assert "immutable" in headers["cache-control"]
    assert json.loads(get(proxied, "/duet/api/health")[2])["status"] == "ok"
    status, headers, _ = get(proxied, "/duet")
    assert (status, headers["location"].endswith("/duet/")) == (301, True)
    assert get(proxied, "/duet/api/health", Host="evil.example")[0] == 403
    assert b"kernels" not in get(proxied, "/api/health")[2]


@needs_nginx
def test_nginx_a_run_over_the_socket(proxied: int, run_async: Any) -> None:
    async def run() -> str:
        async with connect(
            f"ws://127.0.0.1:{proxied}/duet/ws",
            origin=f"http://127.0.0.1:{proxied}",  # type: ignore[arg-type]
            compression=None,
            max_size=None,
        ) as socket:
            page = Page(socket)
            assert (await page.next())["type"] == "hello"
            await page.open()
            await page.start("srcu", seconds=1)
            await page.begun()
            return str((await page.until_over())["phase"])

    assert run_async(run()) == "done"


@needs_nginx
def test_nginx_a_foreign_page_gets_no_socket(proxied: int, run_async: Any) -> None:
    async def refused() -> int:
        with pytest.raises(InvalidStatus) as caught:
            async with connect(
                f"ws://127.0.0.1:{proxied}/duet/ws",
                origin="http://evil.example",  # type: ignore[arg-type]
            ):
                pass
        return caught.value.response.status_code

    assert run_async(refused()) == 403
