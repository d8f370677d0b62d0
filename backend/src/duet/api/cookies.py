# SPDX-License-Identifier: GPL-2.0-or-later
"""The one cookie: a random name of a browser, signed where tokens are asked for."""

from __future__ import annotations

import hashlib
import re
import secrets
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope, Send

from duet.api.front import asked_of

COOKIE_S = 400 * 86400
"""Browsers cap the age of cookies at this. A session ends earlier; the name of the browser stays,
so that its saved runs still belong to it when it opens a link again."""
SECRET = re.compile(r"^[A-Za-z0-9_-]{22}$")
IDENT_CHARACTERS = 16
PAGES = ("/", "/index.html")


def cookie_name(scope: Scope) -> str:
    """Cookies do not tell ports apart, and two servers may run on one host."""
    server = scope.get("server")
    return f"duet-{server[1] if server else 0}"


def new_secret() -> str:
    """128 random bits for a cookie."""
    return secrets.token_urlsafe(16)


def ident_of(secret: str) -> str:
    """The public name of the browser that has this cookie."""
    return hashlib.sha256(f"duet visitor {secret}".encode()).hexdigest()[:IDENT_CHARACTERS]


def read_cookie(scope: Scope) -> str:
    """The value of our cookie; empty: none came."""
    return named_cookie(scope, cookie_name(scope))


def named_cookie(scope: Scope, name: str) -> str:
    """The value of a cookie; empty: it did not come."""
    try:
        cookies: SimpleCookie = SimpleCookie("; ".join(Headers(scope=scope).getlist("cookie")))
    except CookieError:
        return ""
    return cookies[name].value if name in cookies else ""


def names_browser(scope: Scope) -> bool:
    """Whether an answer may name a browser that sent no cookie.

    Only the page itself and its socket do: files and calls that a new page asks for at once
    would each give another name. A link on a foreign page opens this one without its
    SameSite=Strict cookie, which must not be replaced; the page's socket then has it.
    """
    if scope["type"] == "websocket":
        return True
    return scope["path"] in PAGES and not from_elsewhere(scope)


def from_elsewhere(scope: Scope) -> bool:
    """Whether a page of another site led here, so that the browser held its cookie back."""
    return Headers(scope=scope).get("sec-fetch-site") == "cross-site"


def cookie_line(scope: Scope, value: str) -> str:
    """The Set-Cookie header, for the page's own path; Secure behind TLS (api/front.py)."""
    path = f"{asked_of(scope).root}/"
    line = f"{cookie_name(scope)}={value}; Path={path}; Max-Age={COOKIE_S}; "
    line += "HttpOnly; SameSite=Strict"
    return line + ("; Secure" if scope.get("scheme") in ("https", "wss") else "")


def with_cookie(send: Send, line: str) -> Send:
    """A sender that adds a cookie to the head of the answer."""

    async def wrapped(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.accept"):
            message.setdefault("headers", [])
            MutableHeaders(scope=message).append("set-cookie", line)
        await send(message)

    return wrapped
