# SPDX-License-Identifier: GPL-2.0-or-later
"""LTI 1.3 routes for logins, launches, our key set, and the members of a teacher's course.

The routes for login and launch accept requests from a platform's pages, without a session and from
a foreign origin (api/guard.py: Foreign). The platform's signature over a nonce protects these
requests. This server issued the nonce to this browser, and a nonce is valid only once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from duet.api.proxy import requested_address
from duet.api.sessions import Sessions, cookie_line, cookie_name, named_cookie, new_secret
from duet.api.tokens import PAGE
from duet.base.access import Action
from duet.base.errors import DuetError, InputError
from duet.lessons import load as lesson_cache
from duet.plugins.labs import files as lab_files
from duet.plugins.lti.limits import FORM_BYTES, LOGIN_S
from duet.plugins.lti.login import Choice, answer, settings_of
from duet.plugins.lti.messages import CHOOSING, Launch
from duet.plugins.lti.platforms import Registered
from duet.plugins.lti.refused import LaunchRefused, refused_by_platform
from duet.server.doors import Foreign
from duet.stream.viewer import visitor_of

if TYPE_CHECKING:
    from duet.plugins.lti.service import Lti

# Reads input from a user's browser: parameters, the requested address, and the login cookie.

LAUNCH: Final = "/lti/launch"


def launch_url(request: Request) -> str:
    """Return the redirect URI that is registered at platforms."""
    asked = requested_address(request.scope)
    if asked.public is not None:
        return f"{str(asked.public).rstrip('/')}{LAUNCH}"
    return f"{request.scope['scheme']}://{asked.host}{LAUNCH}"


def state_name(scope: Any, nonce: str) -> str:
    """Return the cookie name of one login. Each login has its own cookie, because logins may
    overlap."""
    return f"{cookie_name(scope)}-lti-{nonce[:12]}"


def state_cookie(scope: Any, nonce: str, value: str, seconds: int) -> str:
    """Return the Set-Cookie header of a login. A lifetime of 0 s removes the cookie.

    The launch is a POST from the platform's page. With TLS, the cookie's attributes let browsers
    send the cookie with this POST. In a frame, browsers also partition the cookie by the
    surrounding page. Without TLS, browsers reject these attributes, and only Chromium sends the
    cookie. Chromium sends a new cookie without SameSite for two minutes.
    """
    line = f"{state_name(scope, nonce)}={value}; Path={requested_address(scope).root}/lti/; "
    line += f"Max-Age={seconds}; HttpOnly"
    secure = scope.get("scheme") in ("https", "wss")
    return line + ("; Secure; SameSite=None; Partitioned" if secure else "")


async def values_of(request: Request) -> dict[str, str]:
    """Return the parameters of the query, or of a POSTed form.

    Raises:
        LaunchRefused: the body is too large or is not a form.
    """
    text = request.scope["query_string"].decode("latin-1")
    if request.method == "POST":
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > FORM_BYTES:
                raise LaunchRefused(f"the form has more than {FORM_BYTES} bytes.")
        text = body.decode("latin-1")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise LaunchRefused("the request is not a form.") from error
    return dict(pairs)


# Makes the pages of LTI. They are plain HTML, because the content security policy allows no scripts
# here.

BUTTON = '<button style="font: inherit; padding: .35em 1em; cursor: pointer">{text}</button>'


def refusal_page(error: DuetError) -> str:
    """Return a page that says why a launch is refused."""
    sentence = error.sentence[:1].upper() + error.sentence[1:]
    body = f"<p>{escape(sentence)}</p>\n<p><b>{escape(error.remedy)}</b></p>"
    return PAGE.format(head="", title="This launch is refused", body=body)


def window_page(values: Mapping[str, str]) -> str:
    """Return a page that opens a window, because browsers withhold cookies in cross-site frames."""
    words = "<p>Kernel Duet opens in a window of its own.</p>"
    form = _form("", values, "Open Kernel Duet", 'target="_blank" rel="noopener"')
    return PAGE.format(head="", title="One step more", body=words + form)


def entry_page(place: Mapping[str, str]) -> str:
    """Return a page that opens the lesson automatically.

    A redirect would continue the platform's cross-site request, so the browser would withhold the
    new SameSite=Strict cookie. The page that this function returns makes a new request, and the
    browser sends the cookie with this request.
    """
    address = escape(f"../?{urlencode(place)}" if place else "../")
    head = f'<meta http-equiv="refresh" content="0; url={address}">\n'
    body = f'<p><a href="{address}">Go on</a></p>'
    return PAGE.format(head=head, title="One moment", body=body)


def choice_page(return_url: str, choices: Iterable[tuple[Choice, str]]) -> str:
    """Return a page with the list of lessons and labs. Each button sends a signed answer to the
    platform."""
    parts = ["<p>What shall the activity in your course open?</p>"]
    for choice, jwt in choices:
        points = "" if choice.most is None else f" · {choice.most:g} points"
        parts.append(f"<h2>{escape(choice.title)}</h2>\n<p>{escape(choice.about)}{points}</p>")
        parts.append(_form(return_url, {"JWT": jwt}, "Choose", ""))
    return PAGE.format(head="", title="Lessons and labs", body="\n".join(parts))


def _form(action: str, values: Mapping[str, str], button: str, more: str) -> str:
    fields = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in values.items()
    )
    text = BUTTON.format(text=escape(button))
    return f'<form method="post" action="{escape(action)}" {more}>{fields}{text}</form>'


log = logging.getLogger("duet.plugins.lti")
LOGIN: Final = "/lti/login"
KEYS: Final = "/lti/jwks"
UNASKED: Final = frozenset({LOGIN, LAUNCH, KEYS})
MEMBERS: Final = "/api/lti/members"
ACTIONS: Final[Mapping[str, Action]] = dict.fromkeys(UNASKED, Action.WATCH) | {
    MEMBERS: Action.TEACH
}
CHOOSE: Final = "choose=1"
"""Query that makes the launch address return the list of lessons. The list may stay in the
platform's frame, because the teacher's choice is sent from there to the platform.
"""
KEYS_FRESH_S: Final = 300


def launches(registered: Registered | None) -> Foreign:
    """Return the routes that platforms' pages may request, and the origins that may frame these
    routes."""
    if registered is None:
        return Foreign()
    routes = frozenset({("GET", LOGIN), ("POST", LOGIN), ("POST", LAUNCH)})
    return Foreign(routes, registered.frames)


def add_lti_routes(app: FastAPI, lti: Lti | None, sessions: Sessions | None) -> None:
    """Add the routes. If no platform is registered, each route returns an error."""

    @app.api_route(LOGIN, methods=["GET", "POST"], response_model=None)
    async def login(request: Request) -> Response:
        try:
            return await run_in_threadpool(begin, request, used(lti), await values_of(request))
        except DuetError as error:
            return refused(error)

    @app.post(LAUNCH, response_model=None)
    async def launch(request: Request) -> Response:
        try:
            assert sessions is not None or lti is None
            return await arrive(request, used(lti), sessions, await values_of(request))
        except DuetError as error:
            return refused(error)

    @app.get(KEYS)
    def keys() -> Response:
        key_set = used(lti).registered.keys.load().key_set(time.time())
        return JSONResponse(key_set, headers={"cache-control": f"max-age={KEYS_FRESH_S}"})

    @app.get(MEMBERS)
    async def members(request: Request) -> Response:
        found = await used(lti).members(visitor_of(request.scope).key)
        return JSONResponse(
            [{"person": key, "name": one.name, "role": one.role.word} for key, one in found]
        )


def used(lti: Lti | None) -> Lti:
    """Return `lti` unless it is None.

    Raises:
        InputError: this server does not use LTI.
    """
    if lti is None:
        raise InputError(
            "no learning platform is registered on this server.",
            remedy="Start the server with DUET_LTI (docs/LTI.md).",
        )
    return lti


def begin(request: Request, lti: Lti, values: dict[str, str]) -> Response:
    """Answer a login with a redirect to the platform. In a frame, the answer first opens a
    window."""
    scope = request.scope
    in_frame = request.headers.get("sec-fetch-dest") in ("iframe", "frame")
    if in_frame and urlsplit(values.get("target_link_uri", "")).query != CHOOSE:
        return HTMLResponse(window_page(values), headers={"cache-control": "no-store"})
    browser = new_secret()
    address, nonce = lti.login(values, launch_url(request), browser)
    found = RedirectResponse(address, 302, headers={"cache-control": "no-store"})
    found.headers["set-cookie"] = state_cookie(scope, nonce, browser, int(LOGIN_S))
    return found


async def arrive(
    request: Request, lti: Lti, sessions: Sessions | None, values: dict[str, str]
) -> Response:
    """Answer a launch with a session and the page, or with the list of lessons and labs."""
    theirs = refused_by_platform(values)
    if theirs is not None:
        raise theirs
    scope = request.scope
    launch = await lti.launch(values, lambda nonce: named_cookie(scope, state_name(scope, nonce)))
    if launch.claims.kind == CHOOSING:
        made = await run_in_threadpool(choices, lti, launch, launch_url(request))
        found = HTMLResponse(made)
    else:
        assert sessions is not None
        await lti.arrived(launch)
        value = sessions.begin_person(launch.platform.grant, launch.person, launch.role)
        found = HTMLResponse(entry_page(launch.place))
        found.headers.append("set-cookie", cookie_line(scope, value))
    found.headers["cache-control"] = "no-store"
    found.headers.append("set-cookie", state_cookie(scope, launch.claims.nonce, "", 0))
    return found


def choices(lti: Lti, launch: Launch, address: str) -> str:
    """Return the page on which a teacher chooses what an activity opens.

    Raises:
        LaunchRefused: the user is not a teacher, or the platform accepts no link.
    """
    if launch.role.word != "instructor":
        raise LaunchRefused("only teachers of the course may choose what an activity opens.")
    keys, given = lti.registered.keys.load(), settings_of(launch)
    lessons = [
        Choice(f.lesson.title, f.lesson.question, {"lesson": f.slug}) for f in lesson_cache.usable()
    ]
    offered = [*lti.labs(), *lessons]
    return choice_page(
        given.deep_link_return_url, [(one, answer(launch, keys, one, address)) for one in offered]
    )


def lab_choices() -> list[Choice]:
    """Return all labs as items with a column in the grade book. Blocking: this may read lessons."""
    return [
        Choice(file.lab.title, file.lab.intro, {"lab": file.slug}, file.lab.most)
        for file in lab_files.usable()
    ]


def refused(error: DuetError) -> Response:
    """Return a page with the reason for a refusal. Log the reason without the platform's
    message."""
    log.info("refused: %s %s", error.sentence, error.detail[:500])
    status = 401 if isinstance(error, LaunchRefused) else 404
    status = status if isinstance(error, InputError) else 503
    return HTMLResponse(refusal_page(error), status, headers={"cache-control": "no-store"})
