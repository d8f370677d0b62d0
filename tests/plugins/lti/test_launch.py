# SPDX-License-Identifier: GPL-2.0-or-later
"""A launch over two real servers: who comes in, as whom, and where to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from duet.api.sessions import Sessions, read
from duet.api.tokens import AccessFile
from duet.base.access import Role
from duet.plugins.lti import store as rows
from duet.plugins.lti.messages import AGS, CLAIM, DEEP, NRPS
from tests.plugins.lti.course import LAB, answered, on_loop, visitor
from tests.plugins.lti.platform_side import INSTRUCTOR, LEARNER, Message, Platform, platform_served
from tests.plugins.lti.tokens import claims_of, signed
from tests.plugins.lti.tool import Browser, Tool, forms, tool_served, until

LESSON = {"lesson": "02-grace-periods", "step": "one hog"}
ADMIN = "http://purl.imsglobal.org/vocab/lis/v2/institution/person#Administrator"
ASSISTANT = "http://purl.imsglobal.org/vocab/lis/v2/membership/Instructor#TeachingAssistant"
OBSERVER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Observer"


def claim(tool: Tool, browser: Browser) -> tuple[str, str, Role]:
    """Key and name of the person, and role, as the session says them."""
    port = tool.url.rpartition(":")[2]
    cookie = browser.session.cookies[f"duet-{port}"]
    found = read(AccessFile(tool.keys.path.with_name("access.json")).load(), cookie)
    assert found is not None and found.person is not None
    return found.person[0].key, found.person[0].name, found.person[1]


def test_a_launch_opens_the_lesson_with_a_session(
    tool: Tool, platform: Platform, browser: Browser
) -> None:
    assert browser.get(f"{tool.url}/").status_code == 401
    answer = browser.launch(platform, Message(custom=LESSON))
    assert answer.status_code == 200, answer.text
    assert "url=../?lesson=02-grace-periods&amp;step=one+hog" in answer.text
    assert answer.headers["cache-control"] == "no-store"
    lines = answer.raw.headers.getlist("set-cookie")
    session = next(line for line in lines if "SameSite=Strict" in line)
    assert "HttpOnly" in session and "Path=/;" in session
    assert any("Max-Age=0" in line for line in lines)  # the state's cookie goes
    assert "the app" in browser.get(f"{tool.url}/?lesson=02-grace-periods").text
    assert browser.get(f"{tool.url}/api/lessons").status_code == 200


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        ((INSTRUCTOR,), Role.INSTRUCTOR),
        ((ASSISTANT,), Role.INSTRUCTOR),
        ((LEARNER, ADMIN), Role.STUDENT),
        ((ADMIN,), Role.VIEWER),
        ((OBSERVER,), Role.VIEWER),
        (("Learner",), Role.STUDENT),
        ((), Role.VIEWER),
    ],
)
def test_roles_of_the_course_become_roles_here(
    tool: Tool, platform: Platform, browser: Browser, roles: tuple[str, ...], role: Role
) -> None:
    assert browser.launch(platform, Message(roles=roles)).status_code == 200
    assert claim(tool, browser)[1:] == ("Ada Lovelace", role)


def test_a_person_is_the_same_in_another_browser_and_others_are_not(
    tool: Tool, platform: Platform
) -> None:
    found = []
    for user, name in (("student-1", "Ada"), ("student-1", None), ("student-2", "Ada")):
        browser = Browser()
        assert browser.launch(platform, Message(user=user, name=name)).status_code == 200
        found.append(claim(tool, browser))
    assert found[0][0] == found[1][0] != found[2][0]
    assert (found[0][1], found[1][1]) == ("Ada", "")
    assert "student-1" not in found[0][0]


def test_runs_belong_to_the_person_and_who_comes_next_inherits_nothing(
    tool: Tool, platform: Platform, browser: Browser
) -> None:
    port = tool.url.rpartition(":")[2]
    secrets = []
    for user, one in (("student-1", browser), ("student-2", browser), ("student-1", Browser())):
        one.launch(platform, Message(user=user))
        secrets.append(one.session.cookies[f"duet-{port}"].partition(".")[0])
    assert secrets[0] == secrets[2] != secrets[1]


def test_a_name_is_one_line_of_bounded_length(
    tool: Tool, platform: Platform, browser: Browser
) -> None:
    browser.launch(platform, Message(name="Ada\n\u202eLove." + "x" * 300))
    assert claim(tool, browser)[1] == ("Ada Love." + "x" * 300)[:64]


def test_in_a_frame_the_launch_first_opens_a_window(
    tool: Tool, platform: Platform, browser: Browser
) -> None:
    framed = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "cross-site"}
    answer = browser.get(platform.login_address(Message()), headers=framed)
    assert answer.status_code == 200 and 'target="_blank"' in answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.endswith(f"frame-ancestors {platform.url}")
    ((action, fields),) = forms(answer.text)
    assert action == "" and fields["iss"] == platform.url
    own = {"Sec-Fetch-Dest": "document", "Origin": "null"}
    assert browser.post(f"{tool.url}/lti/login", fields, headers=own).status_code == 302


def test_only_login_and_launch_are_open_to_foreign_pages(tool: Tool, browser: Browser) -> None:
    foreign = {"Origin": "https://x.example", "Sec-Fetch-Site": "cross-site"}
    for method, path in (
        ("DELETE", "/api/classes/x"), ("POST", "/lti/jwks"), ("GET", "/lti/jwks"),
        ("GET", "/lti/launch"), ("GET", "/api/lessons"), ("POST", "/lti/launch/"),
    ):  # fmt: skip
        answer = browser.session.request(method, f"{tool.url}{path}", headers=foreign)
        assert answer.status_code == 403, path
    for method, path in (("GET", "/lti/login"), ("POST", "/lti/login"), ("POST", "/lti/launch")):
        answer = browser.session.request(method, f"{tool.url}{path}", headers=foreign)
        assert answer.status_code == 401 and "refused" in answer.text


def test_a_session_ends_when_its_platform_is_not_registered_any_more(
    tool: Tool, platform: Platform, browser: Browser
) -> None:
    browser.launch(platform, Message())
    cookie = browser.session.cookies[f"duet-{tool.url.rpartition(':')[2]}"]
    file = AccessFile(tool.keys.path.with_name("access.json"))
    holding = Sessions(file, vouching=tool.lti.registered.grants)
    visitor = holding.visitor(cookie)
    assert visitor is not None and visitor.person is not None
    assert visitor.key == visitor.person.key and visitor.role is Role.STUDENT
    assert Sessions(file).visitor(cookie) is None
    late = Sessions(file, clock=lambda: 4e9, vouching=tool.lti.registered.grants)
    assert late.visitor(cookie) is None


@pytest.mark.parametrize("roles", [(LEARNER,), (INSTRUCTOR,), ()])
def test_an_anonymous_launch_is_somebody_new_with_the_role_that_it_names(
    course: tuple[Tool, Platform], roles: tuple[str, ...]
) -> None:
    tool, platform = course
    nobody = {"sub": None, "name": None, "email": None}
    found = []
    for _ in range(2):
        browser = Browser()
        message = Message(roles=roles, custom={"lab": LAB}, change=nobody)
        assert browser.launch(platform, message).status_code == 200
        assert browser.get(f"{tool.url}/api/lessons").status_code == 200
        found.append(claim(tool, browser))
        answered(tool, visitor(tool, browser), 1.0)
    known = {(LEARNER,): Role.STUDENT, (INSTRUCTOR,): Role.INSTRUCTOR, (): Role.VIEWER}
    assert [one[1:] for one in found] == [("", known[roles])] * 2
    assert found[0][0] != found[1][0]
    assert on_loop(tool, tool.lti._store.ask(rows.links)) == []  # no column for nobody


NULLS: dict[str, Any] = {
    "user": {"sub": None, "name": None, "given_name": None, "family_name": None, "email": None},
    "title": {f"{CLAIM}resource_link": {"id": "link-1", "title": None, "description": None}},
    "custom": {f"{CLAIM}custom": {"lesson": "02-grace-periods", "step": None}},
    "services": {
        AGS: {"scope": None, "lineitem": None, "lineitems": None},
        NRPS: {"context_memberships_url": None},
    },
    "whole claims": dict.fromkeys((AGS, NRPS, DEEP, f"{CLAIM}custom", f"{CLAIM}context", "azp")),
}


@pytest.mark.parametrize("name", NULLS)
@pytest.mark.parametrize("role", [LEARNER, INSTRUCTOR])
def test_null_says_as_much_as_nothing(
    tool: Tool, platform: Platform, browser: Browser, name: str, role: str
) -> None:
    form = browser.message(platform, Message(roles=(role,), custom={"lab": LAB}))
    token = signed(claims_of(form["id_token"]) | NULLS[name], platform.key)
    answer = browser.send(platform, form | {"id_token": token})
    assert answer.status_code == 200, answer.text
    assert "None" not in answer.text
    assert claim(tool, browser)[1] == ("" if name == "user" else "Ada Lovelace")


def test_all_courses_of_a_platform_come_in_unless_deployments_are_listed(tmp_path: Path) -> None:
    """Canvas gives each course in which a tool was installed a deployment of its own."""

    def courses(platform: Platform, browser: Browser) -> Any:
        for number in ("1", "2"):
            context = {"id": f"os2{number}", "title": None}
            change = {f"{CLAIM}context": context, f"{CLAIM}deployment_id": number}
            yield browser.launch(platform, Message(custom={"lab": LAB}, change=change))

    with platform_served(Platform()) as platform:
        (tmp_path / "all").mkdir()
        with tool_served(tmp_path / "all", platform, deployments=None) as tool:
            browser = Browser()
            assert [one.status_code for one in courses(platform, browser)] == [200, 200]
            answered(tool, visitor(tool, browser), 1.0)
            until(lambda: len(platform.scores.get("link-1", ())) == 1)
            links = on_loop(tool, tool.lti._store.ask(rows.links))
            assert len({one.link for one in links}) == 2  # one activity of each course
        (tmp_path / "one").mkdir()
        with tool_served(tmp_path / "one", platform) as tool:
            first, second = courses(platform, Browser())
            assert first.status_code == 200
            assert second.status_code == 401 and "deployment" in second.text
            login = {"iss": platform.url, "client_id": "duet", "login_hint": "x"}
            login |= {"lti_deployment_id": "2", "target_link_uri": f"{tool.url}/lti/launch"}
            answer = Browser().post(f"{tool.url}/lti/login", login)
            assert answer.status_code == 401 and "remove the line" in answer.text
