# SPDX-License-Identifier: GPL-2.0-or-later
"""The server behind a proxy: its public address, its sub-path, and which proxies are trusted.

A proxy adds the headers X-Forwarded-For, -Proto and -Host, which describe the browser's request.
Anybody can send these headers. So the server uses only headers that come from a configured proxy or
from this machine. uvicorn's own middleware reads the first two headers. The server also checks the
header Host (api/guard.py), because a page whose name was rebound to loopback can send any
X-Forwarded-Host, but cannot change Host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from duet.base.errors import InputError

LOCAL = ("127.0.0.1", "::1")
PORTS = {"http": 80, "https": 443}
SUB_PATH = re.compile(r"^(/[A-Za-z0-9._~@+-]+)*$")


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """The address that browsers open.

    Args:
        netloc: host, with the port if it is not the scheme's default.
        path: the page's path, without the trailing slash; "" is the root.
    """

    scheme: str
    netloc: str
    path: str

    @property
    def name(self) -> str:
        """The host without the port."""
        return urlsplit(f"//{self.netloc}").hostname or ""

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.path}/"

    @classmethod
    def parse(cls, text: str) -> PublicUrl:
        """Parse the public address that an operator wrote.

        Raises:
            InputError: the text is not the address of a page.
        """
        try:
            parts = urlsplit(text)
            usable = parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable or "@" in parts.netloc or parts.query or parts.fragment:
            raise InputError(
                f"{text!r:.100} is not the address of a page.",
                remedy="Write the address that browsers open, e.g. https://lab.example.org/duet/",
            )
        path = parts.path.rstrip("/")
        if SUB_PATH.match(path) is None:
            raise InputError(
                f"the path of {text!r:.100} has empty parts, or characters that need an escape.",
                remedy="Use letters, digits and - . _ ~ @ + between slashes.",
            )
        return cls(parts.scheme, parts.netloc.lower(), path)


@dataclass(frozen=True, slots=True)
class Proxies:
    """Addresses of proxies, and networks that contain only proxies.

    Args:
        given: the text that an operator wrote.
    """

    given: tuple[str, ...] = ()

    @classmethod
    def parse(cls, texts: tuple[str, ...]) -> Proxies:
        """Parse the list of proxies that an operator wrote.

        Raises:
            InputError: an entry is neither an address nor a network.
        """
        for text in texts:
            try:
                ip_network(text)
            except ValueError:
                raise InputError(
                    f"{text!r:.60} is not the address of a proxy.",
                    remedy="Write an address or a network, e.g. 10.0.0.5 or 172.18.0.0/16.",
                ) from None
        return cls(texts)

    def __contains__(self, address: object) -> bool:
        try:
            found = ip_address(str(address))
        except ValueError:
            return False
        return any(found in ip_network(text) for text in self.given)


@dataclass(frozen=True, slots=True)
class Front:
    """The proxies in front of the server, and its public address.

    Args:
        public: the public address. If None, browsers open the address on which the server listens.
        proxies: their X-Forwarded-* headers are trusted. Headers from this machine are always
            trusted.
    """

    public: PublicUrl | None = None
    proxies: Proxies = field(default_factory=Proxies)

    @property
    def names(self) -> tuple[str, ...]:
        """Host names that the server accepts because of the public address."""
        return () if self.public is None else (self.public.name,)


class ProxyMiddleware:
    """The outermost ASGI middleware: sets `RequestedAddress`, and strips the sub-path.

    It works with proxies that keep the sub-path, and with proxies that strip it.
    """

    def __init__(self, app: ASGIApp, front: Front) -> None:
        self._public = front.public
        trusted = [*LOCAL, *front.proxies.given]
        self._forwarded = ProxyHeadersMiddleware(app, trusted)  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            root = "" if self._public is None else self._public.path
            path: str = scope["path"]
            if root and path == root and scope["type"] == "http":
                query = scope["query_string"].decode("latin-1")
                await RedirectResponse(f"{root}/{query and '?' + query}", 307)(scope, receive, send)
                return
            below = bool(root) and path.startswith(f"{root}/")
            if below:
                raw = scope["raw_path"].removeprefix(root.encode())
                scope = {**scope, "path": path[len(root) :], "raw_path": raw}
            scope.setdefault("state", {})["asked_address"] = self._asked(scope, below)
        await self._forwarded(scope, receive, send)  # type: ignore[arg-type]

    def _asked(self, scope: Scope, below: bool) -> RequestedAddress:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        client = scope.get("client")
        if client and client[0] in self._forwarded.trusted_hosts:
            host = headers.get("x-forwarded-host", host).partition(",")[0].strip()
        public = self._public
        here = public is not None and same_place(public.scheme, public.netloc, host)
        return RequestedAddress(
            host, public.path if public is not None and (here or below) else "", public
        )


@dataclass(frozen=True, slots=True)
class RequestedAddress:
    """The address that the browser requested.

    Args:
        host: name and port, as the browser sees them.
        root: where the page's cookie is valid; "" at the root.
    """

    host: str
    root: str = ""
    public: PublicUrl | None = None

    def same_origin(self, origin: str) -> bool:
        """Return whether this origin is the server's own origin."""
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        places = [self.host]
        if self.public is not None and self.public.scheme == parts.scheme:
            places.append(self.public.netloc)
        return any(same_place(parts.scheme, parts.netloc, place) for place in places)


def requested_address(scope: Scope) -> RequestedAddress:
    """Return the address that `ProxyMiddleware` found.

    Without that middleware, return the request's Host.
    """
    state = scope.get("state", {})
    found = state.get("asked_address")
    return (
        found
        if isinstance(found, RequestedAddress)
        else RequestedAddress(Headers(scope=scope).get("host", ""))
    )


def same_place(scheme: str, one: str, other: str) -> bool:
    """Return whether two texts `host[:port]` name the same host and port.

    The default port of `scheme` may be left out.
    """
    places = []
    for netloc in (one, other):
        try:
            parts = urlsplit(f"//{netloc}")
            places.append((parts.hostname, parts.port or PORTS.get(scheme)))
        except ValueError:
            return False
    return places[0] == places[1] and bool(places[0][0])
