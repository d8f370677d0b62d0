# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads our own keys, and the YAML file $DUET_LTI, which registers learning platforms."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import platformdirs
import requests
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from duet.base import files as durable
from duet.base.errors import InfraError, InputError
from duet.plugins.lti.limits import (
    ANSWER_BYTES,
    ANSWER_S,
    CONNECT_S,
    FILE_BYTES,
    FORMER_KEY_S,
    FORMER_KEYS,
    KEYS_AGAIN_S,
    PLATFORM_KEYS_S,
    PLATFORMS,
)

REMEDY = "Correct that file; docs/LTI.md has an example for Moodle and one for Canvas."
Text = Annotated[str, Field(min_length=1, max_length=255)]


def platforms_file() -> Path | None:
    """Return the path of the platforms file from $DUET_LTI, or None if it is not set."""
    given = os.environ.get("DUET_LTI")
    return Path(given) if given else None


def _safe(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url
    if parts.scheme == "http" and _loopback(parts.hostname or ""):
        return url
    raise ValueError("the address must begin with https:// or be an address of this machine")


def _origin(url: str) -> str:
    parts = urlsplit(_safe(url))
    if parts.path or parts.query or parts.fragment or set(parts.netloc) & set(" ;,'\""):
        raise ValueError("the origin must be https://HOST, without a path")
    return url


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


Url = Annotated[str, Field(max_length=500), AfterValidator(_safe)]
Origin = Annotated[str, Field(max_length=255), AfterValidator(_origin)]


class Platform(BaseModel):
    """One registration. The quoted terms are the settings' names on platforms' own pages.

    Args:
        issuer: "Platform ID".
        deployments: ids of accepted deployments. None means that all are accepted, which suits
            platforms that have a deployment for each course.
        auth_url: "Authentication request URL".
        token_url: "Access token URL".
        keys_url: "Public keyset URL".
        audience: audience of requests for access tokens, if it is not `token_url`.
        frames: origins whose pages may show the login, the launch and the list in a frame. The
            default is the origin of `auth_url`.
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
        """The registration's id in sessions and in the database."""
        text = f"lti platform {self.issuer}\n{self.client_id}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def grant(self) -> str:
        """Name of the registration in `Grant.token`."""
        return f"lti-{self.ident}"

    @property
    def framed_by(self) -> tuple[str, ...]:
        """Origins for `frame-ancestors`."""
        if self.frames is not None:
            return self.frames
        parts = urlsplit(self.auth_url)
        return (f"{parts.scheme}://{parts.netloc}",)

    def deploys(self, deployment: str) -> bool:
        """Return whether messages from a deployment are accepted."""
        return self.deployments is None or deployment in self.deployments

    def takes(self, url: str) -> bool:
        """Return whether we may send to an address from the platform's messages.

        The address must be as safe as the registered addresses.
        """
        try:
            return _safe(url) == url and len(url) <= 2000
        except ValueError:
            return False


class Platforms(BaseModel):
    """Content of the platforms file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    platforms: Annotated[tuple[Platform, ...], Field(min_length=1, max_length=PLATFORMS)]

    @model_validator(mode="after")
    def _each_once(self) -> Platforms:
        seen: set[str] = set()
        for one in self.platforms:
            if one.ident in seen:
                raise ValueError(
                    f"'{one.name:.60}' has the same issuer and client_id as another platform"
                )
            seen.add(one.ident)
        return self

    def __iter__(self) -> Iterator[Platform]:  # type: ignore[override]
        return iter(self.platforms)

    def find(self, issuer: str, client_id: str) -> Platform | None:
        """Return the registration of this issuer and client. If `client_id` is "", return the
        issuer's only registration."""
        found = [one for one in self.platforms if one.issuer == issuer]
        if client_id:
            found = [one for one in found if one.client_id == client_id]
        return found[0] if len(found) == 1 else None

    def by_ident(self, ident: str) -> Platform | None:
        """Return the registration with that ident, or None if it was removed from the file."""
        return next((one for one in self.platforms if one.ident == ident), None)


def load_platforms(path: Path) -> Platforms:
    """Read the file.

    Raises:
        InputError: it cannot be read, or is invalid.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the platforms file cannot be read: {error.strerror} ({path}).",
            remedy="Set DUET_LTI to the path of the file, or unset it.",
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
        raise InputError(f"{path} is not a platforms file: {line:.200}.", remedy=REMEDY) from (
            error
        )


def _first(error: ValidationError) -> str:
    one = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in one["loc"]) or "the file"
    more = error.error_count() - 1
    return f"{place}: {one['msg'].removeprefix('Value error, ')}" + (
        f" (and {more} more)" if more else ""
    )


# Manages the tool's keys. One RSA key signs messages; its predecessors stay in the published key
# set for FORMER_KEY_S. The key file has mode 0600 and also contains the HMAC key for the `state`
# parameter of a login (messages.py).

FORMAT: Final = 1
RSA_BITS: Final = 2048
ALGORITHM: Final = "RS256"
"""Algorithm of our and the platforms' signatures (IMS Security Framework 1.0, 5.1.3, 6)."""


def keys_path() -> Path:
    """Return the path of our key file: $DUET_LTI_KEYS, or a file in the user's data folder."""
    given = os.environ.get("DUET_LTI_KEYS")
    return Path(given) if given else Path(platformdirs.user_data_dir("kernel-duet"), "lti.json")


class ToolKey(BaseModel):
    """A key pair.

    Args:
        pem: the private key in PKCS 8.
        made_s: Unix time.
        replaced_s: Unix time at which another key began to sign; None if this key signs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kid: str
    pem: str
    made_s: float
    replaced_s: float | None = None

    def public(self) -> dict[str, Any]:
        """Return the public key as JWK (RFC 7517; IMS Security Framework 1.0, 6.2)."""
        private = serialization.load_pem_private_key(self.pem.encode(), None)
        assert isinstance(private, rsa.RSAPrivateKey)
        jwk: dict[str, Any] = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
        jwk.pop("key_ops", None)
        return jwk | {"kid": self.kid, "alg": ALGORITHM, "use": "sig"}


class Content(BaseModel):
    """Content of the key file. The first key signs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    secret: str
    keys: tuple[ToolKey, ...]


@dataclass(frozen=True)
class ToolKeys:
    """The keys that were read from the file."""

    content: Content

    @property
    def signing(self) -> ToolKey:
        return self.content.keys[0]

    @cached_property
    def secret(self) -> bytes:
        """Key that signs states."""
        return bytes.fromhex(self.content.secret)

    @cached_property
    def _public(self) -> tuple[tuple[float | None, dict[str, Any]], ...]:
        return tuple((key.replaced_s, key.public()) for key in self.content.keys)

    def key_set(self, now_s: float) -> dict[str, Any]:
        """Return the key set for platforms: the signing key and recently replaced keys."""
        keys = [jwk for replaced_s, jwk in self._public if _shown(replaced_s, now_s)]
        return {"keys": keys}


def _shown(replaced_s: float | None, now_s: float) -> bool:
    return replaced_s is None or now_s < replaced_s + FORMER_KEY_S


class KeyFile:
    """The key file. A changed file is read again, so a running server uses rotated keys.

    Args:
        clock: Unix time in s.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock
        self._read: tuple[tuple[int, int, int], ToolKeys] | None = None

    @classmethod
    def default(cls) -> KeyFile:
        return cls(keys_path())

    def load(self) -> ToolKeys:
        """Read the file; create it if it is missing.

        Raises:
            InputError: it is not a key file, or other users may read or write it.
            InfraError: it cannot be read or written.
        """
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return self._write(
                Content(format=FORMAT, secret=secrets.token_hex(32), keys=self._new())
            )
        except OSError as error:
            raise self._unusable(error) from error
        if status.st_mode & 0o077:
            raise InputError(
                f"{self.path} is open to other users (mode {status.st_mode & 0o777:o}).",
                remedy=f"Run: chmod 600 {self.path}, then ./duet lti keys --rotate.",
            )
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, self._parse(status.st_size))
        return self._read[1]

    def rotate(self) -> ToolKeys:
        """Create a new signing key. The former key stays in the key set for FORMER_KEY_S.

        Raises:
            InputError: see load().
            InfraError: see load().
        """
        content, now_s = self.load().content, self._clock()
        former = (content.keys[0].model_copy(update={"replaced_s": now_s}), *content.keys[1:])
        stay = tuple(key for key in former if _shown(key.replaced_s, now_s))[:FORMER_KEYS]
        return self._write(content.model_copy(update={"keys": (*self._new(), *stay)}))

    def _new(self) -> tuple[ToolKey, ...]:
        private = rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS)
        pem = private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return (ToolKey(kid=secrets.token_hex(8), pem=pem.decode(), made_s=self._clock()),)

    def _parse(self, size: int) -> ToolKeys:
        try:
            if size > FILE_BYTES:
                raise ValueError(f"{size} bytes")
            content = Content.model_validate(json.loads(self.path.read_bytes()))
            if content.format != FORMAT or not content.keys:
                raise ValueError(f"format {content.format}, {len(content.keys)} keys")
            keys = ToolKeys(content)
            keys.key_set(0.0)
            assert len(keys.secret) >= 16
            return keys
        except OSError as error:
            raise self._unusable(error) from error
        except (ValueError, ValidationError, AssertionError, TypeError, RecursionError) as error:
            raise InputError(
                f"{self.path} is not an LTI key file ({type(error).__name__}).",
                remedy=f"Delete this file (rm {self.path}), then run ./duet lti keys to create "
                "new keys.",
            ) from error

    def _write(self, content: Content) -> ToolKeys:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            durable.write(self.path, content.model_dump_json(indent=1).encode(), mode=0o600)
        except OSError as error:
            raise self._unusable(error) from error
        return ToolKeys(content)

    def _unusable(self, error: OSError) -> InfraError:
        return InfraError(
            f"{self.path} cannot be read or written: {error.strerror or error}.",
            remedy="Run as the owner of the file, or set DUET_LTI_KEYS to another file.",
        )


# Limits the time and the size of requests to platforms. The requests follow no redirects.

CHUNK_BYTES = 64 * 1024


class PlatformSession(requests.Session):
    """A session that applies these limits to all requests."""

    def __init__(self) -> None:
        super().__init__()
        self.headers["User-Agent"] = "kernel-duet"
        self.auth = lambda request: request  # without this, ~/.netrc would replace our token

    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        """Make one request.

        Raises:
            requests.RequestException: no answer came in time, or the answer is too long.
        """
        kwargs |= {"timeout": (CONNECT_S, ANSWER_S), "stream": True, "allow_redirects": False}
        begun_s = time.monotonic()
        with super().request(method, url, *args, **kwargs) as response:
            content = bytearray()
            for chunk in response.iter_content(CHUNK_BYTES):
                content += chunk
                if len(content) > ANSWER_BYTES:
                    raise requests.RequestException(f"the answer exceeds {ANSWER_BYTES} bytes")
                if time.monotonic() - begun_s > ANSWER_S:
                    raise requests.Timeout(f"no complete answer came within {ANSWER_S:.0f} s")
            response._content = bytes(content)
            if 300 <= response.status_code < 400:
                raise requests.TooManyRedirects("the platform redirected us to another address")
        return response


# Fetches public keys of platforms when they are needed, and again when a platform has a new key.


@dataclass
class _Known:
    lock: threading.Lock = field(default_factory=threading.Lock)
    keys: tuple[dict[str, Any], ...] = ()
    read_s: float | None = None

    def older_than(self, seconds: float, now_s: float) -> bool:
        return self.read_s is None or now_s - self.read_s >= seconds


class PlatformKeys:
    """Thread-safe cache of each platform's key set.

    Args:
        again_s: an unknown key causes a fetch only if the last fetch is at least this long ago.
        clock: monotonic time in s.
    """

    def __init__(
        self, again_s: float = KEYS_AGAIN_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._again_s = again_s
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def key_set(self, platform: Platform, kid: str) -> tuple[dict[str, Any], ...]:
        """Return a platform's key set. Fetch it again if it is old or lacks the key `kid`.

        Source: IMS Security Framework 1.0, 6.3 and 6.4.

        Raises:
            InfraError: the platform did not provide its key set.
        """
        with self._lock:
            known = self._known.setdefault(platform.ident, _Known())
        with known.lock:
            there = any(key.get("kid") == kid for key in known.keys)
            if known.older_than(PLATFORM_KEYS_S if there else self._again_s, self._clock()):
                known.keys = _fetched(platform)
                known.read_s = self._clock()
            return known.keys


def _fetched(platform: Platform) -> tuple[dict[str, Any], ...]:
    try:
        with PlatformSession() as session:
            answer = session.get(platform.keys_url)
        answer.raise_for_status()
        keys = answer.json()["keys"]
        return tuple(key for key in keys if isinstance(key, dict))
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        raise InfraError(
            f"the keys of the platform '{platform.name:.60}' could not be read.",
            remedy="Try again in a minute. The operator of this server finds the "
            "reason in its log.",
            detail=f"{platform.keys_url}: {error}",
        ) from error


@dataclass(frozen=True)
class Registered:
    """The operator's configuration."""

    platforms: Platforms
    keys: KeyFile
    known: PlatformKeys = field(default_factory=PlatformKeys)

    @classmethod
    def default(cls) -> Registered | None:
        """Read the configuration from the environment, or return None if LTI is not used.

        Raises:
            InputError: a file is unusable.
            InfraError: keys cannot be stored.
        """
        path = platforms_file()
        if path is None:
            return None
        found = cls(load_platforms(path), KeyFile.default())
        found.keys.load()
        return found

    @property
    def grants(self) -> frozenset[str]:
        """Names of valid session grants."""
        return frozenset(platform.grant for platform in self.platforms)

    @property
    def frames(self) -> tuple[str, ...]:
        """Origins whose pages may show the login, the launch and the list in a frame."""
        return tuple(sorted({one for each in self.platforms for one in each.framed_by}))
