# SPDX-License-Identifier: GPL-2.0-or-later
"""Guard against DNS rebinding and against requests from foreign pages.

The server controls its user's machine, and any page in the user's browser can reach a loopback
port. So the Host header must contain a known name. A WebSocket, or a request that changes
something, must come from a page of this server. There is no CORS. Only the routes in `Foreign`
accept requests from a learning platform's pages. These requests are signed.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from duet.api.proxy import RequestedAddress, requested_address
from duet.server.doors import Foreign

# Requests from other sites' pages are recognized by the Sec-Fetch-Site header, and refused.
#
# Pages on other sites cannot read the responses, but their requests would cause work for the
# server. Other sites may only link to this server's page or show that page in a frame. Clients
# other than browsers do not send Sec-Fetch-Site.

OWN = frozenset({"same-origin", "none"})
PAGES = frozenset({"/", "/index.html"})


def refused(method: str, path: str, headers: Headers) -> str | None:
    """Return why a request is refused, or None if it is allowed.

    Args:
        method: the HTTP method.
        path: the path without the query.
    """
    site = headers.get("sec-fetch-site")
    if site is None or site in OWN:
        return None
    to_page = path in PAGES and method in ("GET", "HEAD")
    if to_page and headers.get("sec-fetch-mode", "navigate") == "navigate":
        return None
    return f"a page of another site requested {path:.60}, but only this server's pages may."


LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
POLICY = (
    b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    b"worker-src 'self' blob:; font-src 'self' data:; base-uri 'none'; frame-ancestors "
)
FRAMED_BY = {False: b"'none'", True: b"* file:"}
"""Slides may frame the bare page, which cannot act on a guest; nothing else may be framed."""
PAGE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def answered_names(bound_to: str, more: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the names that the server accepts when it listens on `bound_to`."""
    names = set(LOOPBACK_NAMES) | {name.lower() for name in more}
    if not is_loopback(bound_to):
        names |= {bound_to.lower(), socket.gethostname().lower()}
    return frozenset(names)


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached only from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_name(netloc: str) -> str:
    """Return the host in `host[:port]` in lower case, without brackets, or "" if there is none."""
    try:
        return (urlsplit(f"//{netloc}").hostname or "").lower()
    except ValueError:
        return ""


def framed_by(foreign: Foreign, scope: Scope) -> bytes:
    """Return which origins may frame the response."""
    if foreign.frames and foreign.may(scope):
        return " ".join(foreign.frames).encode()
    return FRAMED_BY[_is_embed(scope)]


class Guard:
    """ASGI middleware; the module docstring explains it.

    Args:
        names: the accepted names, from answered_names().
        foreign: what pages on other sites may do.
        any_address: also accept IP addresses as Host, for a server that is deliberately open to the
            network. This is safe, because DNS rebinding needs a name.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: frozenset[str],
        any_address: bool = False,
        foreign: Foreign | None = None,
    ) -> None:
        self._app = app
        self._foreign = foreign or Foreign()
        self._names = names
        self._any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        foreign = self._foreign.may(scope)
        acts = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        wrong = self._why_not(acts and not foreign, headers, requested_address(scope))
        if wrong is None and scope["type"] == "http" and not foreign:
            wrong = refused(scope["method"], scope["path"], headers)
        if wrong is None:
            await self._app(scope, receive, _with_headers(send, framed_by(self._foreign, scope)))
        elif scope["type"] == "http":
            answer = JSONResponse(
                {"error": {"code": "host", "sentence": wrong, "remedy": REMEDY, "detail": ""}}, 403
            )
            await answer(scope, receive, send)
        else:
            await WebSocket(scope, receive, send).close(1008, "foreign host or origin")

    def _why_not(self, acts: bool, headers: Headers, asked: RequestedAddress) -> str | None:
        for name in (host_name(headers.get("host", "")), host_name(asked.host)):
            if not (name in self._names or (self._any_address and _is_address(name))):
                return f"this server does not answer to the name '{name:.80}'."
        origin = headers.get("origin")
        if acts and origin is not None and not asked.same_origin(origin):
            return f"a page from '{origin:.80}' may not use this server's socket or change it."
        return None


REMEDY = (
    "Open the address that ./duet serve printed, or add the name with --allow-host; "
    "behind a proxy give --public-url (docs/PROXIES.md)."
)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_embed(scope: Scope) -> bool:
    """Return whether the request is for the page that slides embed."""
    if scope["type"] != "http" or scope["path"] not in ("/", "/index.html"):
        return False
    return parse_qs(scope["query_string"].decode("latin-1")).get("embed") == ["1"]


def _with_headers(send: Send, framed_by: bytes) -> Send:
    policy = (b"content-security-policy", POLICY + framed_by)

    async def wrapped(message: dict[str, object]) -> None:
        if message["type"] == "http.response.start":
            headers = message.get("headers")
            known = headers if isinstance(headers, list) else []
            message["headers"] = [*known, policy, *PAGE_HEADERS]
        await send(message)

    return wrapped  # type: ignore[return-value]
