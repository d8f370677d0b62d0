# SPDX-License-Identifier: GPL-2.0-or-later
"""LTI on one server: logins, launches, scores and course members."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Final

from fastapi import FastAPI

from duet.api.identity import TokensOnly
from duet.api.sessions import Sessions
from duet.base.access import Role
from duet.base.errors import DuetError, InputError
from duet.plugins.labs.labs import Labs
from duet.plugins.lti import routes
from duet.plugins.lti import store as rows
from duet.plugins.lti.grades import Member, Outbox, Services
from duet.plugins.lti.login import Choice, Cookie, begin_login, read_launch
from duet.plugins.lti.messages import Launch, person_key
from duet.plugins.lti.platforms import Registered
from duet.server.doors import Door
from duet.server.services import Core, Service
from duet.store.database import CLASSES_DAYS, classes_days
from duet.store.limits import DAY_S
from duet.store.store import Store

log = logging.getLogger("duet.plugins.lti")
MOST_UNKNOWN = 100.0
"""Maximum points of a column that we create for a lab whose maximum is unknown."""


class Lti:
    """LTI of one server. Use in an `async with lti.running(days)` block.

    Args:
        store: the database of classes, which Lti does not open or close.
        labs: returns the items that a teacher can choose in addition to the lessons. It is called
            in threads.
    """

    def __init__(
        self,
        registered: Registered,
        store: Store,
        labs: Callable[[], Sequence[Choice]] = lambda: (),
    ) -> None:
        self.registered = registered
        self.labs = labs
        self._store = store
        self.services = Services(registered.keys)
        self.outbox = Outbox(store, registered.platforms, self.services)

    @contextlib.asynccontextmanager
    async def running(self, days: int) -> AsyncIterator[None]:
        """Delete activities that nobody opened for `days`, then send scores until the block
        ends."""
        before_s = time.time() - days * DAY_S
        # the store logs the error, and the next start tries again
        with contextlib.suppress(DuetError):
            await self._store.ask(lambda c: rows.delete_old(c, before_s))
        async with self.outbox.running():
            yield

    def login(self, values: Mapping[str, str], launch_url: str, browser: str) -> tuple[str, str]:
        """Start a login, as begin_login() does.

        Raises:
            LaunchRefused: no registered platform started it.
        """
        here = self.registered
        return begin_login(here.platforms, here.keys.load(), values, launch_url, browser)

    async def launch(self, values: Mapping[str, str], cookie: Cookie) -> Launch:
        """Check a launch, and mark it as used.

        Raises:
            LaunchRefused: the launch is too old, was used before, is not from a registered
                platform, or is not meant for this browser.
            InfraError: the platform did not provide its keys, or the database failed.
        """
        here = self.registered
        launch = await asyncio.to_thread(
            lambda: read_launch(here.platforms, here.keys.load(), here.known, values, cookie)
        )
        nonce, until_s = launch.claims.nonce, launch.until_s
        await self._store.ask(lambda c: rows.use_nonce(c, nonce, until_s))
        return launch

    async def arrived(self, launch: Launch) -> None:
        """Store the column for a student's scores, or the course from which a teacher came.

        Errors are only logged: the person may use the page anyway.
        """
        if launch.claims.sub is None:
            return  # an anonymous user has no column in a grade book
        try:
            if launch.role is Role.STUDENT:
                await self._student(launch)
            elif launch.role is Role.INSTRUCTOR and launch.claims.roster is not None:
                url, platform = launch.claims.roster.context_memberships_url, launch.platform
                if platform.takes(url):
                    key = launch.person.key
                    await self._store.ask(lambda c: rows.put_course(c, key, platform.ident, url))
        except DuetError as error:
            log.warning("a launch of %s: %s", launch.platform.name, error)

    async def _student(self, launch: Launch) -> None:
        lab, offered, user_id = launch.place.get("lab", ""), launch.claims.grades, launch.claims.sub
        if not lab or offered is None or user_id is None:
            return
        labs = await asyncio.to_thread(self.labs)
        known = next((one for one in labs if one.custom.get("lab") == lab), None)
        most = (known.most if known else None) or MOST_UNKNOWN
        lineitem = await asyncio.to_thread(
            self.services.lineitem,
            launch.platform, offered, launch.link_id, known.title if known else lab, most,
        )  # fmt: skip
        if lineitem:
            key, ident = launch.person.key, launch.platform.ident
            link = rows.Link(key, lab, launch.link_id, ident, user_id, lineitem)
            await self._store.ask(lambda c: rows.put_link(c, link))
            self.outbox.hurry()

    async def members(self, person: str) -> list[tuple[str, Member]]:
        """Return (person key, member) pairs of the course that the teacher most recently came from.

        Raises:
            InputError: the teacher did not come from a course.
            InfraError: the platform did not answer.
        """
        found = await self._store.ask(lambda c: rows.course(c, person))
        platform = self.registered.platforms.by_ident(found[0]) if found else None
        if found is None or platform is None:
            raise InputError(
                "you did not come from a course whose platform lists the course's members.",
                remedy="Open an activity in your course. The platform must offer Names and Roles.",
            )
        members = await asyncio.to_thread(self.services.members, platform, found[1])
        return [(person_key(platform, one.user_id), one) for one in members]

    async def forget(self, person: str) -> None:
        """Delete everything that is stored here about a person. Platforms keep their data.

        Raises:
            InfraError: the database failed.
        """
        await self._store.ask(lambda c: rows.forget(c, person))


class LtiService(Service):
    """LTI as part of a server. It adds routes for platforms, and sends scores to platforms.

    Args:
        registered: if None, each route reports that LTI is not used.
        days: activities that nobody opened for this number of days are deleted.
    """

    actions = routes.ACTIONS

    def __init__(self, core: Core, registered: Registered | None, days: int = CLASSES_DAYS) -> None:
        self.lti: Lti | None = None
        self._days = days
        self._sessions: Sessions | None = None
        self._stack = contextlib.AsyncExitStack()
        if registered is not None and core.store is not None:
            self.lti = Lti(registered, core.store, routes.lab_choices)
            self.foreign = routes.launches(registered)
            labs = core.services.of(Labs)
            labs.listeners.append(self.lti.outbox.receive)
            labs.forgetting.append(self.lti.forget)

    async def __aenter__(self) -> LtiService:
        if self.lti is not None:
            await self._stack.enter_async_context(self.lti.running(self._days))
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    def admit(self, door: Door) -> None:
        """Let browsers without a session use the routes for login, launch and keys.

        A launch starts a session.
        """
        if isinstance(door, TokensOnly):
            self._sessions = door.sessions
            if self.lti is not None:
                door.unasked |= routes.UNASKED

    def add_routes(self, app: FastAPI) -> None:
        """Add the routes for login, launch, keys, and a course's members."""
        routes.add_lti_routes(app, self.lti, self._sessions)


UNGUARDED: Final = (
    "DUET_LTI registers learning platforms, but this server requires no tokens, so everybody would "
    "be operator or come through the hub.",
    "Use --token-required and no --hub, or unset DUET_LTI.",
)
"""Sentence and remedy for a server that requires no tokens."""


def grants() -> frozenset[str]:
    """Return a grant for each platform that admits people, or nothing if LTI is not used.

    Raises:
        InputError: a file is unusable.
    """
    registered = Registered.default()
    return frozenset() if registered is None else registered.grants


def service(core: Core) -> LtiService:
    """Return the LTI service that the environment configures."""
    return LtiService(core, Registered.default(), classes_days())
