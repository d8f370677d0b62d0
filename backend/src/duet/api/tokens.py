# SPDX-License-Identifier: GPL-2.0-or-later
"""Tokens: one per role, stored as hashes in one file of the user, shown once when they are made.

A token is 256 random bits, so a plain SHA-256 suffices at rest: there is nothing to guess that a
slow hash would protect. The file also holds the key that signs sessions (see sessions.py).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from duet import durable
from duet.access import Role
from duet.errors import InfraError, InputError
from duet.settings import access_file

FORMAT = 1
KEY_BYTES = 32
TOKEN = re.compile(r"^[A-Za-z0-9_-]{43}$")
MOST_BYTES = 64 * 1024
"""The file has under 1 KiB; a larger one is no such file."""


@dataclass(frozen=True, slots=True)
class Token:
    """What is stored of a token.

    Args:
        ident: public; sessions name the token by it.
        sha256: of the token, as hexadecimal digits.
        created: ISO 8601 UTC.
    """

    ident: str
    role: Role
    sha256: str
    created: str


@dataclass(frozen=True, slots=True)
class Access:
    """Content of the file: the key of sessions, and the tokens, at most one per role."""

    key: bytes
    tokens: tuple[Token, ...] = ()

    def token(self, plain: str) -> Token | None:
        """The token that was given; takes the same time for each wrong one."""
        given = hash_of(plain)
        found = None
        for token in self.tokens:
            if hmac.compare_digest(token.sha256, given):
                found = token
        return found

    def by_ident(self, ident: str) -> Token | None:
        """The token of that public id, if it was not rotated or revoked."""
        return next((token for token in self.tokens if token.ident == ident), None)

    def roles(self) -> set[Role]:
        """Roles that have a token."""
        return {token.role for token in self.tokens}


class AccessFile:
    """The file; read again when it changed, so a running server follows `duet token`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, int, int], Access] | None = None

    @classmethod
    def default(cls) -> AccessFile:
        """Where the environment says."""
        return cls(access_file())

    def load(self) -> Access:
        """What is in the file; without one, a new key and no tokens.

        Raises:
            InputError: it is not such a file, or others may read or write it.
        """
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return Access(secrets.token_bytes(KEY_BYTES))
        except OSError as error:
            raise self._unreadable(error) from error
        if status.st_mode & 0o077:
            raise InputError(
                f"{self.path} is open to other users (mode {status.st_mode & 0o777:o}).",
                remedy=f"Run: chmod 600 {self.path}, then ./duet token rotate.",
            )
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, self._parse(status.st_size))
        return self._read[1]

    def make(self, roles: Iterable[Role], *, again: bool) -> dict[Role, str]:
        """New tokens; the only moment at which they are known.

        Args:
            again: also for roles that have one, whose old token and sessions then end.

        Raises:
            InputError: see load.
            InfraError: the file cannot be written.
        """
        access = self.load()
        wanted = [role for role in roles if again or role not in access.roles()]
        plain = {role: secrets.token_urlsafe(32) for role in wanted}
        now = datetime.now(UTC).isoformat(timespec="seconds")
        new = [
            Token(secrets.token_hex(8), role, hash_of(token), now) for role, token in plain.items()
        ]
        if new:
            stay = [token for token in access.tokens if token.role not in plain]
            self._write(replace(access, tokens=(*stay, *new)))
        return plain

    def revoke(self, roles: Iterable[Role]) -> set[Role]:
        """Take tokens away, and with them their sessions; returns the roles that had one.

        Raises:
            InputError: see load.
            InfraError: the file cannot be written.
        """
        access, gone = self.load(), set(roles)
        stay = tuple(token for token in access.tokens if token.role not in gone)
        if stay != access.tokens:
            self._write(replace(access, tokens=stay))
        return gone & access.roles()

    def _parse(self, size: int) -> Access:
        try:
            if size > MOST_BYTES:
                raise ValueError(f"{size} bytes")
            tree = json.loads(self.path.read_bytes())
            if tree["format"] != FORMAT:
                raise ValueError(f"format {tree['format']!r:.20}")
            key = bytes.fromhex(tree["key"])
            if len(key) != KEY_BYTES:
                raise ValueError("a key of another length")
            return Access(key, tuple(map(_token, tree["tokens"])))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(
                f"{self.path} is not a file of tokens ({type(error).__name__}: {error!s:.80}).",
                remedy=f"Delete it and run ./duet token create: rm {self.path}",
            ) from error
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> InfraError:
        return InfraError(
            f"{self.path} cannot be read: {error.strerror}.",
            remedy="Run as the user who made it, or name another file with DUET_ACCESS.",
        )

    def _write(self, access: Access) -> None:
        tokens = [
            {"id": t.ident, "role": t.role.word, "sha256": t.sha256, "created": t.created}
            for t in sorted(access.tokens, key=lambda t: t.role)
        ]
        tree = {"format": FORMAT, "key": access.key.hex(), "tokens": tokens}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            durable.write(self.path, json.dumps(tree, indent=1).encode(), mode=0o600)
        except OSError as error:
            raise InfraError(
                f"{self.path} cannot be written: {error.strerror or error}.",
                remedy="Make room there, or name another file with DUET_ACCESS.",
            ) from error


def hash_of(plain: str) -> str:
    """SHA-256 of a token as hexadecimal digits."""
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _token(tree: dict[str, str]) -> Token:
    if len(bytes.fromhex(tree["sha256"])) != 32:
        raise ValueError("a hash of another length")
    return Token(tree["id"], Role[tree["role"].upper()], tree["sha256"].lower(), tree["created"])
