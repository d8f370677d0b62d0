# SPDX-License-Identifier: GPL-2.0-or-later
"""The learning platforms that an operator has registered: a YAML file, named by $DUET_LTI."""

from __future__ import annotations

import hashlib
import ipaddress
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from duet.base.errors import InputError
from duet.lti.limits import FILE_BYTES, PLATFORMS

REMEDY = "Correct that file; docs/LTI.md has an example for Moodle and one for Canvas."
Text = Annotated[str, Field(min_length=1, max_length=255)]


def platforms_file() -> Path | None:
    """The file of platforms: $DUET_LTI; None: this server knows no platform."""
    given = os.environ.get("DUET_LTI")
    return Path(given) if given else None


def _safe(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url
    if parts.scheme == "http" and _loopback(parts.hostname or ""):
        return url
    raise ValueError("it must begin with https://, or name this machine")


def _origin(url: str) -> str:
    parts = urlsplit(_safe(url))
    if parts.path or parts.query or parts.fragment or set(parts.netloc) & set(" ;,'\""):
        raise ValueError("it must be https://HOST, without a path")
    return url


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


Url = Annotated[str, Field(max_length=500), AfterValidator(_safe)]
Origin = Annotated[str, Field(max_length=255), AfterValidator(_origin)]


class Platform(BaseModel):
    """One registration; the words are those of the platforms' own pages.

    Args:
        issuer: "Platform ID".
        deployments: their ids; None: each that the platform names, such as one of each course.
        auth_url: "Authentication request URL".
        token_url: "Access token URL".
        keys_url: "Public keyset URL".
        audience: of access tokens, where it is not `token_url`.
        frames: origins whose pages may frame login, launch and list; default: of `auth_url`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text
    issuer: Text
    client_id: Text
    deployments: Annotated[tuple[Text, ...], Field(min_length=1, max_length=1000)] | None = None
    auth_url: Url
    token_url: Url
    keys_url: Url
    audience: Text | None = None
    frames: tuple[Origin, ...] | None = None

    @property
    def ident(self) -> str:
        """Names the registration in sessions and in the database."""
        text = f"lti platform {self.issuer}\n{self.client_id}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def grant(self) -> str:
        """Names it in `Grant.token`."""
        return f"lti-{self.ident}"

    @property
    def framed_by(self) -> tuple[str, ...]:
        """Origins for `frame-ancestors`."""
        if self.frames is not None:
            return self.frames
        parts = urlsplit(self.auth_url)
        return (f"{parts.scheme}://{parts.netloc}",)

    def deploys(self, deployment: str) -> bool:
        """Whether messages of a deployment are taken."""
        return self.deployments is None or deployment in self.deployments

    def takes(self, url: str) -> bool:
        """Whether we send to an address that its messages name: as safe as the registered ones."""
        try:
            return _safe(url) == url and len(url) <= 2000
        except ValueError:
            return False


class Platforms(BaseModel):
    """Content of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    platforms: Annotated[tuple[Platform, ...], Field(min_length=1, max_length=PLATFORMS)]

    @model_validator(mode="after")
    def _each_once(self) -> Platforms:
        seen: set[str] = set()
        for one in self.platforms:
            if one.ident in seen:
                raise ValueError(f"'{one.name:.60}' has the issuer and client_id of another one")
            seen.add(one.ident)
        return self

    def __iter__(self) -> Iterator[Platform]:  # type: ignore[override]
        return iter(self.platforms)

    def find(self, issuer: str, client_id: str) -> Platform | None:
        """The registration; an empty `client_id` finds the issuer's only one."""
        found = [one for one in self.platforms if one.issuer == issuer]
        if client_id:
            found = [one for one in found if one.client_id == client_id]
        return found[0] if len(found) == 1 else None

    def by_ident(self, ident: str) -> Platform | None:
        """The registration of that ident; None: it was taken out of the file."""
        return next((one for one in self.platforms if one.ident == ident), None)


def load_platforms(path: Path) -> Platforms:
    """Read the file.

    Raises:
        InputError: it cannot be read, or does not say what is needed.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the file of platforms cannot be read: {error.strerror} ({path}).",
            remedy="Name it with DUET_LTI, or unset DUET_LTI.",
        ) from error
    try:
        if len(raw) > FILE_BYTES:
            raise ValueError(f"it has more than {FILE_BYTES} bytes")
        tree: Any = yaml.safe_load(raw)
        return Platforms.model_validate(tree)
    except ValidationError as error:
        raise InputError(f"{path}: {_first(error)}.", remedy=REMEDY) from error
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        line = str(error).splitlines()[0]
        raise InputError(f"{path} is not a file of platforms: {line:.200}.", remedy=REMEDY) from (
            error
        )


def _first(error: ValidationError) -> str:
    one = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in one["loc"]) or "the file"
    more = error.error_count() - 1
    return f"{place}: {one['msg'].removeprefix('Value error, ')}" + (
        f" (and {more} more)" if more else ""
    )
