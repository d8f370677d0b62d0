# SPDX-License-Identifier: GPL-2.0-or-later
"""Which action each HTTP route is; whose run it is decides more, when one is deleted."""

from __future__ import annotations

from typing import Final

from starlette.requests import HTTPConnection

from duet.access import Action
from duet.stream.endpoint import visitor_of

ROUTES: Final[dict[str, Action]] = {
    "/ws": Action.WATCH,
    "/still.png": Action.WATCH,
    "/api/health": Action.WATCH,
    "/api/lessons": Action.WATCH,
    "/api/lessons/{slug}": Action.WATCH,
    "/api/words/{language}": Action.WATCH,
    "/api/lessons/{slug}/arms/{arm}/source": Action.WATCH,
    "/api/runs/{run_id}/lanes/{arm}/events": Action.WATCH,
    "/api/runs/{run_id}/bundle": Action.WATCH,
    "/api/runs/{run_id}/segments": Action.WATCH,
    "/segments/{run_id}/{name}": Action.WATCH,
    "/api/kept": Action.WATCH,
    "/api/kept/{name}": Action.RUN,
    "/api/compare": Action.WATCH,
    "/api/classes": Action.WATCH,
    "/api/classes/{class_id}": Action.WATCH,
    "/api/classes/{class_id}/report": Action.WATCH,
    "/api/classes/{class_id}/report.csv": Action.WATCH,
    "/api/labs": Action.WATCH,
    "/api/labs/{lab}": Action.WATCH,
    "/api/labs/{lab}/mine": Action.WATCH,
    "/api/labs/{lab}/attempts": Action.ANSWER,
    "/api/labs/{lab}/scores": Action.TEACH,
    "/api/labs/{lab}/scores.csv": Action.TEACH,
    "/api/labs/{lab}/answers": Action.TEACH,
    "/api/labs/{lab}/grades": Action.TEACH,
    "/api/labs/{lab}/regrade": Action.TEACH,
    "/api/people/me": Action.WATCH,
    "/lti/login": Action.WATCH,
    "/lti/launch": Action.WATCH,
    "/lti/jwks": Action.WATCH,
    "/api/lti/members": Action.TEACH,
    "/metrics": Action.OPERATE,
}
"""The least that each route needs. One that is not here answers nobody."""


def may_call(connection: HTTPConnection) -> None:
    """A dependency of every route.

    Raises:
        InputError: with code `forbidden`: the visitor's role does not allow it.
    """
    visitor_of(connection.scope).require(ROUTES[connection.scope["route"].path])
