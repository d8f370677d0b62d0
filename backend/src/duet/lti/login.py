# SPDX-License-Identifier: GPL-2.0-or-later
"""A login begins, a launch is read: what a platform's browser brings, checked.

The nonce of a launch that is returned still has to be used up (store.py).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping

import jwt
from pydantic import ValidationError
from pylti1p3.exception import LtiException, OIDCException

from duet.lti.claims import Claims, Launch
from duet.lti.keyfile import ToolKeys
from duet.lti.limits import LOGIN_S
from duet.lti.messages import ToolLaunch, ToolLogin
from duet.lti.platform_keys import PlatformKeys
from duet.lti.platforms import Platforms
from duet.lti.refused import LaunchRefused
from duet.lti.registration import Config, Form
from duet.lti.state import Login, browser_hash, read_state, sign_state

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
