# SPDX-License-Identifier: GPL-2.0-or-later
"""Launches that are refused: forged, replayed, expired, for another tool, browser or platform."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from duet.plugins.lti.limits import LOGIN_S, SKEW_S
from duet.plugins.lti.messages import Login, browser_hash, read_state, sign_state
from duet.plugins.lti.platforms import KeyFile, Registered
from duet.plugins.lti.platforms import Platform as Registration
from tests.plugins.lti import tokens as forge
from tests.plugins.lti.platform_side import Message, Platform, platform_served
from tests.plugins.lti.tokens import DEPLOYMENT, Forgery, changed
from tests.plugins.lti.tool import Browser, Tool, registration, tool_served

NOW = time.time()
FORGED = {
    "another key": (forge.by_another_key, "signature"),
    "an unknown key": (forge.by_an_unknown_key, "public key"),
    "no signature": (forge.without_signature, "public key"),
    "the public key as secret": (forge.by_the_public_key, "public key"),
    "another body": (forge.another_body, "signature"),
    "mangled": (forge.mangled, ""),
    "no json": (forge.no_json, ""),
    "strange types": (forge.strange_types, ""),
    "another audience": (changed(aud="other-tool"), "registered"),
    "an audience of several without azp": (changed(aud=["duet", "x"], azp=None), "azp"),
    "azp of another": (changed(azp="other-tool"), "azp"),
    "another issuer": (changed(iss="https://evil.example"), "registered"),
    "another deployment": (changed(**{DEPLOYMENT: "2"}), "deployment"),
    "no deployment": (changed(**{DEPLOYMENT: None}), "deployment"),
    "expired": (changed(iat=NOW - 900, exp=NOW - 400), "expired"),
    "no end": (changed(exp=None), "exp"),
    "an end far away": (changed(iat=NOW - LOGIN_S - SKEW_S - 60, exp=NOW + 1e6), "older"),
    "no begin": (changed(iat=None), "iat"),
    "from the future": (changed(iat=NOW + 3600, exp=NOW + 7200), "not yet valid"),
    "another nonce": (changed(nonce="0" * 32), "Nonce"),
    "no nonce": (changed(nonce=None), "nonce"),
    "an empty user": (changed(sub=""), "sub"),
    "a wrong type": (changed(sub=["x"]), ""),
    "another kind": (
        changed(**{"https://purl.imsglobal.org/spec/lti/claim/message_type": "Other"}),
        "message type",
    ),
}


def refused(answer: Any, word: str = "") -> None:
    """One page with one sentence, no session, and nothing of the message in it."""
    assert answer.status_code == 401, answer.text
    assert "refused" in answer.text and word.lower() in answer.text.lower()
    assert not any(name.count("-") == 1 for name in answer.cookies.keys())  # noqa: SIM118
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_message_is_refused(
    tool: Tool, platform: Platform, browser: Browser, name: str
) -> None:
    change: Forgery
    change, word = FORGED[name]
    form = browser.message(platform, Message())
    refused(browser.send(platform, form | {"id_token": change(form["id_token"], platform)}), word)
    assert browser.send(platform, form).status_code == 200  # the true one was not used up by it


def test_a_message_counts_once(tool: Tool, platform: Platform, browser: Browser) -> None:
    form = browser.message(platform, Message())
    cookies = browser.session.cookies.copy()
    assert browser.send(platform, form).status_code == 200
    browser.session.cookies = cookies  # with all that the browser had the first time
    refused(browser.send(platform, form), "used already")


def test_a_message_counts_once_over_a_restart(platform: Platform, tmp_path: Path) -> None:
    browser, former = Browser(), platform.tool
    try:
        with tool_served(tmp_path, platform) as tool:
            form = browser.message(platform, Message())
            cookies = browser.session.cookies.copy()
            assert browser.send(platform, form).status_code == 200
        with tool_served(tmp_path, platform) as again:
            names = {name: value for name, value in cookies.items()}
            port, new = tool.url.rpartition(":")[2], again.url.rpartition(":")[2]
            for name, value in names.items():  # the server of the test has another port
                browser.session.cookies.set(name.replace(port, new), value)
            refused(browser.send(platform, form), "used already")
    finally:
        platform.tool = former


def test_a_login_survives_a_restart(platform: Platform, tmp_path: Path) -> None:
    browser, former = Browser(), platform.tool
    try:
        with tool_served(tmp_path, platform) as tool:
            form = browser.message(platform, Message())
        with tool_served(tmp_path, platform) as again:
            port, new = tool.url.rpartition(":")[2], again.url.rpartition(":")[2]
            for name, value in dict(browser.session.cookies).items():
                browser.session.cookies.set(name.replace(port, new), value)
            assert browser.send(platform, form).status_code == 200
    finally:
        platform.tool = former


def test_another_browser_is_refused(tool: Tool, platform: Platform, browser: Browser) -> None:
    form = browser.message(platform, Message())
    refused(Browser().send(platform, form), "this browser did not start")
    other = Browser()
    other.message(platform, Message())
    refused(other.send(platform, form), "this browser did not start")


@pytest.mark.parametrize("state", ["", "state-x", "state-" + "0" * 16 + ".a.b.1.c"])
def test_a_state_that_we_did_not_give_is_refused(
    tool: Tool, platform: Platform, browser: Browser, state: str
) -> None:
    form = browser.message(platform, Message())
    refused(browser.send(platform, form | {"state": state}), "state")


def test_a_state_of_another_login_is_refused(
    tool: Tool, platform: Platform, browser: Browser
) -> None:
    one, other = (browser.message(platform, Message()) for _ in range(2))
    refused(browser.send(platform, one | {"state": other["state"]}), "Nonce")


def test_a_state_ends(
    tool: Tool, platform: Platform, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duet.plugins.lti.login.LOGIN_S", -1.0)
    form = browser.message(platform, Message())
    monkeypatch.undo()
    refused(browser.send(platform, form), "older than")


def test_a_state_is_ours_alone() -> None:
    login = Login("a" * 16, "b" * 32, browser_hash("c"), 1)
    state = sign_state(b"key", login)
    assert read_state(b"key", f"state-{state}") == login
    assert read_state(b"other", state) is None
    assert read_state(b"key", state.replace(".1.", ".2.")) is None


def test_a_login_of_an_unknown_platform_is_refused(
    tool: Tool, platform: Platform, browser: Browser
) -> None:
    good = {"iss": platform.url, "login_hint": "x", "client_id": "duet"}
    for change in ({"iss": "https://evil.example"}, {"client_id": "x"}, {"lti_deployment_id": "9"}):
        refused(browser.post(f"{tool.url}/lti/login", good | change), "registered")
    refused(browser.post(f"{tool.url}/lti/login", good | {"login_hint": ""}), "login hint")
    large = good | {"x": "x" * 70_000}
    refused(browser.post(f"{tool.url}/lti/login", large), "form")


def test_the_platforms_own_refusal_is_shown(
    tool: Tool, platform: Platform, browser: Browser
) -> None:
    form = {"error": "login_required", "error_description": "<b>no</b>", "state": "x"}
    answer = browser.send(platform, form)
    refused(answer, "login_required: &lt;b&gt;no")


def test_of_two_platforms_each_is_believed_about_itself_alone(tmp_path: Path) -> None:
    one, other, browser = Platform("one"), Platform("two", "7", own_key=True), Browser()
    with platform_served(one), platform_served(other), tool_served(tmp_path, one, other):
        for each in (one, other):
            assert browser.launch(each, Message()).status_code == 200
        form = browser.message(one, Message())
        claims = forge.claims_of(form["id_token"])
        # The second platform signs what the first would say; and answers a login of the first.
        refused(browser.send(one, form | {"id_token": forge.signed(claims, other.key)}), "key")
        about = {"iss": other.url, "aud": "two", "azp": "two", DEPLOYMENT: "7"}
        token = forge.signed(claims | about, other.key)
        refused(browser.send(one, form | {"id_token": token}), "another platform answered")


def test_a_platform_that_gives_no_keys_is_one_sentence(tmp_path: Path) -> None:
    silent, browser = Platform("silent"), Browser()
    with platform_served(silent), tool_served(tmp_path, silent):
        form = browser.message(silent, Message())
        silent.app.router.routes = [
            r for r in silent.app.routes if getattr(r, "path", "") != "/jwks"
        ]
        answer = browser.send(silent, form)
        assert answer.status_code == 503 and "keys of the platform" in answer.text


def test_without_platforms_the_routes_say_so(tmp_path: Path) -> None:
    from tests.support.toy_server import serving
    from tests.support.toy_stage import toy_app

    browser = Browser()
    with serving(toy_app(tmp_path)) as address:
        for path in ("login", "launch"):
            answer = browser.post(f"http://{address}/lti/{path}", {"iss": "x"})
            assert answer.status_code == 404 and "learning platform is registered" in answer.text
        assert browser.get(f"http://{address}/lti/jwks").status_code == 404


def test_registrations_name_grants_and_frames(platform: Platform, tmp_path: Path) -> None:
    framed = registration(platform, frames=["https://school.example"])
    assert isinstance(framed, Registration)
    from duet.plugins.lti.platforms import Platforms

    both = Registered(Platforms(platforms=(framed,)), KeyFile(tmp_path / "lti.json"))
    assert both.frames == ("https://school.example",)
    assert both.grants == {framed.grant}
