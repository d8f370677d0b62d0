# SPDX-License-Identifier: GPL-2.0-or-later
"""Authenticates visitors by JupyterHub.

A page without a session is redirected to the hub, which authenticates the user and sends the
browser back with a code. The server exchanges the code for a token of that user, and puts the token
into a session cookie. The token is checked repeatedly (service.py), so logging out at the hub ends
the session here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from duet.api.identity import let_in
from duet.api.proxy import Front, requested_address
from duet.api.sessions import (
    IDENT_CHARACTERS,
    PAGES,
    cookie_line,
    cookie_name,
    from_elsewhere,
    named_cookie,
    read_cookie,
)
from duet.api.tokens import Refusal, reload_page, token_page
from duet.base.access import Grant, Person, Visitor
from duet.base.budgets import HUB_LOGIN_S, SESSION_S
from duet.base.errors import InputError
from duet.plugins.jupyterhub.service import (
    CALLBACK,
    Checks,
    HubGone,
    HubService,
    HubUser,
    ident_of_token,
)
from duet.server.doors import Foreign
from duet.stream.viewer import CLOSE_TOKEN

# There are two types of signed cookies: a session, which contains the hub's token, and a login in
# progress.
#
# The signing key is derived from the service's own token, as in jupyterhub's HubOAuth. So the
# server stores no key, and sessions survive a restart. A token that somebody pastes into a cookie
# is rejected, because it has no signature.

MOST_QUERY = 2000
"""Maximum length of the requested page's query, to which the browser returns after the login. A
longer query is dropped.
"""


@dataclass(frozen=True, slots=True)
class Login:
    """A login in progress. The browser has been redirected to the hub.

    Args:
        state: random text that the hub sends back.
        query: the query of the requested page.
    """

    state: str
    query: str


class Signer:
    """Signs cookies with a secret key."""

    def __init__(self, api_token: str) -> None:
        self._key = hashlib.sha256(f"duet hub cookies {api_token}".encode()).digest()

    def sign(self, kind: str, text: str) -> str:
        """Return a cookie's value, which consists of the text and its signature."""
        body = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        return f"{body}.{self._signature(kind, body)}"

    def read(self, kind: str, value: str) -> str | None:
        """Return the signed text. Return None if the signature is not ours, or if we signed the
        text for another kind of cookie."""
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
    """Start a login for a browser that requests a page."""
    query = scope["query_string"].decode("latin-1")
    return Login(secrets.token_urlsafe(24), query if len(query) <= MOST_QUERY else "")


def login_name(scope: Scope, state: str) -> str:
    """Return the cookie name of one login. Logins that overlap have different names."""
    return f"{cookie_name(scope)}-login-{state[:8]}"


def login_line(scope: Scope, signer: Signer, login: Login) -> str:
    """Return the Set-Cookie header for a login.

    SameSite is Lax because the hub may send the browser to another site first.
    """
    value = signer.sign("login", f"{login.state} {login.query}")
    return _line(scope, login_name(scope, login.state), value, int(HUB_LOGIN_S))


def login_over(scope: Scope, state: str) -> str:
    """Return the Set-Cookie header that removes the login."""
    return _line(scope, login_name(scope, state), "", 0)


def read_login(scope: Scope, signer: Signer, state: str) -> Login | None:
    """Return the login that this browser started with that state, or None if there is none."""
    text = signer.read("login", named_cookie(scope, login_name(scope, state)))
    if text is None:
        return None
    began, _, query = text.partition(" ")
    return Login(began, query) if hmac.compare_digest(began.encode(), state.encode()) else None


def _line(scope: Scope, name: str, value: str, seconds: int) -> str:
    path = f"{requested_address(scope).root}/"
    line = f"{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax"
    return line + ("; Secure" if scope.get("scheme") in ("https", "wss") else "")


LOG_IN = "Open Kernel Duet again: JupyterHub asks who you are."
NEEDED = Refusal(
    401,
    "JupyterHub says who you are",
    "This browser has no session here, or you have logged out at the hub.",
    LOG_IN,
    "Your session is over. Open this page again: JupyterHub asks who you are.",
)
REFUSED = Refusal(
    403,
    "JupyterHub did not let you in",
    "The hub’s answer does not belong to a login that this browser started, or was used already.",
    LOG_IN,
    "JupyterHub did not let you in.",
)
GONE = Refusal(
    503,
    "JupyterHub does not answer",
    "The hub, which says who you are, gives no usable answer.",
    "Wait a moment, and open this page again.",
    "JupyterHub does not answer. Wait a moment, and open this page again.",
)
AGAIN = '<p><a href="./">Open Kernel Duet</a></p>'
SCHEMES = ("token ", "bearer ")
"""Schemes of the Authorization header in which scripts send a user's token for this service."""


class HubDoor:
    """Admits users of the hub (implements server.doors.Door)."""

    def __init__(self, service: HubService, checks: Checks | None = None) -> None:
        self._service = service
        self._signer = Signer(service.api_token)
        self._checks = checks or Checks(service)

    async def __call__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == CALLBACK:
            await (await self._come_back(scope))(scope, receive, send)
            return
        why = NEEDED
        try:
            token = self._token(scope)
            user = None if token is None else await self._checks.user(token)
            if token is not None and user is not None:
                await let_in(self._visitor(token, user), app, scope, receive, send)
                return
        except HubGone:
            why = GONE
        if scope["type"] == "websocket":
            socket = WebSocket(scope, receive, send)
            await socket.accept()  # a page can read the close code, but not why a handshake failed
            await socket.close(CLOSE_TOKEN, why.short)
            return
        page = scope["path"] in PAGES and scope["method"] in ("GET", "HEAD")
        answer = self._to_hub(scope) if page and why is NEEDED else refusal(scope, why)
        await answer(scope, receive, send)

    async def ended(self, visitors: Iterable[Visitor]) -> list[Visitor]:
        """Return the visitors whose tokens are no longer valid, or whose roles have changed."""
        gone = []
        for visitor in visitors:
            if visitor.grant is None:
                continue
            try:
                user = await self._checks.user_by_ident(visitor.grant.token)
            except HubGone:
                user = None
            if user is None or self._service.role_of(user) is not visitor.role:
                gone.append(visitor)
        return gone

    async def _come_back(self, scope: Scope) -> Response:
        """Start a session for a browser that returns from the hub with a code.

        Refuse the login if another browser started it.
        """
        query = parse_qs(scope["query_string"].decode("latin-1"))
        state, code = (query.get(name, [""])[0] for name in ("state", "code"))
        login = read_login(scope, self._signer, state)
        if login is None or not code:
            return refusal(scope, REFUSED)
        try:
            token = await run_in_threadpool(self._service.token_of, code)
            user = None if token is None else await self._checks.user(token)
        except HubGone:
            return refusal(scope, GONE)
        if token is None or user is None:
            return refusal(scope, REFUSED)
        answer = RedirectResponse(f"./{login.query and '?' + login.query}", 303)
        answer.headers["cache-control"] = "no-store"
        value = self._signer.sign("session", f"{token} {int(time.time() + SESSION_S)}")
        answer.headers.append("set-cookie", cookie_line(scope, value))
        answer.headers.append("set-cookie", login_over(scope, login.state))
        return answer

    def _to_hub(self, scope: Scope) -> Response:
        if from_elsewhere(scope):  # the browser did not send its cookie with this request
            answer: Response = HTMLResponse(reload_page())
        else:
            login = new_login(scope)
            answer = RedirectResponse(self._service.authorize_url(login.state), 302)
            answer.headers["set-cookie"] = login_line(scope, self._signer, login)
        answer.headers["cache-control"] = "no-store"
        return answer

    def _token(self, scope: Scope) -> str | None:
        given = Headers(scope=scope).get("authorization", "")
        for scheme in SCHEMES:
            if given[: len(scheme)].lower() == scheme:
                return given[len(scheme) :].strip()
        token, _, until = (self._signer.read("session", read_cookie(scope)) or "").partition(" ")
        return token if token and time.time() < int(until) else None

    def _visitor(self, token: str, user: HubUser) -> Visitor:
        """Return the visitor for a user.

        A user counts as the same visitor in all browsers, so saved runs and classes belong to the
        user.
        """
        key = hashlib.sha256(f"jupyterhub {user.name}".encode()).hexdigest()
        return Visitor(
            key[:IDENT_CHARACTERS],
            self._service.role_of(user),
            Grant(ident_of_token(token), time.time() + SESSION_S),
            Person(key, user.name),
        )


def refusal(scope: Scope, why: Refusal) -> Response:
    """Return an error as a page for people, or as JSON for scripts."""
    if scope["path"] in (*PAGES, CALLBACK):
        answer: Response = HTMLResponse(token_page(why, AGAIN), why.status)
    else:
        body = {"code": "token", "sentence": why.sentence, "remedy": why.remedy, "detail": ""}
        answer = JSONResponse({"error": body}, why.status)
    answer.headers["cache-control"] = "no-store"
    return answer


def admission(front: Front) -> tuple[HubDoor, Foreign]:
    """Return the door for the hub's users, and the callback route.

    The hub redirects browsers to the callback route, so requests from another site are allowed.

    Raises:
        InputError: a setting of the hub is missing.
    """
    service = HubService.read(os.environ)
    if front.public is None or front.public.path != service.prefix.rstrip("/"):
        raise InputError(
            f"--hub needs --public-url with the path {service.prefix}, "
            f"but got {front.public or 'none'}.",
            remedy=f"Add --public-url https://hub.example.org{service.prefix}",
        )
    return HubDoor(service), Foreign(frozenset({("GET", CALLBACK)}))
