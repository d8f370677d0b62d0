# SPDX-License-Identifier: GPL-2.0-or-later
"""Which action each command of a browser and each HTTP route is.

Whose run it is decides more: the director about live runs, the route about deleting.
"""

from __future__ import annotations

from typing import Final

from starlette.requests import HTTPConnection

from duet.access import Action, Visitor
from duet.stream import messages as m
from duet.stream.endpoint import visitor_of

ACTIONS: Final[dict[type[m.Command], Action]] = {
    m.Open: Action.WATCH,
    m.Start: Action.RUN,
    m.Again: Action.RUN,
    m.Stop: Action.RUN,
    m.Do: Action.RUN,
    m.Hold: Action.RUN,
    m.TakeControl: Action.RUN,
    m.Measure: Action.MEASURE,
}


def action_of(command: m.Command) -> Action:
    """What a visitor must be allowed to, to send this command."""
    return ACTIONS[type(command)]


def denied(visitor: Visitor) -> dict[m.ActionName, str]:
    """What a visitor may not do, each with the reason, for the page."""
    names: dict[m.ActionName, Action] = {
        "watch": Action.WATCH,
        "run": Action.RUN,
        "control_others": Action.CONTROL_OTHERS,
        "measure": Action.MEASURE,
        "delete_others": Action.DELETE_OTHERS,
    }
    return {
        name: visitor.refusal(action).sentence
        for name, action in names.items()
        if not visitor.may(action)
    }


ROUTES: Final[dict[str, Action]] = {
    "/ws": Action.WATCH,
    "/still.png": Action.WATCH,
    "/api/health": Action.WATCH,
    "/api/lessons": Action.WATCH,
    "/api/lessons/{slug}": Action.WATCH,
    "/api/runs/{run_id}/lanes/{arm}/events": Action.WATCH,
    "/api/runs/{run_id}/bundle": Action.WATCH,
    "/api/kept": Action.WATCH,
    "/api/kept/{name}": Action.RUN,
    "/api/compare": Action.WATCH,
}
"""The least that each route needs. One that is not here answers nobody."""


def may_call(connection: HTTPConnection) -> None:
    """A dependency of every route.

    Raises:
        InputError: with code `forbidden`: the visitor's role does not allow it.
    """
    visitor_of(connection.scope).require(ROUTES[connection.scope["route"].path])
