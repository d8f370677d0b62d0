# SPDX-License-Identifier: GPL-2.0-or-later
"""A student's score on its way to the platform, as tests of a course need it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from duet.api.sessions import Sessions
from duet.api.tokens import AccessFile
from duet.plugins.labs.grades import LabScore, TaskScore
from duet.plugins.lti import store as scores
from tests.plugins.lti.tool import Browser, Tool

LAB = "some-lab"
"""Of scores that a test reports by itself."""


def visitor(tool: Tool, browser: Browser) -> str:
    """`Visitor.key` of who sits at the browser, as the server's own session says."""
    file = AccessFile(tool.keys.path.with_name("access.json"))
    cookie = browser.session.cookies[f"duet-{tool.url.rpartition(':')[2]}"]
    found = Sessions(file, vouching=tool.lti.registered.grants).visitor(cookie)
    assert found is not None
    return found.key


def reported(person: str, *points: float | None, at_s: float | None = None) -> LabScore:
    """What a lab says of a person; None: a task that is open."""
    tasks = tuple(
        TaskScore(f"task-{n}", one or 0.0, 2.0, "open" if one is None else "scored")
        for n, one in enumerate(points)
    )
    return LabScore(LAB, person, tasks, time.time() if at_s is None else at_s)


def answered(tool: Tool, person: str, *points: float | None, at_s: float | None = None) -> None:
    """A lab reports a score, on the server's own loop."""
    score, outbox = reported(person, *points, at_s=at_s), tool.lti.outbox
    assert outbox.loop is not None
    outbox.loop.call_soon_threadsafe(outbox.receive, score)


def on_loop(tool: Tool, work: Any) -> Any:
    return asyncio.run_coroutine_threadsafe(work, tool.lti.outbox.loop).result(60)


def waiting(tool: Tool) -> list[tuple[str, int, str]]:
    return list(on_loop(tool, tool.lti._store.ask(scores.waiting)))
