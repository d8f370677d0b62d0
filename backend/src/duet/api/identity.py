# SPDX-License-Identifier: GPL-2.0-or-later
"""Authentication: puts a Visitor into the scope of each request or socket, or refuses the visit.

A cookie names a browser. The server uses only a hash of the cookie, so nothing that the server
stores or shows to others can be used as a cookie. Without tokens, every visitor is the operator.
With tokens, a browser's first visit is to `/?token=...`. The server sets the cookie and redirects
to the same address without the token, so that the token appears neither in the browser's history
nor in Referer headers. A learning platform's login and launch need no session, because a launch
starts one.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote_plus

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from duet.api.class_codes import CodeTurns
from duet.api.sessions import (
    PAGES,
    SECRET,
    Sessions,
    cookie_line,
    from_elsewhere,
    ident_of,
    may_name_browser,
    new_secret,
    read_cookie,
    with_cookie,
)
from duet.api.tokens import NEEDED, NO_CLASS, TOO_MANY, WRONG, Refusal, reload_page, token_page
from duet.base.access import Role, Visitor
from duet.base.budgets import CODE_WAIT_S
from duet.server.doors import Codes, Door
from duet.stream.viewer import CLOSE_TOKEN

BEARER = "bearer "


ClassOf = Callable[[str], str | None]
"""Returns the id of the open class that has the given code."""


class AnyoneIn:
    """For loopback without tokens: every visitor is the operator, and each browser has a name."""

    async def __call__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        # A browser may have a signed cookie from a time when tokens were required. It then keeps
        # its name.
        secret = read_cookie(scope).partition(".")[0]
        if SECRET.match(secret) is None:
            secret = new_secret()
            if may_name_browser(scope):
                send = with_cookie(send, cookie_line(scope, secret))
        await let_in(Visitor(ident_of(secret), Role.OPERATOR), app, scope, receive, send)

    async def ended(self, visitors: Iterable[Visitor]) -> list[Visitor]:
        return []


@dataclass(slots=True)
class TokensOnly:
    """Each visitor needs a token or a class code once. After that, the cookie is enough.

    Args:
        unasked: paths that need no token.
        class_of: returns the id of the open class that has the given code.
    """

    sessions: Sessions
    unasked: frozenset[str] = frozenset()
    turns: CodeTurns = field(default_factory=CodeTurns)
    class_of: ClassOf = field(default=lambda _: None)

    async def __call__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] in self.unasked:
            await let_in(Visitor(ident_of(new_secret()), Role.VIEWER), app, scope, receive, send)
            return
        token, rest = split_token(scope)
        if token is not None and scope["type"] == "http" and scope["path"] in PAGES:
            await self._first_visit(token, rest, scope)(scope, receive, send)
            return
        visitor, why = self._visitor(scope)
        code = class_code(scope)
        if visitor is not None:
            await let_in(visitor, app, scope, receive, send)
        elif code is not None and not from_elsewhere(scope):
            await (await self._to_class(code, scope))(scope, receive, send)
        elif scope["type"] == "websocket":
            socket = WebSocket(scope, receive, send)
            await socket.accept()  # a page can read the close code, but not why a handshake failed
            await socket.close(CLOSE_TOKEN, why.short)
        else:
            await refusal(scope, why)(scope, receive, send)

    def join_by_code(self, going: Codes) -> None:
        """Let in browsers that have the code of an open class, until the class ends."""
        self.class_of = going.by_code
        self.sessions.class_goes_on = going.goes_on

    async def ended(self, visitors: Iterable[Visitor]) -> list[Visitor]:
        return [visitor for visitor in visitors if not self.sessions.holds(visitor)]

    def _first_visit(self, token: str, rest: str, scope: Scope) -> Response:
        found = self.sessions.token(token)
        if found is None:
            return refusal(scope, WRONG)
        answer = RedirectResponse(f".{scope['path']}{rest and '?' + rest}", 303)
        answer.headers["cache-control"] = "no-store"
        value = self.sessions.begin(found, read_cookie(scope))
        answer.headers["set-cookie"] = cookie_line(scope, value)
        return answer

    async def _to_class(self, code: str, scope: Scope) -> Response:
        former = read_cookie(scope)
        browser = self.sessions.name_of(former)
        turn = self.turns.take(browser, _address(scope))
        if turn is None:
            return refusal(scope, TOO_MANY)
        await asyncio.sleep(turn.wait_s)
        class_id = self.class_of(code)
        if class_id is None:
            answer = refusal(scope, NO_CLASS)
            if not browser:
                answer.headers["set-cookie"] = cookie_line(scope, self.sessions.only_name())
            return answer
        self.turns.was_right(turn)
        query = scope["query_string"].decode("latin-1")
        answer = RedirectResponse(f".{scope['path']}?{query}", 303)
        answer.headers["cache-control"] = "no-store"
        value = self.sessions.begin_class(class_id, former)
        answer.headers["set-cookie"] = cookie_line(scope, value)
        return answer

    def _visitor(self, scope: Scope) -> tuple[Visitor | None, Refusal]:
        given = Headers(scope=scope).get("authorization", "")
        if given[: len(BEARER)].lower() != BEARER:
            return self.sessions.visitor(read_cookie(scope)), NEEDED
        found = self.sessions.token(given[len(BEARER) :].strip())
        if found is None:
            return None, WRONG
        return self.sessions.bearer(found), NEEDED


class Identity:
    """ASGI middleware after the Guard; the module docstring explains it.

    Args:
        door: authenticates visitors.
    """

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            await self._door(self._app, scope, receive, send)
        else:
            await self._app(scope, receive, send)


async def let_in(
    visitor: Visitor, app: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """Put the visitor into the scope and call the app."""
    scope.setdefault("state", {})["visitor"] = visitor
    await app(scope, receive, send)


def refusal(scope: Scope, why: Refusal) -> Response:
    """Send a response that says what the visitor needs for access. People get a page, and scripts
    get JSON.

    When a visitor follows a link on another site, the browser does not send the cookie with this
    request. So the first response is a page that reloads the same address, and the reload sends the
    cookie.
    """
    page = scope["path"] in PAGES
    # The time is random, so that not all students of a class retry at the same moment.
    again_s = round(CODE_WAIT_S * (0.5 + random.random())) if why is TOO_MANY else None
    if page and why is NEEDED and from_elsewhere(scope):
        answer: Response = HTMLResponse(reload_page(), 200)
    elif page:
        answer = HTMLResponse(token_page(why, again_s=again_s), why.status)
    else:
        body = {"code": "token", "sentence": why.sentence, "remedy": why.remedy, "detail": ""}
        answer = JSONResponse({"error": body}, why.status)
    answer.headers["cache-control"] = "no-store"
    if why.status == 401:
        answer.headers["www-authenticate"] = "Bearer"
    if again_s is not None:
        answer.headers["retry-after"] = str(again_s)
    return answer


def class_code(scope: Scope) -> str | None:
    """Return the class code in the page's address."""
    if scope["type"] != "http" or scope["path"] not in PAGES:
        return None
    codes = parse_qs(scope["query_string"].decode("latin-1")).get("class")
    return codes[0] if codes else None


def split_token(scope: Scope) -> tuple[str | None, str]:
    """Return the query's first `token`, and the rest of the query, byte for byte."""
    parts = scope["query_string"].decode("latin-1").split("&")
    tokens = [part for part in parts if part.partition("=")[0] == "token"]
    rest = "&".join(part for part in parts if part not in tokens)
    return (unquote_plus(tokens[0].partition("=")[2]) if tokens else None), rest


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""
