# SPDX-License-Identifier: GPL-2.0-or-later
"""Parse a platform's message, map its roles, and sign the state of a login. Pure.

login.py checks that a message is authentic. LTI section numbers refer to
https://www.imsglobal.org/spec/lti/v1p3
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from duet.base.access import Person, Role
from duet.plugins.lti.limits import NAME_CHARACTERS
from duet.plugins.lti.platforms import Platform

# Maps the roles of a platform's message to our roles (LTI 1.3 core, 5.3.7 and A.2).

MEMBERSHIP: Final = "http://purl.imsglobal.org/vocab/lis/v2/membership"
TEACHERS: Final = frozenset({"Instructor", "TeachingAssistant"})
STUDENTS: Final = frozenset({"Learner"})


def role_of(roles: Iterable[str]) -> Role:
    """Return the highest of the course roles.

    Institution and system roles do not count, because Canvas sends an administrator's role even for
    a course in which the administrator is a student.
    """
    found = {name for role in roles for name in _of_course(role)}
    if found & TEACHERS:
        return Role.INSTRUCTOR
    return Role.STUDENT if found & STUDENTS else Role.VIEWER


def _of_course(role: str) -> tuple[str, ...]:
    """Return the names of a course role. A sub-role has two names: its own name and the name of its
    principal role.

    Examples: `membership#Instructor`, `membership/Instructor#TeachingAssistant`, and `Learner`.
    """
    vocabulary, hash_sign, name = role.rpartition("#")
    if not hash_sign:
        return () if ":" in role or "/" in role else (role,)
    if vocabulary == MEMBERSHIP:
        return (name,)
    if vocabulary.startswith(f"{MEMBERSHIP}/"):
        return (vocabulary.removeprefix(f"{MEMBERSHIP}/"), name)
    return ()


# Content of a platform's message whose signature was verified.


CLAIM: Final = "https://purl.imsglobal.org/spec/lti/claim/"
AGS: Final = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NRPS: Final = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
DEEP: Final = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
OPENING: Final = "LtiResourceLinkRequest"
CHOOSING: Final = "LtiDeepLinkingRequest"
PLACE_KEYS: Final = ("lesson", "lab", "step")
"""Names of the custom parameters that say what to open. They become query parameters of the page's
address.
"""
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
    """The activity in the course (LTI 1.3 core, 5.3.5)."""

    id: Id
    title: str = ""


class Endpoint(_Part):
    """Assignment and grade services (AGS 2.0, 3.1)."""

    scope: tuple[str, ...] = ()
    lineitem: Address | None = None
    lineitems: Address | None = None


class Roster(_Part):
    """Names and role provisioning service (NRPS 2.0, 3.6.1.1)."""

    context_memberships_url: Address = ""


class DeepLinking(_Part):
    """What a platform accepts when a teacher chooses an activity (Deep Linking 2.0, 4.4.1)."""

    deep_link_return_url: Address
    accept_types: tuple[str, ...] = ()
    accept_presentation_document_targets: tuple[str, ...] = ()
    accept_multiple: bool = False
    accept_lineitem: bool | None = None
    data: Any = None


def _mapping(value: Any) -> Any:
    """Return {} for an empty list, which some platforms send if there are no parameters."""
    return value if isinstance(value, dict) else {}


class Claims(_Part):
    """The claims that we use (LTI 1.3 core, 5.3 and 5.4).

    Args:
        sub: the platform's user id; None in an anonymous launch (LTI 1.3 core, 5.3.6.1).
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
    """A verified message. The caller still has to mark its nonce as used.

    Args:
        until_s: Unix time at which the state and its nonce expire.
    """

    platform: Platform
    claims: Claims
    until_s: float

    @property
    def person(self) -> Person:
        """The person who launched the activity.

        A user is the same person in all registrations of an issuer. Each anonymous launch creates a
        new person.
        """
        user_id = self.claims.sub
        if user_id is None:
            text = f"lti launch {self.platform.ident}\n{self.claims.nonce}"
            return Person(_key(text), name_of(self.claims))
        return Person(person_key(self.platform, user_id), name_of(self.claims))

    @property
    def role(self) -> Role:
        """The person's role in the course."""
        return role_of(self.claims.roles)

    @property
    def link_id(self) -> str:
        """Id of the activity, unique among all platforms."""
        link = "" if self.claims.link is None else self.claims.link.id
        return _key(f"{self.platform.ident}\n{self.claims.deployment}\n{link}")

    @property
    def place(self) -> dict[str, str]:
        """Query parameters of the page to open. They come from the custom parameters."""
        given = {key: self.claims.custom.get(key) for key in PLACE_KEYS}
        words = {key: str(value) for key, value in given.items() if value is not None}
        return {key: value[:PLACE_CHARACTERS] for key, value in words.items() if value}


def person_key(platform: Platform, user_id: str) -> str:
    """Return `Person.key` of a platform's user."""
    return _key(f"lti person {platform.issuer}\n{user_id}")


def _key(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]


def name_of(claims: Claims) -> str:
    """Return the person's name on one line, or "" if the platform sends none."""
    parts = f"{claims.given_name or ''} {claims.family_name or ''}"
    text = "".join(
        " " if unicodedata.category(char)[0] in "CZ" else char for char in claims.name or parts
    )
    return " ".join(text.split())[:NAME_CHARACTERS]


# The `state` of a login is signed, bound to one browser, and expires after LOGIN_S (IMS Security
# Framework 1.0, 7.3.1).
#
# At a login, the server stores nothing, so even a million logins use no disk space. At the launch,
# the nonce in the state must equal the nonce in the token. The nonce is then stored as used
# (store.py).

FORM: Final = re.compile(
    r"([0-9a-f]{16})\.([0-9a-f]{32})\.([0-9a-f]{32})\.([0-9]{1,12})"
    r"\.([0-9a-f]{32}|)\.([0-9a-f]{64})"
)
PREFIX: Final = "state-"
"""Prefix of each state that is sent to a platform."""


@dataclass(frozen=True, slots=True)
class Login:
    """Content of a state.

    Args:
        platform: `Platform.ident`.
        browser: hash of the secret in the browser's cookie.
        until_s: Unix time.
        target: hash of the address that the platform wants to open; "" if the platform named no
            address.
    """

    platform: str
    nonce: str
    browser: str
    until_s: int
    target: str = ""


def browser_hash(secret: str) -> str:
    """Return the hash that identifies a browser in its states without revealing its secret."""
    return _key(f"lti browser {secret}")


def target_hash(url: str) -> str:
    """Return the hash of `target_link_uri` for a state, or "" if there is no such address."""
    return _key(f"lti target {url}") if url else ""


def sign_state(key: bytes, login: Login) -> str:
    """Return a login as a state, without PREFIX."""
    body = f"{login.platform}.{login.nonce}.{login.browser}.{login.until_s}.{login.target}"
    return f"{body}.{_signature(key, body)}"


def read_state(key: bytes, state: str) -> Login | None:
    """Return the login in a state, or None if we did not sign the state."""
    parts = FORM.fullmatch(state.removeprefix(PREFIX))
    if parts is None:
        return None
    platform, nonce, browser, until_s, target, signature = parts.groups()
    login = Login(platform, nonce, browser, int(until_s), target)
    body = parts.string.rpartition(".")[0]
    return login if hmac.compare_digest(_signature(key, body), signature) else None


def _signature(key: bytes, body: str) -> str:
    return hmac.new(key, f"lti state {body}".encode(), hashlib.sha256).hexdigest()
