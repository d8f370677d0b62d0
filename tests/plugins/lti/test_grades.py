# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls to a platform's services, against answers that a test writes down."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Self

import jwt
import pytest
import requests

from duet.base.access import Role
from duet.base.errors import InfraError
from duet.plugins.lti.grades import (
    LINEITEM,
    READ_LINEITEM,
    SCORE_TYPE,
    NewerThere,
    NotTaken,
    Services,
)
from duet.plugins.lti.messages import Endpoint
from duet.plugins.lti.platforms import KeyFile, Platform
from tests.plugins.lti.platform_side import INSTRUCTOR, LEARNER

HERE = "https://platform.example"
TOKEN = f"{HERE}/token"
GIVEN = {"access_token": "t1", "expires_in": 3600}
PLATFORM = Platform(
    name="P", issuer=HERE, client_id="duet", auth_url=f"{HERE}/auth", token_url=TOKEN,
    keys_url=f"{HERE}/jwks",
)  # fmt: skip


def answer(body: Any = None, status: int = 200, next_url: str = "") -> requests.Response:
    made = requests.Response()
    made.status_code = status
    made._content = b"" if body is None else json.dumps(body).encode()
    if next_url:
        made.headers["Link"] = f'<{next_url}>; rel="next"'
    return made


class Wire:
    """Stands for PlatformSession; `says` has the answers by address, the last one for ever."""

    def __init__(self) -> None:
        self.says: dict[str, list[requests.Response]] = {TOKEN: [answer(GIVEN)]}
        self.asked: list[tuple[str, Any, dict[str, str]]] = []

    def __call__(self) -> Self:
        self.headers: dict[str, str] = {}
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def get(self, url: str, headers: dict[str, str]) -> requests.Response:
        return self.post(url, None, headers)

    def post(self, url: str, data: Any, headers: dict[str, str] | None = None) -> requests.Response:
        self.asked.append((url, data, self.headers | (headers or {})))
        left = self.says[url]
        found = left.pop(0) if len(left) > 1 else left[0]
        found.url = url
        return found

    def count(self, url: str) -> int:
        return [one[0] for one in self.asked].count(url)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    made = Wire()
    monkeypatch.setattr("duet.plugins.lti.grades.PlatformSession", made)
    return made


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> KeyFile:
    return KeyFile(tmp_path_factory.mktemp("keys") / "lti.json")


def test_an_access_token_is_asked_for_by_an_assertion_that_counts_once(
    wire: Wire, keys: KeyFile
) -> None:
    wire.says |= {f"{HERE}/c/scores": [answer()]}
    others = PLATFORM.model_copy(update={"client_id": "other", "audience": "https://aud.example"})
    for platform in (PLATFORM, others):
        Services(keys).send(platform, f"{HERE}/c", {})
    forms = [data for url, data, _ in wire.asked if url == TOKEN]
    jwk = jwt.PyJWK(keys.load().key_set(0.0)["keys"][0])
    tokens = [jwt.decode(one["client_assertion"], jwk, ["RS256"], audience=aud)
              for one, aud in zip(forms, (TOKEN, "https://aud.example"), strict=True)]  # fmt: skip
    assert [(one["iss"], one["sub"]) for one in tokens] == [("duet",) * 2, ("other",) * 2]
    assert all(one["exp"] - one["iat"] == 65 for one in tokens)
    assert tokens[0]["jti"] != tokens[1]["jti"]
    assert jwt.get_unverified_header(forms[0]["client_assertion"])["kid"] == jwk.key_id
    assert forms[0]["grant_type"] == "client_credentials" and forms[0]["scope"].endswith("/score")


def test_a_token_is_used_until_its_last_minute_by_its_own_client_alone(
    wire: Wire, keys: KeyFile
) -> None:
    now = [1e9]
    services = Services(keys, clock=lambda: now[0])
    wire.says |= {f"{HERE}/c/scores": [answer()]}
    for moment_s, count in ((0, 1), (3539, 1), (3541, 2)):
        now[0] = 1e9 + moment_s
        services.send(PLATFORM, f"{HERE}/c", {})
        assert wire.count(TOKEN) == count
    assert wire.asked[-1][2]["Authorization"] == "Bearer t1"
    services.send(PLATFORM.model_copy(update={"client_id": "other"}), f"{HERE}/c", {})
    assert wire.count(TOKEN) == 3


def test_a_score_goes_to_the_scores_of_its_column(wire: Wire, keys: KeyFile) -> None:
    address = f"{HERE}/c/lineitem/scores?type_id=1"
    wire.says |= {address: [answer()]}
    for column in (f"{HERE}/c/lineitem?type_id=1", f"{HERE}/c/lineitem/?type_id=1"):
        Services(keys).send(PLATFORM, column, {"scoreGiven": 1})
        url, data, headers = wire.asked[-1]
        assert (url, json.loads(data)) == (address, {"scoreGiven": 1})
        assert headers["Content-Type"] == SCORE_TYPE and "Bearer t1" in headers["Authorization"]


@pytest.mark.parametrize(
    ("status", "kind", "tokens"),
    [(409, NewerThere, 1), (404, NotTaken, 1), (403, InfraError, 1), (401, InfraError, 2)],
)
def test_what_a_refusal_of_a_score_means(
    wire: Wire, keys: KeyFile, status: int, kind: type[Exception], tokens: int
) -> None:
    services = Services(keys)
    wire.says |= {f"{HERE}/c/scores": [answer({}, status), answer()]}
    with pytest.raises(kind) as error:
        services.send(PLATFORM, f"{HERE}/c", {})
    assert type(error.value) is kind
    services.send(PLATFORM, f"{HERE}/c", {})
    assert wire.count(TOKEN) == tokens


@pytest.mark.parametrize("status", [400, 401, 404, 409, 500])
def test_a_refusal_of_a_token_is_none_of_the_score(wire: Wire, keys: KeyFile, status: int) -> None:
    wire.says[TOKEN] = [answer({}, status)]
    with pytest.raises(InfraError, match=f"access token.*: {status}") as error:
        Services(keys).send(PLATFORM, f"{HERE}/c", {})
    assert type(error.value) is InfraError


def columns(services: Services) -> str:
    offered = Endpoint(scope=(LINEITEM, READ_LINEITEM), lineitems=f"{HERE}/columns")
    return services.lineitem(PLATFORM, offered, "link", "Lab", 4.0)


def people(services: Services) -> Any:
    return services.members(PLATFORM, f"{HERE}/people")


def test_a_column_of_a_later_page_is_not_made_again(wire: Wire, keys: KeyFile) -> None:
    wire.says |= {
        f"{HERE}/columns": [answer([{"tag": "x", "id": "1"}], next_url=f"{HERE}/more")],
        f"{HERE}/more": [answer([{"tag": "link", "id": f"{HERE}/columns/2"}])],
    }
    assert columns(Services(keys)) == f"{HERE}/columns/2"
    assert [data for _, data, _ in wire.asked[1:]] == [None, None]


def test_a_made_column_has_what_finds_it_again(wire: Wire, keys: KeyFile) -> None:
    made = answer({"id": f"{HERE}/columns/9"}, 201)
    wire.says |= {f"{HERE}/columns": [answer([]), made]}
    assert columns(Services(keys)) == f"{HERE}/columns/9"
    new = {"scoreMaximum": 4.0, "label": "Lab", "resourceId": "link", "tag": "link"}
    assert json.loads(wire.asked[-1][1]) == new


def test_members_of_all_pages_but_inactive_ones(wire: Wire, keys: KeyFile) -> None:
    first = {"user_id": 1, "roles": [INSTRUCTOR]}, {"user_id": "2", "status": "Inactive"}
    wire.says |= {
        f"{HERE}/people": [answer({"members": first}, next_url=f"{HERE}/more")],
        f"{HERE}/more": [answer({"members": [{"user_id": "3", "name": "A", "roles": [LEARNER]}]})],
    }
    found = [(one.user_id, one.name, one.role) for one in people(Services(keys))]
    assert found == [("1", "", Role.INSTRUCTOR), ("3", "A", Role.STUDENT)]


@pytest.mark.parametrize("asking", [columns, people])
@pytest.mark.parametrize(
    "next_url", ["http://platform.example/more", "/more", "file:///etc/passwd"]
)
def test_a_next_page_at_an_unsafe_address_is_not_asked(
    wire: Wire, keys: KeyFile, asking: Callable[[Services], Any], next_url: str
) -> None:
    wire.says |= {f"{HERE}/columns": [answer([], next_url=next_url)]}
    wire.says |= {f"{HERE}/people": [answer({"members": []}, next_url=next_url)]}
    with pytest.raises(InfraError, match="not safe"):
        asking(Services(keys))
    assert len(wire.asked) == 2


@pytest.mark.parametrize("asking", [columns, people])
def test_pages_without_end_are_an_error(
    wire: Wire, keys: KeyFile, asking: Callable[[Services], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duet.plugins.lti.grades.PAGES", 3)
    wire.says |= {f"{HERE}/columns": [answer([], next_url=f"{HERE}/columns")]}
    wire.says |= {f"{HERE}/people": [answer({}, next_url=f"{HERE}/people")]}
    with pytest.raises(InfraError, match="more than 3 pages"):
        asking(Services(keys))
    assert len(wire.asked) == 4


@pytest.mark.parametrize("asking", [columns, people])
@pytest.mark.parametrize("where", [TOKEN, "list"])
@pytest.mark.parametrize("body", [None, 5, "x", [5], [[]], {"members": [5]}, {"members": 5}])
def test_an_answer_of_another_form_is_a_sentence(
    wire: Wire, keys: KeyFile, asking: Callable[[Services], Any], where: str, body: Any
) -> None:
    wire.says |= {f"{HERE}/columns": [answer(body)], f"{HERE}/people": [answer(body)]}
    wire.says |= {} if where == "list" else {TOKEN: [answer(body)]}
    with pytest.raises(InfraError, match="failed"):
        asking(Services(keys))
