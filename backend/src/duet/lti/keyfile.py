# SPDX-License-Identifier: GPL-2.0-or-later
"""Our keys: one signs, former ones stay in the key set for FORMER_KEY_S. One file, mode 0600.

The file also holds the key of states (state.py).
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import platformdirs
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from pydantic import BaseModel, ConfigDict, ValidationError

from duet.base import files as durable
from duet.base.errors import InfraError, InputError
from duet.lti.limits import FILE_BYTES, FORMER_KEY_S, FORMER_KEYS

FORMAT: Final = 1
RSA_BITS: Final = 2048
"""What platforms take; the IMS Security Framework names RS256."""


def keys_path() -> Path:
    """Where our keys are: $DUET_LTI_KEYS or in the user's data folder."""
    given = os.environ.get("DUET_LTI_KEYS")
    return Path(given) if given else Path(platformdirs.user_data_dir("kernel-duet"), "lti.json")


class ToolKey(BaseModel):
    """A key pair.

    Args:
        pem: PKCS 8.
        made_s: Unix time.
        replaced_s: Unix time at which another one began to sign; None: this one signs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kid: str
    pem: str
    made_s: float
    replaced_s: float | None = None

    def public(self) -> dict[str, Any]:
        """As JWK (RFC 7517)."""
        private = serialization.load_pem_private_key(self.pem.encode(), None)
        assert isinstance(private, rsa.RSAPrivateKey)
        jwk: dict[str, Any] = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
        jwk.pop("key_ops", None)
        return jwk | {"kid": self.kid, "alg": "RS256", "use": "sig"}


class Content(BaseModel):
    """Content of the file; the first key signs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int
    secret: str
    keys: tuple[ToolKey, ...]


@dataclass(frozen=True)
class ToolKeys:
    """What was read of the file."""

    content: Content

    @property
    def signing(self) -> ToolKey:
        """The key that signs."""
        return self.content.keys[0]

    @cached_property
    def secret(self) -> bytes:
        """Key of states."""
        return bytes.fromhex(self.content.secret)

    @cached_property
    def _public(self) -> tuple[tuple[float | None, dict[str, Any]], ...]:
        return tuple((key.replaced_s, key.public()) for key in self.content.keys)

    def key_set(self, now_s: float) -> dict[str, Any]:
        """For platforms: the key that signs, and those that signed until a short time ago."""
        keys = [jwk for replaced_s, jwk in self._public if _shown(replaced_s, now_s)]
        return {"keys": keys}


def _shown(replaced_s: float | None, now_s: float) -> bool:
    return replaced_s is None or now_s < replaced_s + FORMER_KEY_S


class KeyFile:
    """The file; read again when it changed, so a running server follows `duet lti`.

    Args:
        clock: Unix time in s.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock
        self._read: tuple[tuple[int, int, int], ToolKeys] | None = None

    @classmethod
    def default(cls) -> KeyFile:
        """Where the environment says."""
        return cls(keys_path())

    def load(self) -> ToolKeys:
        """What is in the file; it is made where there is none.

        Raises:
            InputError: it is no such file, or others may read or write it.
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
        """A new key signs from now on; the former one stays in the key set for FORMER_KEY_S.

        Raises:
            InputError: see load.
            InfraError: see load.
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
                f"{self.path} is not a file of LTI keys ({type(error).__name__}).",
                remedy=f"Delete it (rm {self.path}); ./duet lti keys makes new ones.",
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
            remedy="Run as the user who made it, or name another file with DUET_LTI_KEYS.",
        )
