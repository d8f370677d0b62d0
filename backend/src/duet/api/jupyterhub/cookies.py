# SPDX-License-Identifier: GPL-2.0-or-later
"""Two signed cookies: the session, which holds the hub's token, and a login that is under way.

Signed with a key made of the service's own token, so nothing is stored and a restart ends nobody's
session. As jupyterhub's HubOAuth does it; a token that somebody pastes has no signature.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass

from starlette.types import Scope

from duet.api.front import asked_of
from duet.api.sessions import cookie_name, named_cookie
from duet.base.budgets import HUB_LOGIN_S

MOST_QUERY = 2000
"""Characters of the page's address that a login brings back to. A longer one: the bare page."""


@dataclass(frozen=True, slots=True)
class Login:
    """A browser that went to the hub.

    Args:
        state: what the hub gives back.
        query: of the page that it wanted.
    """

    state: str
    query: str


class Signer:
    """Signs with a key that others cannot know."""

    def __init__(self, api_token: str) -> None:
        self._key = hashlib.sha256(f"duet hub cookies {api_token}".encode()).digest()

    def sign(self, kind: str, text: str) -> str:
        """`text` and a signature, as the value of a cookie."""
        body = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        return f"{body}.{self._signature(kind, body)}"

    def read(self, kind: str, value: str) -> str | None:
        """What was signed; None: not by us, or as something else."""
        body, _, signature = value.rpartition(".")
        if not hmac.compare_digest(self._signature(kind, body).encode(), signature.encode()):
            return None
        try:
            return base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode()
        except (binascii.Error, ValueError):
            return None

    def _signature(self, kind: str, body: str) -> str:
        return hmac.new(self._key, f"{kind} {body}".encode(), hashlib.sha256).hexdigest()


def new_login(scope: Scope) -> Login:
    """Of a browser that asks for a page now."""
    query = scope["query_string"].decode("latin-1")
    return Login(secrets.token_urlsafe(24), query if len(query) <= MOST_QUERY else "")


def login_name(scope: Scope, state: str) -> str:
    """The cookie of one login; two pages may log in at once."""
    return f"{cookie_name(scope)}-login-{state[:8]}"


def login_line(scope: Scope, signer: Signer, login: Login) -> str:
    """The Set-Cookie header of a login. Lax: the hub may send the browser to another site first."""
    value = signer.sign("login", f"{login.state} {login.query}")
    return _line(scope, login_name(scope, login.state), value, int(HUB_LOGIN_S))


def login_over(scope: Scope, state: str) -> str:
    """The Set-Cookie header that removes it."""
    return _line(scope, login_name(scope, state), "", 0)


def read_login(scope: Scope, signer: Signer, state: str) -> Login | None:
    """The login that this browser began with that state; None: it did not."""
    text = signer.read("login", named_cookie(scope, login_name(scope, state)))
    if text is None:
        return None
    began, _, query = text.partition(" ")
    return Login(began, query) if hmac.compare_digest(began.encode(), state.encode()) else None


def _line(scope: Scope, name: str, value: str, seconds: int) -> str:
    line = (
        f"{name}={value}; Path={asked_of(scope).root}/; Max-Age={seconds}; HttpOnly; SameSite=Lax"
    )
    return line + ("; Secure" if scope.get("scheme") in ("https", "wss") else "")
