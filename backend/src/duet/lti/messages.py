# SPDX-License-Identifier: GPL-2.0-or-later
"""Login and launch of pylti1p3next, made stricter where it is lax.

The library looks at nothing of the audience but its first entry, allows no difference of clocks,
takes a token of any age, never uses a nonce up, and fetches keys without a time limit.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import jwt
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pylti1p3.cookie import CookieService
from pylti1p3.deployment import Deployment
from pylti1p3.exception import LtiException
from pylti1p3.message_launch import MessageLaunch
from pylti1p3.oidc_login import OIDCLogin
from pylti1p3.registration import Registration
from pylti1p3.request import Request
from pylti1p3.session import SessionService
from pylti1p3.tool_config.abstract import ToolConfAbstract

from duet.base.access import Person, Role
from duet.lti.limits import LOGIN_S, NAME_CHARACTERS, SKEW_S
from duet.lti.platforms import Platform, PlatformKeys, Platforms, ToolKeys

# Requests and registrations in the form that pylti1p3next takes.


class Form(Request):
    """A request's parameters."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    @property
    def session(self) -> dict[str, object]:
        """Nothing: the state has all."""
        return {}

    def is_secure(self) -> bool:
        """Only the library's own pages ask."""
        return True

    def get_param(self, key: str) -> str:
        """Empty: it did not come."""
        return self._values.get(key, "")


class ToolRegistration(Registration):
    """A registration that signs with our key of now."""

    def __init__(self, platform: Platform, keys: ToolKeys) -> None:
        self.platform = platform
        self._kid = keys.signing.kid
        self.set_issuer(platform.issuer).set_client_id(platform.client_id)
        self.set_auth_login_url(platform.auth_url).set_auth_token_url(platform.token_url)
        self.set_key_set_url(platform.keys_url).set_tool_private_key(keys.signing.pem)
        if platform.audience:
            self.set_auth_audience(platform.audience)

    def get_kid(self) -> str:
        """Names the key in what we sign."""
        return self._kid


class Config(ToolConfAbstract[Request]):
    """Our registrations, as the library looks for them."""

    def __init__(self, platforms: Platforms, keys: ToolKeys) -> None:
        self._platforms = platforms
        self._keys = keys

    def check_iss_has_one_client(self, iss: str) -> bool:
        """The library's older form, which we do not use."""
        return False

    def find_registration_by_issuer(self, iss: str, *_: Any, **__: Any) -> ToolRegistration:
        """The library's older form, which we do not use."""
        raise NotImplementedError

    def find_deployment(self, iss: str, deployment_id: str) -> Deployment | None:
        """The library's older form, which we do not use."""
        raise NotImplementedError

    def find_registration_by_params(
        self, iss: str, client_id: str, *_: Any, **__: Any
    ) -> ToolRegistration:
        """The registration of an issuer and a client.

        Raises:
            LtiException: there is none.
        """
        found = self._platforms.find(iss, client_id) if client_id else None
        if found is None:
            raise LtiException("no such issuer and client is registered here")
        return ToolRegistration(found, self._keys)

    def find_deployment_by_params(
        self, iss: str, deployment_id: str, client_id: str, *_: Any, **__: Any
    ) -> Deployment | None:
        """None: not registered."""
        found = self._platforms.find(iss, client_id)
        return Deployment() if found and found.deploys(deployment_id) else None


# What the roles of a platform's message are here. Pure.
#
# Source: https://www.imsglobal.org/spec/lti/v1p3#role-vocabularies

MEMBERSHIP: Final = "http://purl.imsglobal.org/vocab/lis/v2/membership"
TEACHERS: Final = frozenset({"Instructor", "TeachingAssistant"})
STUDENTS: Final = frozenset({"Learner"})


def role_of(roles: Iterable[str]) -> Role:
    """The highest role of the course.

    Roles of the institution and of the system do not count: Canvas sends an administrator's in
    courses in which that person is a student.
    """
    found = {name for role in roles for name in _of_course(role)}
    if found & TEACHERS:
        return Role.INSTRUCTOR
    return Role.STUDENT if found & STUDENTS else Role.VIEWER


def _of_course(role: str) -> tuple[str, ...]:
    """Names of a role of the course: a sub-role counts as its principal role and as itself.

    `membership#Instructor`, `membership/Instructor#TeachingAssistant`, and the short `Learner`.
    """
    vocabulary, hash_sign, name = role.rpartition("#")
    if not hash_sign:
        return () if ":" in role or "/" in role else (role,)
    if vocabulary == MEMBERSHIP:
        return (name,)
    if vocabulary.startswith(f"{MEMBERSHIP}/"):
        return (vocabulary.removeprefix(f"{MEMBERSHIP}/"), name)
    return ()


# What a platform's message says, once its signature is known to be good.


CLAIM: Final = "https://purl.imsglobal.org/spec/lti/claim/"
AGS: Final = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NRPS: Final = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
DEEP: Final = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
CHOOSING: Final = "LtiDeepLinkingRequest"
PLACE_KEYS: Final = ("lesson", "lab", "step")
"""Custom parameters that say what is opened; they are keys of the page's address."""
PLACE_CHARACTERS: Final = 100

Id = Annotated[str, Field(min_length=1, max_length=255)]
Address = Annotated[str, Field(max_length=2000)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_left_out(cls, tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        return {name: value for name, value in tree.items() if value is not None}


class ResourceLink(_Part):
    """The activity in the course."""

    id: Id
    title: str = ""


class Endpoint(_Part):
    """Assignment and grade services."""

    scope: tuple[str, ...] = ()
    lineitem: Address | None = None
    lineitems: Address | None = None


class Roster(_Part):
    """Names and role provisioning service."""

    context_memberships_url: Address = ""


class DeepLinking(_Part):
    """A teacher chooses what an activity opens."""

    deep_link_return_url: Address
    accept_types: tuple[str, ...] = ()
    accept_presentation_document_targets: tuple[str, ...] = ()
    accept_multiple: bool = False
    accept_lineitem: bool | None = None
    data: Any = None


def _mapping(value: Any) -> Any:
    """Some platforms send an empty list for no parameters."""
    return value if isinstance(value, dict) else {}


class Claims(_Part):
    """The claims that are used.

    Args:
        sub: who it is for the platform; None: an anonymous launch (LTI 1.3 core, 5.3.6.1).
    """

    iss: Id
    sub: Id | None = None
    nonce: Id
    iat: float
    exp: float
    name: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    deployment: Annotated[Id, Field(alias=f"{CLAIM}deployment_id")]
    kind: Annotated[
        Literal["LtiResourceLinkRequest", "LtiDeepLinkingRequest"],
        Field(alias=f"{CLAIM}message_type"),
    ]
    roles: Annotated[tuple[str, ...], Field(alias=f"{CLAIM}roles")] = ()
    link: Annotated[ResourceLink | None, Field(alias=f"{CLAIM}resource_link")] = None
    custom: Annotated[dict[str, Any], BeforeValidator(_mapping), Field(alias=f"{CLAIM}custom")] = {}
    grades: Annotated[Endpoint | None, Field(alias=AGS)] = None
    roster: Annotated[Roster | None, Field(alias=NRPS)] = None
    choosing: Annotated[DeepLinking | None, Field(alias=DEEP)] = None


@dataclass(frozen=True, slots=True)
class Launch:
    """A message that was found good; its nonce still has to be used up.

    Args:
        until_s: Unix time at which the state, and so the nonce, ends.
    """

    platform: Platform
    claims: Claims
    until_s: float

    @property
    def person(self) -> Person:
        """Who it is; the same for all registrations of an issuer.

        Of an anonymous launch it is somebody new each time.
        """
        user_id = self.claims.sub
        if user_id is None:
            text = f"lti launch {self.platform.ident}\n{self.claims.nonce}"
            return Person(_key(text), name_of(self.claims))
        return Person(person_key(self.platform, user_id), name_of(self.claims))

    @property
    def role(self) -> Role:
        """What the person is in the course."""
        return role_of(self.claims.roles)

    @property
    def link_id(self) -> str:
        """Names the activity within all platforms."""
        link = "" if self.claims.link is None else self.claims.link.id
        return _key(f"{self.platform.ident}\n{self.claims.deployment}\n{link}")

    @property
    def place(self) -> dict[str, str]:
        """What is opened: keys of the page's address, from the custom parameters."""
        given = {key: self.claims.custom.get(key) for key in PLACE_KEYS}
        words = {key: str(value) for key, value in given.items() if value is not None}
        return {key: value[:PLACE_CHARACTERS] for key, value in words.items() if value}


def person_key(platform: Platform, user_id: str) -> str:
    """`Person.key` of a platform's user."""
    return _key(f"lti person {platform.issuer}\n{user_id}")


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def name_of(claims: Claims) -> str:
    """The person's name on one line; empty: the platform sends none."""
    parts = f"{claims.given_name or ''} {claims.family_name or ''}"
    text = "".join(
        " " if unicodedata.category(char)[0] in "CZ" else char for char in claims.name or parts
    )
    return " ".join(text.split())[:NAME_CHARACTERS]


# The `state` of a login: signed, bound to one browser, and over after LOGIN_S.
#
# Nothing is stored at a login, so whoever calls it a million times fills nothing. At the launch the
# nonce in the state must be that of the token; the nonce is then stored as used (store.py).

FORM = re.compile(r"^([0-9a-f]{16})\.([0-9a-f]{32})\.([0-9a-f]{32})\.(\d{1,12})\.([0-9a-f]{64})$")
PREFIX = "state-"
"""That of the library, which puts it before each state."""


@dataclass(frozen=True, slots=True)
class Login:
    """What a state says.

    Args:
        platform: `Platform.ident`.
        browser: hash of the secret in the browser's cookie.
        until_s: Unix time.
    """

    platform: str
    nonce: str
    browser: str
    until_s: int


def browser_hash(secret: str) -> str:
    """Names a browser in its states, without its secret."""
    return hashlib.sha256(f"lti browser {secret}".encode()).hexdigest()[:32]


def sign_state(key: bytes, login: Login) -> str:
    """A login as a state, without the library's prefix."""
    body = f"{login.platform}.{login.nonce}.{login.browser}.{login.until_s}"
    return f"{body}.{_signature(key, body)}"


def read_state(key: bytes, state: str) -> Login | None:
    """The login that we signed; None: it is not ours."""
    parts = FORM.match(state.removeprefix(PREFIX))
    if parts is None:
        return None
    platform, nonce, browser, until_s, signature = parts.groups()
    body = f"{platform}.{nonce}.{browser}.{until_s}"
    if not hmac.compare_digest(_signature(key, body), signature):
        return None
    return Login(platform, nonce, browser, int(until_s))


def _signature(key: bytes, body: str) -> str:
    return hmac.new(key, f"lti state {body}".encode(), hashlib.sha256).hexdigest()


ALGORITHM = "RS256"
NEEDED = ("iss", "aud", "exp", "iat", "nonce")


class _Service(SessionService):
    """Stores nothing; the nonce is compared with that of the state."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce

    def save_nonce(self, nonce: str) -> None:
        """It is in the state."""

    def check_nonce(self, nonce: str) -> bool:
        """Whether it is the one of the login."""
        return bool(self._nonce) and secrets.compare_digest(
            str(nonce).encode(), self._nonce.encode()
        )

    def check_state_is_valid(self, state: str, id_token_hash: str) -> bool:
        return False

    def save_launch_data(self, key: str, jwt_body: Mapping[str, Any]) -> None: ...

    def set_state_valid(self, state: str, id_token_hash: str) -> None: ...


class _Cookies(CookieService):
    """The library compares a state with the cookie of that name; ours has already been checked."""

    def __init__(self, state: str = "") -> None:
        self._state = state

    def get_cookie(self, name: str) -> str | None:
        return self._state or None

    def set_cookie(self, name: str, value: str | int, exp: int | None = 3600) -> None:
        """The route sets ours."""


class ToolLogin(OIDCLogin[Any, Any, Any, Any, str]):
    """A login whose state and nonce are ours."""

    def __init__(self, form: Form, config: Config, state: str, nonce: str) -> None:
        super().__init__(form, config, session_service=_Service(nonce), cookie_service=_Cookies())
        self._state, self._nonce = state, nonce

    def _get_uuid(self) -> str:
        return self._state

    def _generate_nonce(self) -> str:
        return self._nonce

    def address(self, launch_url: str) -> str:
        """Where the browser goes on, at the platform.

        Raises:
            OIDCException: a parameter is missing.
        """
        return str(self._prepare_redirect_url(launch_url))

    def get_redirect(self, url: str) -> Any:
        """The route redirects."""
        raise NotImplementedError


class ToolLaunch(MessageLaunch[Any, Any, Any, Any]):
    """A launch that belongs to a login; `validate` checks it."""

    def __init__(self, form: Form, config: Config, login: Login, known: PlatformKeys) -> None:
        cookies = _Cookies(form.get_param("state"))
        super().__init__(
            form, config, session_service=_Service(login.nonce), cookie_service=cookies
        )
        self._known = known

    def _get_request_param(self, key: str) -> str:
        return str(self._request.get_param(key))

    @property
    def registered(self) -> ToolRegistration | None:
        """The registration that it was found to be of."""
        found = self._registration
        return found if isinstance(found, ToolRegistration) else None

    def fetch_public_key(self, key_set_url: str) -> Any:
        """The platform's key set, as far as it is needed for this message."""
        registration = self.registered
        assert registration is not None
        kid = str(self._jwt.get("header", {}).get("kid", ""))
        return self._known.key_set(registration.platform, kid)

    def validate_jwt_signature(self) -> ToolLaunch:
        """Signature, audience, issuer and times.

        Raises:
            jwt.PyJWTError: one of them is wrong.
        """
        key, _ = self.get_public_key()
        registration = self.registered
        assert registration is not None
        client_id = registration.platform.client_id
        claims = jwt.decode(
            self._get_id_token(),
            key,
            algorithms=[ALGORITHM],
            audience=client_id,
            issuer=registration.platform.issuer,
            leeway=SKEW_S,
            options={"require": list(NEEDED), "verify_sub": False},  # it may be null
        )
        audience = claims["aud"]
        several = isinstance(audience, list) and len(audience) > 1
        authorized = claims.get("azp")
        if (several or authorized is not None) and authorized != client_id:
            raise jwt.InvalidAudienceError("azp is another client")
        if float(claims["iat"]) < time.time() - LOGIN_S - SKEW_S:
            raise jwt.ExpiredSignatureError("the token is older than its login")
        return self

    def validate_message(self) -> ToolLaunch:
        """What the library wants of each kind, but for a user: an anonymous launch has none.

        Raises:
            LtiException: something is missing.
        """
        body = self._jwt["body"]
        self._jwt["body"] = body | {"sub": body.get("sub") or "nobody"}
        try:
            super().validate_message()
        finally:
            self._jwt["body"] = body
        return self
