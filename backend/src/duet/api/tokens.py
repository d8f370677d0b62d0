# SPDX-License-Identifier: GPL-2.0-or-later
"""Tokens, one per role. Hashes of tokens are stored in a file of the user. A token is shown once,
when it is created.

A token has 256 random bits and cannot be guessed. So a slow hash would protect a token no better
than the plain SHA-256 in the file does. The file also holds the key that signs sessions
(sessions.py).
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
from html import escape
from pathlib import Path

from duet.base import files as durable
from duet.base.access import Role
from duet.base.errors import InfraError, InputError
from duet.base.settings import access_file

FORMAT = 1
KEY_BYTES = 32
TOKEN = re.compile(r"^[A-Za-z0-9_-]{43}$")
MOST_BYTES = 64 * 1024
"""Limit for reading the file. A valid file has less than 1 KiB."""


@dataclass(frozen=True, slots=True)
class Token:
    """The facts about a token that the file stores.

    Args:
        ident: public name of the token, which sessions contain.
        sha256: hash of the token, as hexadecimal digits.
        created: time in ISO 8601, UTC.
    """

    ident: str
    role: Role
    sha256: str
    created: str


@dataclass(frozen=True, slots=True)
class Access:
    """Content of the file: the key that signs sessions, and at most one token per role."""

    key: bytes
    tokens: tuple[Token, ...] = ()

    def token(self, plain: str) -> Token | None:
        """Return the token with this text.

        The comparison takes the same time for any wrong text.
        """
        given = hash_of(plain)
        found = None
        for token in self.tokens:
            if hmac.compare_digest(token.sha256, given):
                found = token
        return found

    def by_ident(self, ident: str) -> Token | None:
        """Return the token with that public id, unless it was rotated or revoked."""
        return next((token for token in self.tokens if token.ident == ident), None)

    def roles(self) -> set[Role]:
        """Roles that have a token."""
        return {token.role for token in self.tokens}


class AccessFile:
    """The token file.

    A changed file is read again, so `duet token` affects a running server.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, int, int], Access] | None = None

    @classmethod
    def default(cls) -> AccessFile:
        return cls(access_file())

    def load(self) -> Access:
        """Read the file; if it is missing, return a new key and no tokens.

        Raises:
            InputError: the file is not a token file, or other users may read or write it.
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
        """Create tokens, and return their texts, which are not stored anywhere.

        Args:
            again: also replace existing tokens, which ends their sessions.

        Raises:
            InputError: see load().
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
        """Delete tokens, which ends their sessions. Return the roles that had a token.

        Raises:
            InputError: see load().
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
                raise ValueError("a key of the wrong length")
            return Access(key, tuple(map(_token, tree["tokens"])))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(
                f"{self.path} is not a token file ({type(error).__name__}: {error!s:.80}).",
                remedy=f"Delete the file (rm {self.path}), then run ./duet token create.",
            ) from error
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> InfraError:
        return InfraError(
            f"{self.path} cannot be read: {error.strerror}.",
            remedy="Run as the owner of the file, or set DUET_ACCESS to another file.",
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
                remedy="Free disk space, or set DUET_ACCESS to another file.",
            ) from error


def hash_of(plain: str) -> str:
    """Return the SHA-256 of a token as hexadecimal digits."""
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _token(tree: dict[str, str]) -> Token:
    if len(bytes.fromhex(tree["sha256"])) != 32:
        raise ValueError("a hash of the wrong length")
    return Token(tree["id"], Role[tree["role"].upper()], tree["sha256"].lower(), tree["created"])


# Makes the page for a visitor without a session. It is plain HTML, because such a visitor does not
# get the app.


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a visitor is refused.

    Args:
        short: text for a WebSocket's close frame, at most 123 bytes.
    """

    status: int
    title: str
    sentence: str
    remedy: str
    short: str


LINK = "Open the link that the person who runs this server gave you."
NEEDED = Refusal(
    401,
    "This page opens with a link",
    "This server requires a link with a token, once for each browser. This browser has no "
    "session here, or its session is over.",
    LINK,
    "This browser’s session is over. Open the link to this server again.",
)
WRONG = Refusal(
    401,
    "This link is not valid",
    "The token of this link is not one of this server’s: it was replaced, or a part is missing.",
    "Ask the person who runs this server for the new link.",
    "The token is not valid. Ask for the new link.",
)
NO_CLASS = Refusal(
    401,
    "No class has this code",
    "The class has ended, or a word of its code differs.",
    "Ask the instructor for the link or the three words.",
    "No class has this code. Ask the instructor for it.",
)
TOO_MANY = Refusal(
    429,
    "One moment",
    "Many wrong class codes came from your network, so codes are checked one after another.",
    "This page tries yours again by itself. Browsers with a session are not affected.",
    "Many wrong class codes came. Try again in half a minute.",
)

# The colours and fonts are copied from frontend/src/ui/tokens.css.
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{head}<title>{title} · Kernel Duet</title>
<style>
:root {{ --paper: #faf8f3; --ink: #1b1d21; --soft: #575b62; --rule: #e2dccf }}
@media (prefers-color-scheme: dark) {{
  :root {{ --paper: #101317; --ink: #e9e6df; --soft: #a3aab1; --rule: #2a3038 }}
}}
body {{ background: var(--paper); color: var(--ink); margin: 0 auto; max-width: 38em;
  padding: 12vh 1.5em; font: 16px/1.55 "Inter Variable", system-ui, sans-serif }}
h1 {{ font: 600 28px/1.25 "Source Serif 4 Variable", Georgia, serif; margin: 1.2em 0 .6em }}
p {{ margin: .6em 0 }}
.quiet {{ color: var(--soft); font-size: 14px; border-top: 1px solid var(--rule);
  margin-top: 2.5em; padding-top: 1em }}
code {{ font-family: "JetBrains Mono Variable", ui-monospace, monospace; font-size: .92em }}
a {{ color: inherit }}
</style>
<p>Kernel Duet</p>
<h1>{title}</h1>
{body}
</html>
"""
OPERATOR = (
    '<p class="quiet">If you run this server: it printed the links when they were made; '
    "<code>./duet token rotate</code> makes new ones and ends the old.</p>"
)


def token_page(why: Refusal, footer: str = OPERATOR, again_s: int | None = None) -> str:
    """Return a page that says what the visitor needs for access.

    Args:
        footer: HTML.
        again_s: seconds after which the page reloads itself.
    """
    body = f"<p>{escape(why.sentence)}</p>\n<p><b>{escape(why.remedy)}</b></p>\n{footer}"
    head = "" if again_s is None else f'<meta http-equiv="refresh" content="{again_s}">\n'
    return PAGE.format(head=head, title=escape(why.title), body=body)


def reload_page() -> str:
    """Return a page that reloads its own address once."""
    refresh = '<meta http-equiv="refresh" content="0">\n'
    return PAGE.format(head=refresh, title="One moment", body='<p><a href="">Go on</a></p>')
