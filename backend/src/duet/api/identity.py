# SPDX-License-Identifier: GPL-2.0-or-later
"""Who asks: puts a Visitor into the scope of each request and socket.

A random cookie names a browser. The server works with a hash of it, so what it stores or shows
to others is useless as a cookie. Without tokens every visitor is the operator.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duet.access import Role, Visitor

COOKIE_S = 400 * 86400
"""Browsers cap the age of cookies at this."""
SECRET = re.compile(r"^[A-Za-z0-9_-]{22}$")
IDENT_CHARACTERS = 16


class Identity:
    """ASGI middleware; see the module. Stands behind the Guard."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        name = cookie_name(scope)
        secret = read_cookie(Headers(scope=scope), name)
        known = SECRET.match(secret) is not None
        if not known:
            secret = new_secret()
        scope.setdefault("state", {})["visitor"] = Visitor(ident_of(secret), Role.OPERATOR)
        if not known and gives_cookie(scope):
            send = with_cookie(send, name, secret, secure=is_secure(scope))
        await self._app(scope, receive, send)


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


def read_cookie(headers: Headers, name: str) -> str:
    """The value of a cookie; empty: none came."""
    try:
        cookies: SimpleCookie = SimpleCookie("; ".join(headers.getlist("cookie")))
    except CookieError:
        return ""
    return cookies[name].value if name in cookies else ""


def gives_cookie(scope: Scope) -> bool:
    """Whether an answer may name a browser that sent no cookie.

    Only the page itself and its socket do: files and calls that a new page asks for at once
    would each give another name. A link on a foreign page opens this one without its
    SameSite=Strict cookie, which must not be replaced; the page's socket then has it.
    """
    if scope["type"] == "websocket":
        return True
    foreign = Headers(scope=scope).get("sec-fetch-site") == "cross-site"
    return scope["path"] in ("/", "/index.html") and not foreign


def is_secure(scope: Scope) -> bool:
    """Whether the browser speaks TLS (uvicorn believes a proxy on this machine)."""
    return scope.get("scheme") in ("https", "wss")


def with_cookie(send: Send, name: str, value: str, *, secure: bool) -> Send:
    """A sender that adds the cookie to the answer's head."""
    line = f"{name}={value}; Path=/; Max-Age={COOKIE_S}; HttpOnly; SameSite=Strict"
    line += "; Secure" if secure else ""

    async def wrapped(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.accept"):
            message.setdefault("headers", [])
            MutableHeaders(scope=message).append("set-cookie", line)
        await send(message)

    return wrapped
