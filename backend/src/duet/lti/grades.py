# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores of labs on their way to platforms. A score is stored first, and sent until it arrives.

Each is sent by itself, so one that a platform refuses holds up no other. Its form is the one that
Canvas and Moodle take: Canvas ignores the points of a score whose grading is not `FullyGraded`,
and Moodle refuses one without user, timestamp or progress.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import requests
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiException, LtiServiceException
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem
from pylti1p3.names_roles import NamesRolesProvisioningService
from pylti1p3.service_connector import ServiceConnector
from sqlalchemy import Connection

from duet.base.access import Role
from duet.base.errors import DuetError, InfraError
from duet.classes import database as claims
from duet.classes.store import ClassStore
from duet.grades import LabScore
from duet.lti import store as rows
from duet.lti.limits import (
    MEMBERS,
    RETRY_FIRST_S,
    RETRY_MOST_S,
    SEND_EVERY_S,
    SEND_TOGETHER,
    TOKEN_EARLY_S,
    TOKENS,
)
from duet.lti.messages import Endpoint, ToolRegistration, role_of
from duet.lti.platforms import KeyFile, Platform, Platforms, PlatformSession

# Calls to a platform's services by pylti1p3next: scores, columns of the grade book, members.
#
# All of them wait for the network, so they run in threads.

SCORE: Final = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
LINEITEM: Final = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
READ_LINEITEM: Final = f"{LINEITEM}.readonly"
CONFLICT: Final = 409
UNAUTHORIZED: Final = 401
LATER: Final = frozenset({UNAUTHORIZED, 403, 408, 423, 425, 429})
"""Refusals of a score that may end by themselves: of a token that is over, of a right that an
operator has yet to give (and, at Canvas, of too many requests), of a lock, of too early or too
much. The platform answers all others in the same way again: a column or a student is not there
any more, or it takes no such score."""
REASON_CHARACTERS: Final = 150


class NewerThere(Exception):
    """The platform has a score with a later timestamp (409)."""


class NotTaken(InfraError):
    """The platform does not take a score, now or later."""


@dataclass(frozen=True, slots=True)
class Member:
    """Of a course.

    Args:
        user_id: as the platform calls the person; `sub` of a launch.
    """

    user_id: str
    name: str
    role: Role


class Services:
    """Access tokens and calls; for threads.

    Args:
        clock: Unix time in s.
    """

    def __init__(self, keys: KeyFile, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: dict[str, tuple[str, float]] = {}

    def send(self, platform: Platform, lineitem: str, grade: Grade) -> None:
        """Send a score.

        Raises:
            NewerThere: the platform has a newer one.
            NotTaken: it never takes this one.
            InfraError: it did not take it now.
        """
        with PlatformSession() as session:
            connector = self._connector(platform, session)
            service = AssignmentsGradesService(connector, {"scope": [SCORE]})
            try:
                service.put_grade(grade, LineItem({"id": lineitem}))
            except LtiServiceException as error:
                status = error.response.status_code
                if status == CONFLICT:
                    raise NewerThere from error
                if status == UNAUTHORIZED:
                    self.forget(platform)
                if 400 <= status < 500 and status not in LATER:
                    raise _not_taken(platform, error.response) from error
                raise _trouble(platform, error) from error
            except json.JSONDecodeError:
                return  # the score was taken; Canvas and Moodle answer nothing, or something else
            except (LtiException, requests.RequestException, KeyError, TypeError) as error:
                raise _trouble(platform, error) from error

    def lineitem(
        self, platform: Platform, offered: Endpoint, link_id: str, label: str, most: float
    ) -> str:
        """The column for an activity: the one that the message names, else one that is found or
        made. Empty: the platform gives none.

        Raises:
            InfraError: the platform did not answer.
        """
        if offered.lineitem:
            return offered.lineitem if platform.takes(offered.lineitem) else ""
        if not offered.lineitems or not platform.takes(offered.lineitems):
            return ""
        scopes = [scope for scope in offered.scope if scope in (LINEITEM, READ_LINEITEM)]
        if LINEITEM not in scopes:
            return ""
        with PlatformSession() as session:
            data: Any = {"scope": scopes, "lineitems": offered.lineitems}
            service = AssignmentsGradesService(self._connector(platform, session), data)
            new = LineItem().set_label(label).set_tag(link_id).set_score_maximum(most)
            new.set_resource_id(link_id)
            try:
                found = service.find_or_create_lineitem(new, find_by="tag").get_id() or ""
            except (LtiException, requests.RequestException, ValueError, KeyError, TypeError) as e:
                raise _trouble(platform, e) from e
        return found if platform.takes(found) else ""

    def members(self, platform: Platform, url: str) -> list[Member]:
        """Names and roles of a course, at most MEMBERS.

        Raises:
            InfraError: the platform did not answer, or names another address.
        """
        found: list[Member] = []
        page: str | None = url
        with PlatformSession() as session:
            connector = self._connector(platform, session)
            service = NamesRolesProvisioningService(connector, {"context_memberships_url": url})
            while page and len(found) < MEMBERS:
                if not platform.takes(page):
                    raise _trouble(platform, ValueError("an address that is not safe"))
                try:
                    people, page = service.get_members_page(page)
                    found += [_member(one) for one in people if one.get("status") != "Inactive"]
                except (LtiException, requests.RequestException, ValueError) as error:
                    raise _trouble(platform, error) from error
                except (KeyError, TypeError, AttributeError) as error:
                    raise _trouble(platform, error) from error
        return found[:MEMBERS]

    def forget(self, platform: Platform) -> None:
        """Ask for a new access token next time."""
        with self._lock:
            for key in [key for key in self._tokens if key.startswith(platform.ident)]:
                del self._tokens[key]

    def token(self, key: str) -> str | None:
        """An access token that is still good."""
        with self._lock:
            found = self._tokens.get(key)
            return found[0] if found and found[1] > self._clock() else None

    def remember(self, key: str, token: str, seconds: float) -> None:
        """Use an access token again; the oldest is forgotten."""
        with self._lock:
            self._tokens[key] = (token, self._clock() + seconds - TOKEN_EARLY_S)
            while len(self._tokens) > TOKENS:
                del self._tokens[next(iter(self._tokens))]

    def _connector(self, platform: Platform, session: PlatformSession) -> _Connector:
        return _Connector(ToolRegistration(platform, self._keys.load()), session, self)


class _Connector(ServiceConnector):
    def __init__(
        self, registration: ToolRegistration, session: PlatformSession, services: Services
    ) -> None:
        super().__init__(registration, session)
        self._services = services
        self._ident = registration.platform.ident

    def get_access_token(self, scopes: Sequence[str]) -> str:
        try:
            return super().get_access_token(scopes)
        except LtiServiceException as error:  # its status says nothing of what the token is for
            raise LtiException(str(error)) from error

    def _scope_key(self, scopes: Any) -> str:
        # The library names the issuer alone; two clients of one issuer have tokens of their own.
        return " ".join((self._ident, *sorted(scopes)))

    def _get_cached_access_token(self, scope_key: str) -> str | None:
        return self._services.token(scope_key)

    def _cache_access_token(self, scope_key: str, access_token: str, expires_in: float) -> None:
        self._services.remember(scope_key, access_token, float(expires_in or 0))


def _member(tree: Any) -> Member:
    roles: Sequence[str] = tree.get("roles") or ()
    return Member(str(tree["user_id"]), str(tree.get("name") or ""), role_of(map(str, roles)))


def _not_taken(platform: Platform, answer: requests.Response) -> NotTaken:
    words = " ".join("".join(c if c.isprintable() else " " for c in answer.text[:1000]).split())
    reason = f" and said: {words:.{REASON_CHARACTERS}}" if words else ""
    return NotTaken(
        f"the platform '{platform.name:.60}' answered {answer.status_code}{reason}.",
        remedy="Look whether its grade book has the column and the student.",
    )


def _trouble(platform: Platform, error: Exception) -> InfraError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InfraError(
        f"the platform '{platform.name:.60}' did not do what was asked: {reason:.200}.",
        remedy="Look at its registration and at its log; scores are tried again by themselves.",
    )


log = logging.getLogger("duet.lti")
SENDER = "lti scores"
"""What the server owns that sends, named like a class."""


def grade_of(due: rows.Due) -> Grade:
    """A score as the platform gets it."""
    whole = due.scored == due.tasks
    stamp = datetime.fromtimestamp(due.stamp_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return (
        Grade()
        .set_user_id(due.link.user_id)
        .set_score_given(round(due.given, 6))
        .set_score_maximum(due.most)
        .set_activity_progress("Completed" if whole else "InProgress")
        .set_grading_progress("FullyGraded")
        .set_timestamp(stamp.replace("+00:00", "Z"))
        .set_comment(f"{due.scored} of {due.tasks} tasks")
    )


def pause_s(tries: int) -> float:
    """How long to wait after so many tries that failed."""
    return float(min(RETRY_FIRST_S * 2 ** min(tries, 20), RETRY_MOST_S))


class Outbox:
    """Stores scores and sends them. Use as `async with outbox.running()`.

    Args:
        store: the database of classes; it is begun and closed by its owner.

    Attributes:
        loop: the one it runs on, for threads that have a score.
    """

    def __init__(self, store: ClassStore, platforms: Platforms, services: Services) -> None:
        self._store = store
        self._platforms = platforms
        self._services = services
        self._came = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None
        self._tasks: asyncio.TaskGroup | None = None

    async def put(self, score: LabScore) -> None:
        """Receive a score of a lab; returns when it is stored.

        Raises:
            InfraError: it is not stored.
        """
        if await self._store.ask(lambda c: rows.put_score(c, score)):
            self._came.set()

    def receive(self, score: LabScore) -> None:
        """The same for who cannot wait, on the loop; trouble goes into the log."""
        if self._tasks is None:
            log.error("a score of %s came while no outbox runs", score.lab)
        else:
            self._tasks.create_task(self._received(score), name="lti score")

    async def _received(self, score: LabScore) -> None:
        try:
            await self.put(score)
        except DuetError as error:
            log.error("a score of %s is not stored for its platform: %s", score.lab, error)

    def hurry(self) -> None:
        """Look at once whether something is due."""
        self._came.set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send in the background; what is not sent at the end is sent by the next server."""
        self.loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(self._run(), name="lti scores")
            self._tasks = tasks
            yield
            self._tasks = None  # what was received is stored before the group ends
            sending.cancel()

    async def _run(self) -> None:
        while True:
            self._came.clear()
            try:
                while await self.send_due():
                    pass
            except DuetError as error:
                log.warning("scores cannot be looked up: %s", error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SEND_EVERY_S):
                    await self._came.wait()

    async def send_due(self) -> int:
        """Send some of what is due; how many these were."""
        found = await self._store.ask(self._due)
        await asyncio.gather(*map(self._send, found))
        return len(found)

    def _due(self, connection: Connection) -> list[rows.Due]:
        """What this server sends now: of several, one sends, and another one after its death."""
        if self._store.server and claims.claim(connection, SENDER) is not None:
            return []
        return rows.due(connection, SEND_TOGETHER)

    async def _send(self, one: rows.Due) -> None:
        error = await asyncio.to_thread(self._trouble, one)
        trouble = "" if error is None else str(error) or type(error).__name__
        if error is None:
            await self._store.ask(lambda c: rows.settled(c, one))
        elif one.old or isinstance(error, NotTaken):
            until = "the student opens the activity again or reaches another score"
            log.error("a score of %s is not sent until %s: %s", one.link.lab, until, trouble)
            await self._store.ask(lambda c: rows.settled(c, one, trouble))
        else:
            next_s = time.time() + pause_s(one.tries)
            await self._store.ask(lambda c: rows.postpone(c, one, next_s, trouble))
            if one.tries == 0:
                log.warning("a score of %s is tried again: %s", one.link.lab, trouble)

    def _trouble(self, one: rows.Due) -> Exception | None:
        """Why a score was not sent; None: it was, or the platform has a newer one."""
        platform = self._platforms.by_ident(one.link.platform)
        if platform is None:
            return LookupError("its platform is not registered any more.")
        try:
            self._services.send(platform, one.link.lineitem, grade_of(one))
        except NewerThere:
            log.info("%s has a newer score of %s", platform.name, one.link.lab)
        except Exception as error:  # a thread must not take the other scores with it
            return error
        return None
