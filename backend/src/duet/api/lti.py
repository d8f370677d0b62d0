# SPDX-License-Identifier: GPL-2.0-or-later
"""Routes of LTI 1.3: login, launch, our key set, members of a teacher's course.

Login and launch take what a platform's pages send, without a session and from a foreign origin
(api/guard.py: Foreign). What guards them is the platform's signature over a nonce that this server
gave to this very browser, and that counts once.
"""

from __future__ import annotations

import logging
import time
from typing import Final
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from duet.api.guard import Foreign
from duet.api.lti_pages import choice_page, entry_page, refusal_page, window_page
from duet.api.lti_requests import LAUNCH, launch_url, state_cookie, state_name, values_of
from duet.api.sessions import Sessions, cookie_line, named_cookie, new_secret
from duet.base.errors import DuetError, InputError
from duet.labs import files as lab_files
from duet.lessons import load as lesson_cache
from duet.lti.claims import CHOOSING, Launch
from duet.lti.items import Choice, answer, settings_of
from duet.lti.limits import LOGIN_S
from duet.lti.refused import LaunchRefused
from duet.lti.service import Lti, Registered, refused_by_platform
from duet.stream.viewer import visitor_of

log = logging.getLogger("duet.lti")
LOGIN: Final = "/lti/login"
KEYS: Final = "/lti/jwks"
UNASKED: Final = frozenset({LOGIN, LAUNCH, KEYS})
CHOOSE: Final = "choose=1"
"""Query of the launch address under which platforms open the list of lessons: it may stay in its
frame, to which its answer belongs."""
KEYS_FRESH_S: Final = 300


def launches(registered: Registered | None) -> Foreign:
    """What pages of platforms may do."""
    if registered is None:
        return Foreign()
    routes = frozenset({("GET", LOGIN), ("POST", LOGIN), ("POST", LAUNCH)})
    return Foreign(routes, registered.frames)


def add_lti_routes(app: FastAPI, lti: Lti | None, sessions: Sessions | None) -> None:
    """The routes; without registered platforms each says so."""

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

    @app.get("/api/lti/members")
    async def members(request: Request) -> Response:
        found = await used(lti).members(visitor_of(request.scope).key)
        return JSONResponse(
            [{"person": key, "name": one.name, "role": one.role.word} for key, one in found]
        )


def used(lti: Lti | None) -> Lti:
    """LTI, if it is used here.

    Raises:
        InputError: it is not.
    """
    if lti is None:
        raise InputError(
            "this server knows no learning platform.",
            remedy="Start it with DUET_LTI (docs/LTI.md).",
        )
    return lti


def begin(request: Request, lti: Lti, values: dict[str, str]) -> Response:
    """The answer to a login: on to the platform, or first out of its frame."""
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
    """The answer to a launch: a session and the page, or the list of lessons and labs."""
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
    """The page on which a teacher chooses; only for teachers.

    Raises:
        LaunchRefused: somebody else, or a platform that takes no link.
    """
    if launch.role.word != "instructor":
        raise LaunchRefused("only teachers of the course choose what an activity opens.")
    keys, given = lti.registered.keys.load(), settings_of(launch)
    lessons = [
        Choice(f.lesson.title, f.lesson.question, {"lesson": f.slug}) for f in lesson_cache.usable()
    ]
    offered = [*lti.labs(), *lessons]
    return choice_page(
        given.deep_link_return_url, [(one, answer(launch, keys, one, address)) for one in offered]
    )


def lab_choices() -> list[Choice]:
    """All labs; each has a column in the grade book. Blocking: it may read lessons."""
    return [
        Choice(file.lab.title, file.lab.intro, {"lab": file.slug}, file.lab.most)
        for file in lab_files.usable()
    ]


def refused(error: DuetError) -> Response:
    """The page that says why; the log says it, too, without the message itself."""
    log.info("refused: %s %s", error.sentence, error.detail[:500])
    status = 401 if isinstance(error, LaunchRefused) else 404
    status = status if isinstance(error, InputError) else 503
    return HTMLResponse(refusal_page(error), status, headers={"cache-control": "no-store"})
