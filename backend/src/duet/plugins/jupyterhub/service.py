# SPDX-License-Identifier: GPL-2.0-or-later
"""This service's settings for the hub, and its requests to the hub.

The hub uses OAuth 2 with an authorization code
(https://jupyterhub.readthedocs.io/en/stable/reference/services.html). jupyterhub's own HubOAuth
implements OAuth 2 for Tornado, but needs the hub's packages.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import requests
from starlette.concurrency import run_in_threadpool

from duet.base.access import Role
from duet.base.budgets import HUB_ANSWER_S, HUB_CHECK_S, HUB_GRACE_S, HUB_TOKENS
from duet.base.errors import InfraError, InputError

NEEDED = ("JUPYTERHUB_API_URL", "JUPYTERHUB_API_TOKEN", "JUPYTERHUB_SERVICE_PREFIX")
INSTRUCTORS = "DUET_HUB_INSTRUCTORS"
CALLBACK = "/oauth_callback"
"""Path below the service's prefix to which the hub redirects browsers."""


class HubGone(InfraError):
    """The hub has sent no usable answer."""


@dataclass(frozen=True, slots=True)
class HubUser:
    """The user of the hub to whom a token belongs."""

    name: str
    admin: bool
    groups: frozenset[str]


@dataclass(frozen=True, slots=True)
class HubService:
    """The environment that JupyterHub gives to a service.

    Args:
        api_url: address at which this machine reaches the hub, e.g. http://127.0.0.1:8081/hub/api.
        api_token: the service's token, which is also the OAuth client's secret.
        client_id: the OAuth client's id, e.g. service-duet.
        prefix: the service's path as browsers see it, e.g. /services/duet/.
        hub: address at which browsers reach the hub, e.g. /hub/ or https://hub.example.org/hub/.
        instructors: the group whose members are instructors.
    """

    api_url: str
    api_token: str
    client_id: str
    prefix: str
    hub: str
    instructors: str = "instructors"

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> HubService:
        """Read the environment.

        Raises:
            InputError: variables are missing.
        """
        missing = [name for name in NEEDED if not environ.get(name)]
        if missing:
            raise InputError(
                f"--hub needs the variables that JupyterHub gives to a service, but "
                f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set.",
                remedy="Set these variables as docs/PROXIES.md says, or let the hub start the "
                "server.",
            )
        prefix = environ["JUPYTERHUB_SERVICE_PREFIX"].rstrip("/") + "/"
        base = environ.get("JUPYTERHUB_BASE_URL", "/").rstrip("/")
        own = f"{environ.get('JUPYTERHUB_HOST', '')}{base}/hub/"
        return cls(
            api_url=environ["JUPYTERHUB_API_URL"].rstrip("/"),
            api_token=environ["JUPYTERHUB_API_TOKEN"],
            client_id=environ.get("JUPYTERHUB_CLIENT_ID")
            or f"service-{environ.get('JUPYTERHUB_SERVICE_NAME') or prefix.split('/')[-2]}",
            prefix=prefix,
            hub=environ.get("JUPYTERHUB_PUBLIC_HUB_URL") or own,
            instructors=environ.get(INSTRUCTORS) or "instructors",
        )

    @property
    def redirect(self) -> str:
        """Return the redirect URI that the hub has registered for the service."""
        return self.prefix.rstrip("/") + CALLBACK

    def authorize_url(self, state: str) -> str:
        """Return the hub's address at which a browser requests a code."""
        query = {"client_id": self.client_id, "response_type": "code", "state": state}
        query["redirect_uri"] = self.redirect
        return f"{self.hub.rstrip('/')}/api/oauth2/authorize?{urlencode(query)}"

    def token_of(self, code: str) -> str | None:
        """Return the token for a code, or None if the hub rejects the code. Blocking.

        Raises:
            HubGone: the hub gives no usable answer.
        """
        form = {"client_id": self.client_id, "client_secret": self.api_token, "code": code}
        form |= {"grant_type": "authorization_code", "redirect_uri": self.redirect}
        answer = _asked("POST", f"{self.api_url}/oauth2/token", data=form)
        token = answer.get("access_token") if answer is not None else None
        return token if isinstance(token, str) else None

    def user_of(self, token: str) -> HubUser | None:
        """Return a token's user, or None if the token is not valid for this service now. Blocking.

        Raises:
            HubGone: the hub gives no usable answer.
        """
        headers = {"Authorization": f"token {token}"}
        model = _asked("GET", f"{self.api_url}/user", headers=headers)
        if model is None or model.get("kind") != "user" or not self._for_us(model):
            return None
        groups = frozenset(map(str, model.get("groups") or ()))
        return HubUser(str(model["name"]), model.get("admin") is True, groups)

    def role_of(self, user: HubUser) -> Role:
        """Return a user's role. An admin of the hub is also an operator of this server."""
        if user.admin:
            return Role.OPERATOR
        return Role.INSTRUCTOR if self.instructors in user.groups else Role.STUDENT

    def _for_us(self, model: Mapping[str, Any]) -> bool:
        name = self.client_id.removeprefix("service-")
        wanted = {"access:services", f"access:services!service={name}"}
        return not wanted.isdisjoint(model.get("scopes") or ())


def _asked(method: str, url: str, **more: Any) -> dict[str, Any] | None:
    """Return the hub's answer, or None if the hub refuses the request.

    Raises:
        HubGone: there is no usable answer.
    """
    try:
        answer = requests.request(method, url, timeout=HUB_ANSWER_S, allow_redirects=False, **more)
        if answer.status_code in (400, 401, 403, 404):
            return None
        answer.raise_for_status()
        tree = answer.json()
    except (requests.RequestException, ValueError) as error:
        raise _gone(str(error)) from error
    if not isinstance(tree, dict):
        raise _gone("the hub's answer is not a JSON object")
    return tree


def _gone(why: str) -> HubGone:
    return HubGone(
        "JupyterHub gives no usable answer about its users.",
        remedy="Wait a moment. If it persists, check the hub and JUPYTERHUB_API_URL.",
        detail=why[:500],
    )


# Caches each token's user for HUB_CHECK_S. So when a user logs out at the hub or loses a role, the
# change takes effect here within HUB_CHECK_S.

log = logging.getLogger("duet.api")


@dataclass(frozen=True, slots=True)
class Known:
    """A cached answer of the hub.

    Args:
        user: the token's user. None if the token is invalid.
        at_s: time of the hub's answer, by the clock of Checks.
    """

    token: str
    user: HubUser | None
    at_s: float


class Checks:
    """Sends tokens to the hub to check them, with at most one request per token at a time.

    Args:
        clock: returns monotonic time in seconds.
    """

    def __init__(self, service: HubService, clock: Callable[[], float] = time.monotonic) -> None:
        self._service, self._clock = service, clock
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._asking: dict[str, asyncio.Task[HubUser | None]] = {}

    async def user(self, token: str) -> HubUser | None:
        """Return a token's user, or None if the token is invalid.

        Raises:
            HubGone: the hub does not answer, and its last answer is missing or too old.
        """
        ident = ident_of_token(token)
        known = self._known.get(ident)
        if known is not None and self._clock() - known.at_s < HUB_CHECK_S:
            self._known.move_to_end(ident)
            return known.user
        asking = self._asking.get(ident)
        if asking is None:
            asking = asyncio.create_task(self._ask(token, ident), name="hub user")
            self._asking[ident] = asking
            asking.add_done_callback(lambda _: self._asking.pop(ident, None))
        return await asyncio.shield(asking)

    async def user_by_ident(self, ident: str) -> HubUser | None:
        """Return the user of a recently checked token with this ident, or None if there is no such
        token."""
        known = self._known.get(ident)
        return None if known is None else await self.user(known.token)

    async def _ask(self, token: str, ident: str) -> HubUser | None:
        try:
            user = await run_in_threadpool(self._service.user_of, token)
        except HubGone as error:
            former = self._known.get(ident)
            if former is None or self._clock() - former.at_s > HUB_GRACE_S:
                raise
            log.warning("%s %s", error.sentence, error.detail)
            return former.user
        self._known[ident] = Known(token, user, self._clock())
        self._known.move_to_end(ident)
        while len(self._known) > HUB_TOKENS:
            self._known.popitem(last=False)
        return user


def ident_of_token(token: str) -> str:
    """Return an id that identifies a token without revealing it."""
    return hashlib.sha256(f"hub token {token}".encode()).hexdigest()[:32]
