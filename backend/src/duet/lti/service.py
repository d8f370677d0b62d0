# SPDX-License-Identifier: GPL-2.0-or-later
"""LTI of one server: logins, launches and what follows from them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from duet.base.access import Role
from duet.base.errors import DuetError, InputError
from duet.classes.store import ClassStore
from duet.lti import store as rows
from duet.lti.grades import Member, Outbox, Services
from duet.lti.login import Choice, Cookie, begin_login, read_launch
from duet.lti.messages import Launch, person_key
from duet.lti.platforms import KeyFile, PlatformKeys, Platforms, load_platforms, platforms_file
from duet.lti.refused import LaunchRefused

log = logging.getLogger("duet.lti")
MOST_UNKNOWN = 100.0
"""Points of a column that we make for a lab of which we do not know the points."""


@dataclass(frozen=True)
class Registered:
    """What an operator has configured."""

    platforms: Platforms
    keys: KeyFile
    known: PlatformKeys = field(default_factory=PlatformKeys)

    @classmethod
    def default(cls) -> Registered | None:
        """As the environment says; None: LTI is not used.

        Raises:
            InputError: a file is not usable.
            InfraError: keys cannot be stored.
        """
        path = platforms_file()
        if path is None:
            return None
        found = cls(load_platforms(path), KeyFile.default())
        found.keys.load()
        return found

    @property
    def grants(self) -> frozenset[str]:
        """Names of the grants of sessions that hold."""
        return frozenset(platform.grant for platform in self.platforms)

    @property
    def frames(self) -> tuple[str, ...]:
        """Origins whose pages may frame login, launch and list."""
        return tuple(sorted({one for each in self.platforms for one in each.framed_by}))


class Lti:
    """See the module. Use as `async with lti.running(days)`.

    Args:
        store: the database of classes; begun and closed by its owner.
        labs: what a teacher may choose besides the lessons; called in threads.
    """

    def __init__(
        self,
        registered: Registered,
        store: ClassStore,
        labs: Callable[[], Sequence[Choice]] = lambda: (),
    ) -> None:
        self.registered = registered
        self.labs = labs
        self._store = store
        self.services = Services(registered.keys)
        self.outbox = Outbox(store, registered.platforms, self.services)

    @contextlib.asynccontextmanager
    async def running(self, days: int) -> AsyncIterator[None]:
        """Send scores; activities that nobody opened for so many days are deleted first."""
        before_s = time.time() - days * rows.DAY_S
        with contextlib.suppress(DuetError):  # its own log has it; the next start will do
            await self._store.ask(lambda c: rows.delete_old(c, before_s))
        async with self.outbox.running():
            yield

    def login(self, values: Mapping[str, str], launch_url: str, browser: str) -> tuple[str, str]:
        """See begin_login.

        Raises:
            LaunchRefused: no registered platform began it.
        """
        here = self.registered
        return begin_login(here.platforms, here.keys.load(), values, launch_url, browser)

    async def launch(self, values: Mapping[str, str], cookie: Cookie) -> Launch:
        """A launch that was never used before.

        Raises:
            LaunchRefused: it is not one of a registered platform, just now, for this browser.
            InfraError: the platform did not give its keys, or the database refused.
        """
        here = self.registered
        launch = await asyncio.to_thread(
            lambda: read_launch(here.platforms, here.keys.load(), here.known, values, cookie)
        )
        nonce, until_s = launch.claims.nonce, launch.until_s
        await self._store.ask(lambda c: rows.use_nonce(c, nonce, until_s))
        return launch

    async def arrived(self, launch: Launch) -> None:
        """Store where scores of a student go, and from which course a teacher came.

        Trouble goes into the log: whoever came may use the page all the same.
        """
        if launch.claims.sub is None:
            return  # nobody whom the platform could name in a grade book or a course
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
        """Key of the person and member, of the course from which a teacher came last.

        Raises:
            InputError: the teacher came from none.
            InfraError: the platform did not answer.
        """
        found = await self._store.ask(lambda c: rows.course(c, person))
        platform = self.registered.platforms.by_ident(found[0]) if found else None
        if found is None or platform is None:
            raise InputError(
                "you came from no course whose platform gives its members.",
                remedy="Open an activity in your course; the platform must offer names and roles.",
            )
        members = await asyncio.to_thread(self.services.members, platform, found[1])
        return [(person_key(platform, one.user_id), one) for one in members]

    async def forget(self, person: str) -> None:
        """Delete all that is stored of a person; what platforms have stays there.

        Raises:
            InfraError: the database refused.
        """
        await self._store.ask(lambda c: rows.forget(c, person))


def refused_by_platform(values: Mapping[str, str]) -> LaunchRefused | None:
    """The platform's own refusal, which comes instead of a message (OpenID Connect, 3.1.2.6)."""
    error = values.get("error", "")
    if not error or values.get("id_token"):
        return None
    more = values.get("error_description", "")
    return LaunchRefused(
        f"the platform did not let you in ({error:.60}{': ' * bool(more)}{more:.200})."
    )
