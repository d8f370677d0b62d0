# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on a message, without servers: signatures, keys, claims that a platform itself signs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest

from duet.plugins.lti.limits import LOGIN_S, SKEW_S
from duet.plugins.lti.login import begin_login, read_launch
from duet.plugins.lti.messages import CLAIM, DEEP, Launch
from duet.plugins.lti.platforms import KeyFile, PlatformKeys, Platforms, ToolKeys
from duet.plugins.lti.platforms import Platform as Registration
from duet.plugins.lti.refused import LaunchRefused
from tests.plugins.lti import tokens as forge
from tests.plugins.lti.platform_side import LEARNER, KeyPair, Platform
from tests.plugins.lti.tool import registration

TARGET = "https://tool.example/lti/launch"
DAY_S = 86400.0


class Shown(PlatformKeys):
    """A key set as it stands, without a network."""

    def __init__(self, *keys: dict[str, Any]) -> None:
        super().__init__()
        self.keys = keys
        self.asked: list[str] = []

    def key_set(self, platform: Registration, kid: str) -> tuple[dict[str, Any], ...]:
        self.asked.append(kid)
        return self.keys


def jwk(key: KeyPair, **change: Any) -> dict[str, Any]:
    """A public key as a platform shows it; None leaves a member out."""
    public = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256).prepare_key(key.public)
    tree = jwt.algorithms.RSAAlgorithm.to_jwk(public, as_dict=True)
    tree |= {"kid": key.kid, "alg": "RS256"} | change
    return {name: value for name, value in tree.items() if value is not None}


class Desk:
    """Our side after a login, and a platform that has yet to answer it."""

    def __init__(self, keys: ToolKeys, target: str = TARGET) -> None:
        self.keys, self.platform = keys, Platform()
        self.platform.url = "https://platform.example"
        self.platforms = Platforms(platforms=(registration(self.platform),))
        self.known = Shown(jwk(self.platform.key))
        values = {"iss": self.platform.url, "client_id": "duet", "login_hint": "h"}
        values |= {"target_link_uri": target} if target else {}
        address, self.nonce = begin_login(self.platforms, keys, values, TARGET, "browser")
        self.state = parse_qs(urlsplit(address).query)["state"][0]
        now_s = int(time.time())
        self.claims: dict[str, Any] = {
            "iss": self.platform.url, "aud": "duet", "sub": "student-1", "nonce": self.nonce,
            "iat": now_s, "exp": now_s + 300, f"{CLAIM}deployment_id": "1",
            f"{CLAIM}message_type": "LtiResourceLinkRequest", f"{CLAIM}version": "1.3.0",
            f"{CLAIM}roles": [LEARNER], f"{CLAIM}resource_link": {"id": "link-1"},
            f"{CLAIM}target_link_uri": TARGET,
        }  # fmt: skip

    def signed(self, **change: Any) -> str:
        """A message that the platform signs; None leaves a claim out."""
        tree = {k: v for k, v in (self.claims | change).items() if v is not None}
        return self.sealed(json.dumps(tree))

    def sealed(self, body: str) -> str:
        """Any text, signed by the platform: PyJWT itself would not write all of them."""
        key = self.platform.key
        return jwt.api_jws.encode(body.encode(), key.private, "RS256", {"kid": key.kid})

    def read(self, token: str) -> Launch:
        values = {"state": self.state, "id_token": token}
        return read_launch(self.platforms, self.keys, self.known, values, lambda _: "browser")

    def refused(self, token: str, words: str) -> None:
        with pytest.raises(LaunchRefused, match=words):
            self.read(token)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> ToolKeys:
    return KeyFile(tmp_path_factory.mktemp("keys") / "lti.json").load()


@pytest.fixture
def desk(keys: ToolKeys) -> Desk:
    made = Desk(keys)
    assert made.read(made.signed()).claims.sub == "student-1"
    return made


# Signatures and keys.

HEADS: dict[str, dict[str, Any]] = {
    "alg none": {"alg": "none"},
    "alg None": {"alg": "None"},
    "no alg": {"alg": None},
    "no kid": {"kid": None},
    "kid of another type": {"kid": ["x"]},
    "an unknown kid": {"kid": "x"},
    "a critical extension": {"crit": ["b64"], "b64": False},
}


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("unsigned", [True, False])
def test_a_header_cannot_choose_how_it_is_checked(desk: Desk, name: str, unsigned: bool) -> None:
    head = {"alg": "RS256", "typ": "JWT", "kid": desk.platform.key.kid} | HEADS[name]
    _, body, signature = desk.signed().split(".")
    given = forge.part({key: value for key, value in head.items() if value is not None})
    desk.refused(f"{given}.{body}.{'' if unsigned else signature}", "refused")


def test_a_key_in_the_header_is_not_believed(desk: Desk) -> None:
    evil = KeyPair()
    headers = {"kid": desk.platform.key.kid, "jwk": jwk(evil), "jku": "https://evil.example/jwks"}
    token = jwt.encode(desk.claims, evil.private, algorithm="RS256", headers=headers)
    desk.refused(token, "Signature verification failed")


@pytest.mark.parametrize("algorithm", ["RS384", "RS512", "PS256"])
@pytest.mark.parametrize("listed", [True, False])
def test_the_true_key_with_another_algorithm_is_refused(
    desk: Desk, algorithm: str, listed: bool
) -> None:
    if listed:
        desk.known.keys = (jwk(desk.platform.key, alg=algorithm),)
    headers = {"kid": desk.platform.key.kid}
    token = jwt.encode(desk.claims, desk.platform.key.private, algorithm, headers)
    desk.refused(token, "alg value is not allowed" if listed else "Unable to find public key")


@pytest.mark.parametrize("listed", [True, False])
def test_the_public_key_is_no_secret(desk: Desk, listed: bool) -> None:
    if listed:  # even where the platform's own set named that algorithm
        desk.known.keys = (jwk(desk.platform.key, alg="HS256"),)
    token = forge.by_the_public_key(desk.signed(), desk.platform)
    desk.refused(token, "not allowed" if listed else "Unable to find public key")


@pytest.mark.parametrize(
    "change",
    [
        {"kty": "oct", "k": "c2VjcmV0"}, {"kty": "EC", "crv": "P-256"}, {"kty": None},
        {"n": None}, {"n": 5}, {"n": "", "e": ""}, {"e": "!"}, {"n": "AQAB"},
    ],
)  # fmt: skip
def test_a_key_that_is_none_is_a_sentence(desk: Desk, change: dict[str, Any]) -> None:
    desk.known.keys = (jwk(desk.platform.key, **change),)
    desk.refused(desk.signed(), "convert JWT key")


def test_a_key_set_that_shows_private_members_is_read_as_public(desk: Desk) -> None:
    desk.known.keys = (jwk(desk.platform.key, d="AQAB", p=1),)
    assert desk.read(desk.signed()).claims.sub == "student-1"


def test_a_key_that_names_no_algorithm_is_one_for_ours(desk: Desk) -> None:
    desk.known.keys = (jwk(desk.platform.key, alg=None),)
    assert desk.read(desk.signed()).claims.sub == "student-1"


def test_the_former_key_counts_no_more_after_a_rotation(desk: Desk) -> None:
    before = desk.signed()
    desk.platform.rotate()
    desk.refused(desk.signed(), "Unable to find public key")  # not shown yet
    desk.known.keys = (jwk(desk.platform.key),)
    desk.refused(before, "Unable to find public key")
    assert desk.read(desk.signed()).claims.sub == "student-1"


# Claims that the platform itself signs.

FAR: dict[str, Callable[[float], dict[str, Any]]] = {
    "expired": lambda now_s: {"iat": now_s - 400, "exp": now_s - SKEW_S - 5},
    "yet valid": lambda now_s: {"iat": now_s + SKEW_S + 60},
    r"yet valid \(nbf\)": lambda now_s: {"nbf": now_s + SKEW_S + 60},
    "older than the login allows": lambda now_s: {"iat": now_s - LOGIN_S - SKEW_S - 5},
}
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("registered", {"aud": ["x", "duet"], "azp": "duet"}),
    ("registered", {"aud": []}),
    ("registered", {"aud": {"duet": 1}}),
    ("claim format", {"aud": ["duet", 5], "azp": "duet"}),
    ("azp", {"aud": ["duet", "x"]}),
    ("azp", {"azp": ""}),
    ("azp", {"azp": ["duet"]}),
    ('"iss" field', {"iss": None}),
    ("registered", {"iss": "https://platform.example/"}),
    ("registered", {"iss": ["https://platform.example"]}),
    ("Nonce", {"nonce": ["x"]}),
    ("Issued At", {"iat": "x"}),
    ("Expiration Time", {"exp": "x"}),
    ("deployment ID", {f"{CLAIM}deployment_id": "2"}),
    ("deployment ID", {f"{CLAIM}deployment_id": "\ud800\n"}),
    ('"deployment_id" field', {f"{CLAIM}deployment_id": None}),
    ("Invalid message type", {f"{CLAIM}message_type": None}),
    ("Unrecognized message type", {f"{CLAIM}message_type": "LtiStartProctoring"}),
    ("Unrecognized message type", {f"{CLAIM}message_type": ["LtiResourceLinkRequest"]}),
    ("Unrecognized message type", {f"{CLAIM}message_type": "LtiSubmissionReviewRequest"}),
    ("version", {f"{CLAIM}version": None}),
    ("version", {f"{CLAIM}version": "1.1"}),
    ("Roles", {f"{CLAIM}roles": None}),
    ("roles", {f"{CLAIM}roles": "Instructor"}),
    ("Resource Link Id", {f"{CLAIM}resource_link": None}),
    ("Resource Link Id", {f"{CLAIM}resource_link": {"id": ""}}),
    ("Resource Link Id", {f"{CLAIM}resource_link": "link-1"}),
    ("target_link_uri", {f"{CLAIM}target_link_uri": f"{TARGET}?lab=x"}),
    ("target_link_uri", {f"{CLAIM}target_link_uri": [TARGET]}),
    ("sub", {"sub": "x" * 256}),
]
CHOOSING = {f"{CLAIM}message_type": "LtiDeepLinkingRequest"}
TAKES = {"deep_link_return_url": "https://platform.example/c", "accept_types": ["ltiResourceLink"]}
WRONG_CHOICES: list[tuple[str, dict[str, Any]]] = [
    ("Missing Deep Linking Settings", {}),
    ("Missing Deep Linking Settings", {DEEP: "x"}),
    ("resource link placement", {DEEP: TAKES | {"accept_types": "ltiResourceLink"}}),
    ("presentation type", {DEEP: TAKES}),
]


@pytest.mark.parametrize("words", FAR)
def test_a_message_counts_at_its_time_alone(desk: Desk, words: str) -> None:
    desk.refused(desk.signed(**FAR[words](int(time.time()))), words)


@pytest.mark.parametrize(("words", "change"), WRONG)
def test_a_true_signature_does_not_make_a_wrong_claim_right(
    desk: Desk, words: str, change: dict[str, Any]
) -> None:
    desk.refused(desk.signed(**change), words)


@pytest.mark.parametrize(("words", "change"), WRONG_CHOICES)
def test_a_choice_needs_its_settings(desk: Desk, words: str, change: dict[str, Any]) -> None:
    desk.refused(desk.signed(**CHOOSING, **change), words)


def test_several_audiences_need_us_as_the_authorized_one(desk: Desk) -> None:
    assert desk.read(desk.signed(aud=["duet", "x"], azp="duet")).claims.sub == "student-1"


def test_a_target_is_compared_where_both_name_one(desk: Desk, keys: ToolKeys) -> None:
    assert desk.read(desk.signed(**{f"{CLAIM}target_link_uri": None})).claims.sub == "student-1"
    silent = Desk(keys, target="")
    assert silent.read(silent.signed()).claims.sub == "student-1"


STRANGE: list[Any] = [0, -1, 1.5, 10**400, -(10**400), True, "", "\ud800", [], [[]], {}, {"id": 1}]


@pytest.mark.parametrize(
    "value", STRANGE, ids=lambda value: str(value)[:9].encode("ascii", "replace")
)
def test_a_claim_of_a_strange_type_is_a_sentence_or_nothing(desk: Desk, value: Any) -> None:
    for name in (*desk.claims, "azp", "nbf", "jti", "name", f"{CLAIM}custom", DEEP):
        try:
            desk.read(desk.signed(**{name: value}))
        except LaunchRefused as refusal:
            refusal.sentence.encode()


@pytest.mark.parametrize("body", ["[]", "5", '"x"', "{", "[" * 100_000, "1" * 5000])
def test_a_body_that_is_no_claims_is_a_sentence(desk: Desk, body: str) -> None:
    desk.refused(desk.sealed(body), "can't be decoded")
    assert desk.known.asked == [desk.platform.key.kid]  # by the fixture; not for this one


def test_a_former_day_of_the_state_is_over(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    token, now = desk.signed(), time.time
    monkeypatch.setattr("duet.plugins.lti.login.time.time", lambda: now() + DAY_S)
    desk.refused(token, "older than")


def test_a_login_goes_to_the_registered_address_with_what_it_must_say(
    keys: ToolKeys,
) -> None:
    here = Desk(keys)
    asking = registration(here.platform, auth_url="https://platform.example/auth?tenant=1")
    values = {
        "iss": asking.issuer,
        "client_id": "duet",
        "login_hint": "h&x",
        "lti_message_hint": "m",
    }
    address, nonce = begin_login(Platforms(platforms=(asking,)), keys, values, TARGET, "browser")
    assert address.startswith("https://platform.example/auth?tenant=1&scope=openid&")
    query = {name: value[0] for name, value in parse_qs(urlsplit(address).query).items()}
    assert query.pop("state").startswith("state-")
    assert query == {
        "tenant": "1", "scope": "openid", "response_type": "id_token", "nonce": nonce,
        "response_mode": "form_post", "prompt": "none", "client_id": "duet",
        "redirect_uri": TARGET, "login_hint": "h&x", "lti_message_hint": "m",
    }  # fmt: skip
    for change in ({"login_hint": ""}, {"client_id": ""}):
        with pytest.raises(LaunchRefused, match="login is not usable"):
            begin_login(Platforms(platforms=(asking,)), keys, values | change, TARGET, "browser")
