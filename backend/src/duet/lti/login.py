# SPDX-License-Identifier: GPL-2.0-or-later
"""A login begins, a launch is read: what a platform's browser brings, checked.

The nonce of a launch that is returned still has to be used up (store.py).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jwt
from pydantic import ValidationError
from pylti1p3.deep_link import DeepLink
from pylti1p3.deep_link_resource import DeepLinkResource
from pylti1p3.exception import LtiException, OIDCException
from pylti1p3.lineitem import LineItem

from duet.lti.limits import CHOICE_S, LOGIN_S
from duet.lti.messages import (
    ALGORITHM,
    Claims,
    Config,
    DeepLinking,
    Form,
    Launch,
    Login,
    ToolLaunch,
    ToolLogin,
    ToolRegistration,
    browser_hash,
    read_state,
    sign_state,
)
from duet.lti.platforms import PlatformKeys, Platforms, ToolKeys
from duet.lti.refused import LaunchRefused

Cookie = Callable[[str], str]
"""Nonce -> the browser's secret; empty: it sends none."""


def begin_login(
    platforms: Platforms, keys: ToolKeys, values: Mapping[str, str], launch_url: str, browser: str
) -> tuple[str, str]:
    """Where a login goes on at the platform, and the nonce that names its cookie.

    Args:
        browser: a new secret for the browser's cookie.

    Raises:
        LaunchRefused: no registered platform began it.
    """
    platform = platforms.find(values.get("iss", ""), values.get("client_id", ""))
    deployment = values.get("lti_deployment_id", "")
    if platform is None:
        raise LaunchRefused(
            f"no platform '{values.get('iss', ''):.80}' with this client is registered here.",
            remedy="The person who runs this server registers it in the file of DUET_LTI.",
        )
    if deployment and not platform.deploys(deployment):
        raise LaunchRefused(
            f"the deployment '{deployment:.80}' of the platform '{platform.name:.60}' is not "
            "registered here.",
            remedy="The person who runs this server adds it to `deployments` in the file of "
            "DUET_LTI, or takes that line out, which lets all of them in.",
        )
    nonce = secrets.token_hex(16)
    until_s = int(time.time() + LOGIN_S)
    login = Login(platform.ident, nonce, browser_hash(browser), until_s)
    state = sign_state(keys.secret, login)
    try:
        made = ToolLogin(Form(values), Config(platforms, keys), state, nonce)
        return made.address(launch_url), nonce
    except (OIDCException, LtiException) as error:
        raise LaunchRefused(f"the platform's login is not usable: {error}.") from error


def read_launch(
    platforms: Platforms,
    keys: ToolKeys,
    known: PlatformKeys,
    values: Mapping[str, str],
    cookie: Cookie,
) -> Launch:
    """The launch that a form carries; it may wait for the platform's keys.

    Raises:
        LaunchRefused: it is forged, mangled, too old, for another browser, or not for us.
        InfraError: the platform did not give its keys.
    """
    login = _own_login(keys, values.get("state", ""), cookie)
    message = ToolLaunch(Form(values), Config(platforms, keys), login, known)
    try:
        claims = Claims.model_validate(message.validate().get_launch_data())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = str(first["loc"][0] if first["loc"] else "").rpartition("/")[2]
        raise LaunchRefused(
            f"the platform's message is not usable ({where}: {first['msg']}).", detail=str(error)
        ) from error
    except (LtiException, jwt.PyJWTError) as error:
        raise LaunchRefused(f"the platform's message is refused: {_plain(error)}.") from error
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, AssertionError) as error:
        # The library trusts the types of what it reads before it has seen the signature.
        raise LaunchRefused("the platform's message is mangled.", detail=repr(error)) from error
    platform = platforms.by_ident(login.platform)
    registered = message.registered
    if platform is None or registered is None:
        raise LaunchRefused("the platform of this login is not registered any more.")
    if registered.platform.ident != platform.ident:
        raise LaunchRefused("another platform answered than the one that the login went to.")
    return Launch(platform, claims, float(login.until_s))


def _own_login(keys: ToolKeys, state: str, cookie: Cookie) -> Login:
    login = read_state(keys.secret, state)
    if login is None:
        raise LaunchRefused("the state of this launch is not one that this server gave.")
    if login.until_s < time.time():
        raise LaunchRefused(f"the login was longer ago than {LOGIN_S / 60:.0f} minutes.")
    if browser_hash(cookie(login.nonce)) != login.browser:
        raise LaunchRefused(
            "this browser did not begin this launch, or it sent no cookie along.",
            remedy="Open the activity again, in a window of its own; allow cookies for this page.",
        )
    return login


def _plain(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return text.rstrip(".")[:200]


# Deep linking: a teacher chooses a lesson or a lab, and the platform makes an activity of it.
#
# Source: https://www.imsglobal.org/spec/lti-dl/v2p0


@dataclass(frozen=True, slots=True)
class Choice:
    """What a teacher may choose.

    Args:
        custom: parameters of its launches: `lesson`, `lab`, `step`.
        most: points of the column in the grade book; None: it has none.
    """

    title: str
    about: str
    custom: dict[str, str] = field(default_factory=dict)
    most: float | None = None


class _Item(DeepLinkResource):
    def __init__(self, windows: bool) -> None:
        self._windows = windows

    def to_dict(self) -> dict[str, object]:
        """With the window that the library does not write: a frame gets no cookie of ours."""
        more: dict[str, object] = {"window": {"targetName": "_blank"}} if self._windows else {}
        return super().to_dict() | more


def settings_of(launch: Launch) -> DeepLinking:
    """What the platform takes.

    Raises:
        LaunchRefused: nothing that we could give.
    """
    found = launch.claims.choosing
    if found is None or "ltiResourceLink" not in found.accept_types:
        raise LaunchRefused("the platform takes no link to an activity here.")
    if not launch.platform.takes(found.deep_link_return_url):
        raise LaunchRefused(
            "the platform wants the choice at an address without TLS.",
            remedy="Give the platform an address that begins with https://.",
        )
    return found


def answer(launch: Launch, keys: ToolKeys, choice: Choice, launch_url: str) -> str:
    """The signed message for the platform's return address, good for CHOICE_S."""
    given = settings_of(launch)
    item = _Item("window" in given.accept_presentation_document_targets)
    item.set_title(choice.title).set_url(launch_url).set_custom_params(choice.custom)
    if choice.most is not None and given.accept_lineitem is not False:
        column = LineItem().set_score_maximum(choice.most).set_label(choice.title)
        item.set_lineitem(column.set_resource_id(next(iter(choice.custom.values()))))
    registration = ToolRegistration(launch.platform, keys)
    tree: Any = {"deep_link_return_url": given.deep_link_return_url, "data": given.data}
    deep = DeepLink(registration, launch.claims.deployment, tree)
    message = deep.get_message_jwt([item])
    message["exp"] = int(time.time()) + CHOICE_S
    given_only = {key: value for key, value in message.items() if value is not None}
    headers = {"kid": keys.signing.kid}
    return jwt.encode(given_only, keys.signing.pem, algorithm=ALGORITHM, headers=headers)
