# SPDX-License-Identifier: GPL-2.0-or-later
"""What a platform's message says, once its signature is known to be good."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from duet.base.access import Person, Role
from duet.lti.limits import NAME_CHARACTERS
from duet.lti.platforms import Platform
from duet.lti.roles import role_of

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
