# SPDX-License-Identifier: GPL-2.0-or-later
"""Users of a real JupyterHub are let in as themselves, with their roles, and nobody else is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgpack
import pytest
import requests
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from duet.base import budgets
from duet.base.errors import InputError
from duet.plugins.jupyterhub.door import HubDoor
from duet.plugins.jupyterhub.service import (
    Checks,
    HubGone,
    HubService,
    HubUser,
    Known,
    ident_of_token,
)
from duet.stream.viewer import CLOSE_TOKEN
from tests.plugins.jupyterhub import hub as jupyterhub
from tests.plugins.jupyterhub.hub import HUB, PREFIX, PROXY, Hub

WAIT_S = 60


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    if not HUB.exists() or not PROXY.exists():
        pytest.skip("JupyterHub is not installed (./setup.sh dev)")
    with jupyterhub.running(tmp_path_factory.mktemp("hub")) as running:
        yield running


def cookies(browser: requests.Session) -> str:
    """What the browser sends to the page."""
    return "; ".join(f"{one.name}={one.value}" for one in browser.cookies if one.path == PREFIX)


async def hello(hub: Hub, cookie: str) -> dict[str, Any]:
    """The first message of a page's socket, through the hub's proxy."""
    address = hub.service.replace("http://", "ws://") + "ws"
    headers = {"Cookie": cookie, "Origin": hub.public}
    async with connect(address, additional_headers=headers, compression=None) as socket:
        while True:
            data = await asyncio.wait_for(socket.recv(), WAIT_S)
            message = msgpack.unpackb(data) if isinstance(data, bytes) else {}
            if message.get("type") == "hello":
                return dict(message)


def test_two_users_are_in_as_themselves_with_their_roles(hub: Hub, run_async: Any) -> None:
    found = {}
    for name in ("ada", "ben", "root-of-hub"):
        browser = hub.log_in(name)
        page = browser.get(f"{hub.service}?lesson=02-grace-periods&step=one%20hog", timeout=WAIT_S)
        assert page.url == f"{hub.service}?lesson=02-grace-periods&step=one%20hog"
        assert page.status_code == 200 and "Kernel Duet" in page.text
        assert browser.get(f"{hub.service}api/lessons", timeout=WAIT_S).status_code == 200
        operated = browser.get(f"{hub.service}metrics", timeout=WAIT_S).status_code
        greeting = run_async(hello(hub, cookies(browser)))
        found[name] = greeting["role"], operated
        assert not [
            one.name for one in browser.cookies if "login" in one.name and "duet" in one.name
        ]
    assert found == {
        "ada": ("instructor", 403),
        "ben": ("student", 403),
        "root-of-hub": ("operator", 200),
    }


def test_whoever_is_not_logged_in_is_sent_to_the_hub_and_gets_nothing(
    hub: Hub, run_async: Any
) -> None:
    for base in (hub.service, f"{hub.own}/"):
        page = requests.get(base, allow_redirects=False, timeout=WAIT_S)
        where = urlsplit(page.headers["location"])
        assert page.status_code == 302 and where.path == "/hub/api/oauth2/authorize"
        assert parse_qs(where.query)["redirect_uri"] == [f"{PREFIX}oauth_callback"]
        refused = requests.get(f"{base}api/lessons", timeout=WAIT_S)
        assert refused.status_code == 401 and refused.json()["error"]["code"] == "token"

    async def closed() -> int:
        with contextlib.suppress(TimeoutError):
            await hello(hub, "")
        raise AssertionError("it was let in")

    with pytest.raises(ConnectionClosed) as end:
        run_async(closed())
    assert end.value.rcvd is not None and end.value.rcvd.code == CLOSE_TOKEN


def began(hub: Hub, browser: requests.Session) -> dict[str, str]:
    """State and code of a login whose last step was not taken."""
    page = browser.get(hub.service, allow_redirects=False, timeout=WAIT_S)
    back = browser.get(
        f"{hub.public}{page.headers['location']}", allow_redirects=False, timeout=WAIT_S
    )
    query = parse_qs(urlsplit(back.headers["location"]).query)
    return {name: query[name][0] for name in ("state", "code")}


def callback(hub: Hub, browser: requests.Session, **query: str) -> requests.Response:
    where = f"{hub.service}oauth_callback"
    return browser.get(where, params=query, allow_redirects=False, timeout=WAIT_S)


def test_a_forged_state_a_used_code_and_a_foreign_login_are_refused(hub: Hub) -> None:
    ada = hub.log_in("ada")
    login = began(hub, ada)
    victim = requests.Session()
    for given in (login, {**login, "state": "forged" * 6}, {"code": login["code"]}, {}):
        answer = callback(hub, victim, **given)
        assert answer.status_code == 403 and "set-cookie" not in answer.headers, given
        assert "Open Kernel Duet" in answer.text
    assert callback(hub, ada, state=login["state"], code="no-code").status_code == 403
    assert callback(hub, ada, **login).status_code == 303
    again = began(hub, ada) if not cookies(ada) else login
    assert callback(hub, ada, **again).status_code == 403, "a code counts once"


def test_a_token_for_something_else_is_refused_and_one_for_us_is_taken(hub: Hub) -> None:
    admin = {"Authorization": f"token {hub.token}"}
    assert (
        requests.get(f"{hub.service}api/lessons", headers=admin, timeout=WAIT_S).status_code == 401
    )
    browser = hub.log_in("ben")
    made = {}
    for note, scopes in (
        ("ours", ["access:services!service=duet", "read:users!user"]),
        ("other", []),
    ):
        made[note] = _token(hub, browser, "ben", scopes or ["read:users:name!user"])
    seen = {}
    for note, token in made.items():
        headers = {"Authorization": f"Bearer {token}"}
        answer = requests.get(f"{hub.service}api/lessons", headers=headers, timeout=WAIT_S)
        seen[note] = answer.status_code
        cookie = {"Cookie": f"duet-{urlsplit(hub.own).port}={token}"}
        answer = requests.get(f"{hub.service}api/lessons", headers=cookie, timeout=WAIT_S)
        assert answer.status_code == 401, "a token in a cookie has no signature"
    assert seen == {"ours": 200, "other": 401}


def _token(hub: Hub, browser: requests.Session, name: str, scopes: list[str]) -> str:
    """A token that a user makes for a script, on the hub's page."""
    xsrf = browser.cookies.get("_xsrf", path="/hub/") or ""
    answer = browser.post(
        f"{hub.public}/hub/api/users/{name}/tokens",
        json={"scopes": scopes},
        headers={"X-XSRFToken": xsrf, "Referer": f"{hub.public}/hub/token"},
        timeout=WAIT_S,
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["token"])


def test_a_log_out_at_the_hub_ends_the_session_here(hub: Hub, run_async: Any) -> None:
    now = [0.0]
    service = HubService(hub.api, hub.token, "service-duet", PREFIX, f"{hub.public}/hub/")
    browser = hub.log_in("ben")
    token = service.token_of(began(hub, browser)["code"])
    assert token is not None

    async def seen() -> list[int]:
        checks = Checks(service, lambda: now[0])
        door = HubDoor(service, checks)
        user = await checks.user(token)
        assert user is not None and user.name == "ben"
        visitor = door._visitor(token, user)
        found = [len(await door.ended([visitor]))]
        await asyncio.to_thread(browser.get, f"{hub.public}/hub/logout", timeout=WAIT_S)
        found.append(len(await door.ended([visitor])))
        now[0] += budgets.HUB_CHECK_S
        return [*found, len(await door.ended([visitor]))]

    assert run_async(seen()) == [0, 0, 1]


def test_a_hub_that_does_not_answer_sends_nobody_out_at_once(run_async: Any) -> None:
    now = [0.0]
    service = HubService("http://127.0.0.1:9/hub/api", "x", "service-duet", PREFIX, "/hub/")

    async def seen() -> list[str]:
        checks = Checks(service, lambda: now[0])
        checks._known[ident_of_token("t")] = Known("t", HubUser("ben", False, frozenset()), 0.0)
        found = []
        for now[0] in (1.0, budgets.HUB_CHECK_S, budgets.HUB_GRACE_S + 1):
            try:
                user = await checks.user("t")
                found.append(user.name if user else "nobody")
            except HubGone:
                found.append("gone")
        return found

    assert run_async(seen()) == ["ben", "ben", "gone"]


def test_a_service_without_its_variables_says_which() -> None:
    with pytest.raises(InputError, match="JUPYTERHUB_API_TOKEN, JUPYTERHUB_SERVICE_PREFIX are not"):
        HubService.read({"JUPYTERHUB_API_URL": "http://127.0.0.1:8081/hub/api"})
