# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions: a signed cookie names the browser, the token it used, and the end of the session.

A learning platform can vouch for a person, who then needs no token. The cookie then also contains
the person and the role. The server stores no sessions, so sessions cannot use up the server's
memory. A session ends at the time in its cookie, or when its token is rotated or revoked. The
signature is HMAC-SHA256 (RFC 2104) with the key in the token file.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope, Send

from duet.api.proxy import requested_address
from duet.api.tokens import Access, AccessFile, Token
from duet.base.access import Grant, Person, Role, Visitor
from duet.base.budgets import CLASS_SESSION_S, PERSON_SESSION_S, SESSION_S
from duet.base.errors import DuetError

# The server's only cookie contains a random name for the browser. The cookie is signed if tokens
# are required.

COOKIE_S = 400 * 86400
"""Maximum age of a cookie that browsers allow. The session ends earlier, but the browser's name
stays, so the browser still owns its saved runs when it opens a link again.
"""
SECRET = re.compile(r"^[A-Za-z0-9_-]{22}$")
IDENT_CHARACTERS = 16
PAGES = ("/", "/index.html")


def cookie_name(scope: Scope) -> str:
    """Return a cookie name that contains the port.

    Cookies do not distinguish ports, and a host may run two servers.
    """
    server = scope.get("server")
    return f"duet-{server[1] if server else 0}"


def new_secret() -> str:
    """Return 128 random bits for a cookie."""
    return secrets.token_urlsafe(16)


def ident_of(secret: str) -> str:
    """Return the public name of the browser that has this cookie."""
    return hashlib.sha256(f"duet visitor {secret}".encode()).hexdigest()[:IDENT_CHARACTERS]


def read_cookie(scope: Scope) -> str:
    """Return the value of our cookie, or "" if the request has no such cookie."""
    return named_cookie(scope, cookie_name(scope))


def named_cookie(scope: Scope, name: str) -> str:
    """Return the value of a cookie, or "" if the request does not have it."""
    try:
        cookies: SimpleCookie = SimpleCookie("; ".join(Headers(scope=scope).getlist("cookie")))
    except CookieError:
        return ""
    return cookies[name].value if name in cookies else ""


def may_name_browser(scope: Scope) -> bool:
    """Return whether the response may give a name to a browser that sent no cookie.

    Only responses to the page itself and to its socket may set a new name. A new page requests
    several files in parallel, and otherwise each response would give the browser another name. A
    link on another site opens this page without its SameSite=Strict cookie. That cookie must not be
    replaced, because the page's socket sends it.
    """
    if scope["type"] == "websocket":
        return True
    return scope["path"] in PAGES and not from_elsewhere(scope)


def from_elsewhere(scope: Scope) -> bool:
    """Return whether the visitor came from another site. Then the browser has withheld its
    cookie."""
    return Headers(scope=scope).get("sec-fetch-site") == "cross-site"


def cookie_line(scope: Scope, value: str) -> str:
    """Return the Set-Cookie header for the page's own path.

    The cookie is Secure behind TLS (api/proxy.py).
    """
    path = f"{requested_address(scope).root}/"
    line = f"{cookie_name(scope)}={value}; Path={path}; Max-Age={COOKIE_S}; "
    line += "HttpOnly; SameSite=Strict"
    return line + ("; Secure" if scope.get("scheme") in ("https", "wss") else "")


def with_cookie(send: Send, line: str) -> Send:
    """Return a `send` that adds a cookie to the response's headers."""

    async def wrapped(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.accept"):
            message.setdefault("headers", [])
            MutableHeaders(scope=message).append("set-cookie", line)
        await send(message)

    return wrapped


log = logging.getLogger("duet.api")
CLASS = "class-"
"""Prefix of the grant for a browser that used a class code; the class id follows. No token's name
begins with it.
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """Content of a cookie with a valid signature. The session may have expired, or its token may be
    revoked.

    Args:
        person: the person and their role. If None, the browser used a token, which determines the
            role.
    """

    secret: str
    grant: Grant
    person: tuple[Person, Role] | None = None


class Sessions:
    """Creates and checks cookies.

    Args:
        clock: returns Unix time in seconds.
        vouching: valid names of the grants that learning platforms give.
    """

    def __init__(
        self,
        file: AccessFile,
        clock: Callable[[], float] = time.time,
        vouching: Collection[str] = (),
    ) -> None:
        self._file = file
        self._clock = clock
        self._vouching = frozenset(vouching)
        self._complained = ""
        self.class_goes_on: Callable[[str], bool] = lambda _: False
        """Tells whether the class with that id is open. Only then does its class code let browsers
        in.
        """

    def token(self, plain: str) -> Token | None:
        """Return the token with this text, if it is valid."""
        access = self._access()
        return None if access is None else access.token(plain)

    def begin(self, token: Token, former: str) -> str:
        """Return the cookie for a browser that used a token.

        Args:
            former: the cookie that the browser sent; if we signed it, the browser keeps its name.
        """
        access = self._file.load()
        return sign_new(access, former, Grant(token.ident, self._clock() + SESSION_S))

    def begin_class(self, class_id: str, former: str) -> str:
        """Return the cookie for a browser that used a class code.

        Args:
            former: see begin().
        """
        access = self._file.load()
        return sign_new(access, former, Grant(CLASS + class_id, self._clock() + CLASS_SESSION_S))

    def name_of(self, cookie: str) -> str:
        """Return the browser's name in a cookie, even after the session has ended. Return "" if we
        did not sign the cookie."""
        access = self._access()
        claim = None if access is None else read(access, cookie)
        return "" if claim is None else ident_of(claim.secret)

    def only_name(self) -> str:
        """Return a cookie for a refused browser, so that the server recognizes the browser next
        time."""
        return sign_new(self._file.load(), "", Grant("", 0))

    def begin_person(self, grant: str, person: Person, role: Role) -> str:
        """Return the cookie for a browser after a platform has vouched for the browser's user.

        The browser's name is derived from the person, because a platform's request carries no
        earlier cookie. So runs belong to the person, and the next person at this browser inherits
        nothing.

        Args:
            grant: the platform's name, which must be in `vouching`.
        """
        access = self._file.load()
        digest = hmac.new(access.key, f"person {person.key}".encode(), hashlib.sha256).digest()
        secret = base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")
        until_s = self._clock() + PERSON_SESSION_S
        return sign(access, Claim(secret, Grant(grant, until_s), (person, role)))

    def visitor(self, cookie: str) -> Visitor | None:
        """Return the visitor whom a cookie names. Return None if we did not sign the cookie, or if
        it has expired."""
        access = self._access()
        claim = None if access is None else read(access, cookie)
        if access is None or claim is None or not self._holds(access, claim.grant):
            return None
        if claim.person is not None:
            person, role = claim.person
            return Visitor(ident_of(claim.secret), role, claim.grant, person)
        token = access.by_ident(claim.grant.token)
        if token is None and not claim.grant.token.startswith(CLASS):
            return None  # the cookie names a platform, but no person
        role = Role.STUDENT if token is None else token.role
        return Visitor(ident_of(claim.secret), role, claim.grant)

    def bearer(self, token: Token) -> Visitor:
        """Return the visitor for a script that sends the token itself with each request."""
        grant = Grant(token.ident, self._clock() + SESSION_S)
        return Visitor(ident_of(token.ident), token.role, grant)

    def holds(self, visitor: Visitor) -> bool:
        """Return whether a visitor's session is still valid."""
        access = self._access()
        return access is not None and (visitor.grant is None or self._holds(access, visitor.grant))

    def _holds(self, access: Access, grant: Grant) -> bool:
        if self._clock() >= grant.until_s:
            return False
        if grant.token.startswith(CLASS):
            return self.class_goes_on(grant.token.removeprefix(CLASS))
        return grant.token in self._vouching or access.by_ident(grant.token) is not None

    def _access(self) -> Access | None:
        """Return the content of the token file.

        If the file is unusable, log the reason and return None. Then all visitors are refused.
        """
        try:
            access = self._file.load()
        except DuetError as error:
            if error.sentence != self._complained:
                log.error("nobody is let in: %s %s", error.sentence, error.remedy)
            self._complained = error.sentence
            return None
        self._complained = ""
        return access


def sign_new(access: Access, former: str, grant: Grant) -> str:
    """Return a signed cookie that contains a new grant.

    A browser that already has our cookie keeps its name.
    """
    claim = read(access, former)
    return sign(access, Claim(claim.secret if claim is not None else new_secret(), grant))


def sign(access: Access, claim: Claim) -> str:
    """Return a claim as the signed value of a cookie: `secret.token.until.signature`.

    A claim with a person becomes `secret.grant.until.role.key.name.signature`.
    """
    body = f"{claim.secret}.{claim.grant.token}.{int(claim.grant.until_s)}"
    if claim.person is not None:
        person, role = claim.person
        name = base64.urlsafe_b64encode(person.name.encode()).decode().rstrip("=")
        body += f".{role.word}.{person.key}.{name}"
    return f"{body}.{_signature(access, body)}"


def read(access: Access, cookie: str) -> Claim | None:
    """Return the claim in a cookie, or None if we did not sign the cookie."""
    body, _, signature = cookie.rpartition(".")
    if not hmac.compare_digest(_signature(access, body).encode(), signature.encode()):
        return None
    secret, token, until, *more = body.split(".")
    if not SECRET.match(secret):
        return None
    return Claim(secret, Grant(token, float(until)), _person(*more) if more else None)


def _person(role: str, key: str, name: str) -> tuple[Person, Role]:
    plain = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
    return Person(key, plain), Role[role.upper()]


def _signature(access: Access, body: str) -> str:
    return hmac.new(access.key, f"session {body}".encode(), hashlib.sha256).hexdigest()
