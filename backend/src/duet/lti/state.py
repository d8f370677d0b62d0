# SPDX-License-Identifier: GPL-2.0-or-later
"""The `state` of a login: signed, bound to one browser, and over after LOGIN_S.

Nothing is stored at a login, so whoever calls it a million times fills nothing. At the launch the
nonce in the state must be that of the token; the nonce is then stored as used (store.py).
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass

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
