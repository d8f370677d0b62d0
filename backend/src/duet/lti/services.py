# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls to a platform's services by pylti1p3next: scores, columns of the grade book, members.

All of them wait for the network, so they run in threads.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import requests
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiException, LtiServiceException
from pylti1p3.grade import Grade
from pylti1p3.lineitem import LineItem
from pylti1p3.names_roles import NamesRolesProvisioningService
from pylti1p3.service_connector import ServiceConnector

from duet.base.access import Role
from duet.base.errors import InfraError
from duet.lti.claims import Endpoint
from duet.lti.http import PlatformSession
from duet.lti.keyfile import KeyFile
from duet.lti.limits import MEMBERS, TOKEN_EARLY_S, TOKENS
from duet.lti.platforms import Platform
from duet.lti.registration import ToolRegistration
from duet.lti.roles import role_of

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
