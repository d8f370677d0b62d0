# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends labs' scores to platforms. Each score is stored first, then sent until it arrives.

Each score is sent separately, so that a refused score does not delay other scores. The format of a
score is valid for both Canvas and Moodle. Canvas ignores the points of a score whose grading is not
`FullyGraded`. Moodle refuses a score without user, timestamp or progress.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import jwt
import requests
from sqlalchemy import Connection

from duet.base.access import Role
from duet.base.errors import DuetError, InfraError
from duet.plugins.labs.grades import LabScore
from duet.plugins.lti import store as rows
from duet.plugins.lti.limits import (
    ASSERTION_EARLY_S,
    ASSERTION_S,
    MEMBERS,
    PAGES,
    RETRY_FIRST_S,
    RETRY_MOST_S,
    SEND_EVERY_S,
    SEND_TOGETHER,
    TOKEN_EARLY_S,
    TOKENS,
)
from duet.plugins.lti.messages import Endpoint, role_of
from duet.plugins.lti.platforms import ALGORITHM, KeyFile, Platform, Platforms, PlatformSession
from duet.store import database as claims
from duet.store.store import Store

# Calls a platform's services for scores, grade book columns and members.
#
# All calls wait for the network, so they run in threads. Section numbers are those of IMS
# Security Framework 1.0 and AGS 2.0 (addresses: __init__.py).

SCORE: Final = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
LINEITEM: Final = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
READ_LINEITEM: Final = f"{LINEITEM}.readonly"
READ_MEMBERS: Final = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
SCORE_TYPE: Final = "application/vnd.ims.lis.v1.score+json"
LINEITEM_TYPE: Final = "application/vnd.ims.lis.v2.lineitem+json"
LINEITEMS_TYPE: Final = "application/vnd.ims.lis.v2.lineitemcontainer+json"
MEMBERS_TYPE: Final = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
JWT_BEARER: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
CONFLICT: Final = 409
UNAUTHORIZED: Final = 401
LATER: Final = frozenset({UNAUTHORIZED, 403, 408, 423, 425, 429})
"""HTTP status codes after which a score is sent again: the token has expired (401), a right is
still missing or Canvas gets too many requests (403), a timeout (408), a locked resource (423), or
the request came too early (425) or too often (429). After any other refusal, a retry would fail,
too, because the column or the student is gone, or because the score is invalid.
"""
REASON_CHARACTERS: Final = 150


class NewerThere(Exception):
    """The platform has a score with a later timestamp (409)."""


class NotTaken(InfraError):
    """The platform will never accept this score."""


class _NotDone(Exception):
    """The platform refused a request or sent an invalid answer. The error's text contains the
    reason."""


UNUSABLE: Final = (
    _NotDone, requests.RequestException, ValueError, KeyError, TypeError, AttributeError
)  # fmt: skip
"""Exceptions that mean that the platform does not answer, or that its answer is invalid."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a course.

    Args:
        user_id: the platform's id for the person, which is also `sub` in a launch.
    """

    user_id: str
    name: str
    role: Role


class Services:
    """Requests access tokens, and calls platforms' services. Thread-safe.

    Args:
        clock: returns Unix time in seconds.
    """

    def __init__(self, keys: KeyFile, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: dict[str, tuple[str, float]] = {}

    def send(self, platform: Platform, lineitem: str, score: dict[str, Any]) -> None:
        """Send a score (AGS, 3.4).

        Raises:
            NewerThere: the platform has a newer score.
            NotTaken: the platform will never accept this score.
            InfraError: the platform did not accept the score, but may accept it later.
        """
        path, mark, query = lineitem.partition("?")
        url, headers = f"{path.removesuffix('/')}/scores{mark}{query}", {"Content-Type": SCORE_TYPE}
        with self._authorized(platform, [SCORE]) as session:
            answer = session.post(url, json.dumps(score), headers=headers)
            status = answer.status_code
            if status == CONFLICT:
                raise NewerThere
            if status == UNAUTHORIZED:
                self.forget(platform)
            if 400 <= status < 500 and status not in LATER:
                raise _not_taken(platform, answer)
            _good(answer)

    def lineitem(
        self, platform: Platform, offered: Endpoint, link_id: str, label: str, most: float
    ) -> str:
        """Return the grade book column for an activity, or "" if the platform offers none.

        Usually the launch message names the column. Otherwise, the column is looked up or created
        (AGS, 3.1 and 3.2).

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
        new = {"scoreMaximum": most, "label": label, "resourceId": link_id, "tag": link_id}
        url, headers = offered.lineitems, {"Accept": LINEITEM_TYPE, "Content-Type": LINEITEM_TYPE}
        with self._authorized(platform, scopes) as session:
            pages = _pages(session, platform, url, LINEITEMS_TYPE)
            columns = (one for page in pages for one in _typed(list, page, "line items"))
            column = next((one for one in columns if one.get("tag") == link_id), None)
            if column is None:
                made = _good(session.post(url, json.dumps(new), headers=headers)).json()
                column = _typed(dict, made, "create line item")
            found = str(column.get("id") or "")
        return found if platform.takes(found) else ""

    def members(self, platform: Platform, url: str) -> list[Member]:
        """Return a course's members, at most MEMBERS (NRPS 2.0, membership container).

        Raises:
            InfraError: the platform did not answer, or names an unsafe address.
        """
        found: list[Member] = []
        with self._authorized(platform, [READ_MEMBERS]) as session:
            for page in _pages(session, platform, url, MEMBERS_TYPE):
                people = page.get("members") or ()
                found += [_member(one) for one in people if one.get("status") != "Inactive"]
                if len(found) >= MEMBERS:
                    break
        return found[:MEMBERS]

    def forget(self, platform: Platform) -> None:
        """Drop a platform's access tokens, so that the next call requests a new one."""
        with self._lock:
            for key in [key for key in self._tokens if key.startswith(platform.ident)]:
                del self._tokens[key]

    def remember(self, key: str, token: str, seconds: float) -> None:
        """Cache an access token. If there are too many, evict the oldest."""
        with self._lock:
            self._tokens[key] = (token, self._clock() + seconds - TOKEN_EARLY_S)
            while len(self._tokens) > TOKENS:
                del self._tokens[next(iter(self._tokens))]

    @contextlib.contextmanager
    def _authorized(self, platform: Platform, scopes: list[str]) -> Iterator[PlatformSession]:
        """Open a session that sends an access token with each request.

        Errors within the block become an InfraError (Security Framework, 4.1; RFC 6750, 2.1).
        """
        try:
            with PlatformSession() as session:
                token = self._access_token(session, platform, scopes)
                session.headers["Authorization"] = f"Bearer {token}"
                session.headers["Accept"] = "application/json"
                yield session
        except UNUSABLE as error:
            raise _trouble(platform, error) from error

    def _access_token(self, session: PlatformSession, platform: Platform, scopes: list[str]) -> str:
        """Request an access token by the client-credentials grant.

        A signed assertion proves who we are (Security Framework, 4.1.1; RFC 7523, 2.2 and 3).
        """
        scope = " ".join(sorted(scopes))
        name = f"{platform.ident} {scope}"
        with self._lock:
            known, until_s = self._tokens.get(name, ("", 0.0))
        if known and until_s > self._clock():
            return known
        now_s, key = int(time.time()), self._keys.load().signing
        assertion = {
            "iss": platform.client_id,
            "sub": platform.client_id,
            "aud": platform.audience or platform.token_url,
            "iat": now_s - ASSERTION_EARLY_S,
            "exp": now_s + ASSERTION_S,
            "jti": f"lti-service-token-{uuid.uuid4()}",
        }
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": JWT_BEARER,
            "client_assertion": jwt.encode(assertion, key.pem, ALGORITHM, {"kid": key.kid}),
            "scope": scope,
        }
        words = "There was an error while getting an access token from the platform."
        answer = _good(session.post(platform.token_url, form), words)
        try:
            tree = answer.json()
        except ValueError as error:
            words = "The platform did not return a JSON response for the access token."
            raise _NotDone(_status(words, answer)) from error
        token = str(tree["access_token"])
        self.remember(name, token, float(tree.get("expires_in") or 0))
        return token


def _pages(session: PlatformSession, platform: Platform, url: str, kind: str) -> Iterator[Any]:
    """Yield the pages of a list. Each page names the next page (RFC 8288: `rel="next"`)."""
    for _ in range(PAGES):
        if not platform.takes(url):
            raise _NotDone("the platform named an address that is not safe")
        answer = _good(session.get(url, headers={"Accept": kind}))
        yield answer.json()
        url = answer.links.get("next", {}).get("url", "")
        if not url:
            return
    raise _NotDone(f"more than {PAGES} pages arrived")


def _good(
    answer: requests.Response, words: str = "There was an error making a service request."
) -> requests.Response:
    if not answer.ok:
        raise _NotDone(_status(words, answer))
    return answer


def _status(words: str, answer: requests.Response) -> str:
    return f"{words} HTTP response [{answer.url}]: {answer.status_code}"


def _typed(kind: type, tree: Any, what: str) -> Any:
    if not isinstance(tree, kind):
        raise _NotDone(f"Unknown response type received for {what}")
    return tree


def _member(tree: Any) -> Member:
    roles: Sequence[str] = tree.get("roles") or ()
    return Member(str(tree["user_id"]), str(tree.get("name") or ""), role_of(map(str, roles)))


def _not_taken(platform: Platform, answer: requests.Response) -> NotTaken:
    words = " ".join("".join(c if c.isprintable() else " " for c in answer.text[:1000]).split())
    reason = f" and said: {words:.{REASON_CHARACTERS}}" if words else ""
    return NotTaken(
        f"the platform '{platform.name:.60}' answered {answer.status_code}{reason}.",
        remedy="Check whether its grade book has the column and the student.",
    )


def _trouble(platform: Platform, error: Exception) -> InfraError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InfraError(
        f"a request to the platform '{platform.name:.60}' failed: {reason:.200}.",
        remedy="Check its registration and its log. Scores are retried automatically.",
    )


log = logging.getLogger("duet.plugins.lti")
SENDER = "lti scores"
"""Name of the database claim that a server must hold to send scores. Classes have claims, too."""


def score_of(due: rows.Due) -> dict[str, Any]:
    """Return a score in the platform's format (AGS, 3.4)."""
    stamp = datetime.fromtimestamp(due.stamp_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return {
        "scoreGiven": round(due.given, 6),
        "scoreMaximum": due.most,
        "activityProgress": "Completed" if due.scored == due.tasks else "InProgress",
        "gradingProgress": "FullyGraded",
        "timestamp": stamp.replace("+00:00", "Z"),
        "userId": due.link.user_id,
        "comment": f"{due.scored} of {due.tasks} tasks",
    }


def pause_s(tries: int) -> float:
    """Return how long to wait before the next try, given the number of failed tries."""
    return float(min(RETRY_FIRST_S * 2 ** min(tries, 20), RETRY_MOST_S))


class Outbox:
    """Stores scores and sends them. Use in an `async with outbox.running()` block.

    Args:
        store: the server's database. The outbox does not open or close it.

    Attributes:
        loop: the event loop on which the outbox runs. Other threads use the loop to hand over
            scores.
    """

    def __init__(self, store: Store, platforms: Platforms, services: Services) -> None:
        self._store = store
        self._platforms = platforms
        self._services = services
        self._came = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None
        self._tasks: asyncio.TaskGroup | None = None

    async def put(self, score: LabScore) -> None:
        """Store a lab's score for sending.

        Raises:
            InfraError: the score cannot be stored.
        """
        if await self._store.ask(lambda c: rows.put_score(c, score)):
            self._came.set()

    def receive(self, score: LabScore) -> None:
        """Store a score in the background. Call this on the event loop. Errors are logged."""
        if self._tasks is None:
            log.error("a score of %s came while the outbox is not running", score.lab)
        else:
            self._tasks.create_task(self._received(score), name="lti score")

    async def _received(self, score: LabScore) -> None:
        try:
            await self.put(score)
        except DuetError as error:
            log.error("a score of %s is not stored for its platform: %s", score.lab, error)

    def hurry(self) -> None:
        """Check immediately whether a score is due."""
        self._came.set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send scores in the background. Scores that are unsent at the end are sent after the next
        start of a server."""
        self.loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(self._run(), name="lti scores")
            self._tasks = tasks
            yield
            self._tasks = None  # the task group waits until received scores are stored
            sending.cancel()

    async def _run(self) -> None:
        while True:
            self._came.clear()
            try:
                while await self.send_due():
                    pass
            except DuetError as error:
                log.warning("due scores cannot be read: %s", error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SEND_EVERY_S):
                    await self._came.wait()

    async def send_due(self) -> int:
        """Send some of the due scores, and return their number."""
        found = await self._store.ask(self._due)
        await asyncio.gather(*map(self._send, found))
        return len(found)

    def _due(self, connection: Connection) -> list[rows.Due]:
        """Return the scores that are due now.

        If several servers share the database, only one of them sends scores. When that server ends,
        another server takes over.
        """
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
                log.warning("sending a score of %s is retried: %s", one.link.lab, trouble)

    def _trouble(self, one: rows.Due) -> Exception | None:
        """Send a score. Return the error, or None if the platform now has this score or a newer
        one."""
        platform = self._platforms.by_ident(one.link.platform)
        if platform is None:
            return LookupError("its platform is no longer registered.")
        try:
            self._services.send(platform, one.link.lineitem, score_of(one))
        except NewerThere:
            log.info("%s has a newer score of %s", platform.name, one.link.lab)
        except Exception as error:  # one failure must not stop the other scores
            return error
        return None
