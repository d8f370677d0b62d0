# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks and signs messages that pass through a browser: logins, launches, and teachers' choices.

The caller of read_launch() still has to mark the launch's nonce as used (store.py). Section numbers
are those of LTI 1.3 core, IMS Security Framework 1.0 and Deep Linking 2.0 (addresses: __init__.py).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import jwt
from pydantic import ValidationError

from duet.plugins.lti.limits import CHOICE_S, LOGIN_S, SKEW_S
from duet.plugins.lti.messages import (
    CHOOSING,
    CLAIM,
    DEEP,
    OPENING,
    PREFIX,
    Claims,
    DeepLinking,
    Launch,
    Login,
    browser_hash,
    read_state,
    sign_state,
    target_hash,
)
from duet.plugins.lti.platforms import ALGORITHM, Platform, PlatformKeys, Platforms, ToolKeys
from duet.plugins.lti.refused import LaunchRefused

NEEDED: Final = ("iss", "aud", "exp", "iat", "nonce")
VERSION: Final = "1.3.0"
DEEP_CLAIM: Final = "https://purl.imsglobal.org/spec/lti-dl/claim/"
REASON_CHARACTERS: Final = 200
Cookie = Callable[[str], str]
"""Function that returns the browser's secret for a nonce, or "" if the browser sends no secret."""


def begin_login(
    platforms: Platforms, keys: ToolKeys, values: Mapping[str, str], launch_url: str, browser: str
) -> tuple[str, str]:
    """Return the platform's address for the login, and the nonce that determines the name of the
    login's cookie.

    Source: Security Framework, 5.1.1.1 and 5.1.1.2; LTI 1.3 core, 4.1.1 to 4.1.3.

    Args:
        browser: a new secret for the browser's cookie.

    Raises:
        LaunchRefused: no registered platform started the login, or its parameters are invalid.
    """
    platform = platforms.find(values.get("iss", ""), values.get("client_id", ""))
    deployment = values.get("lti_deployment_id", "")
    if platform is None:
        raise LaunchRefused(
            f"no platform '{values.get('iss', ''):.80}' with this client is registered here.",
            remedy="The person who runs this server can register the platform in the file of "
            "DUET_LTI.",
        )
    if deployment and not platform.deploys(deployment):
        raise LaunchRefused(
            f"the platform '{platform.name:.60}' has a deployment '{deployment:.80}' that is not "
            "registered here.",
            remedy="The person who runs this server can add the deployment to `deployments` in the "
            "file of DUET_LTI, or remove the line `deployments` to accept all deployments.",
        )
    if not values.get("login_hint"):
        raise LaunchRefused("the platform's login is not usable: Could not find login hint.")
    if not values.get("client_id"):
        raise LaunchRefused(
            "the platform's login is not usable: no such issuer and client is registered here."
        )
    nonce = secrets.token_hex(16)
    until_s, target = int(time.time() + LOGIN_S), target_hash(values.get("target_link_uri", ""))
    login = Login(platform.ident, nonce, browser_hash(browser), until_s, target)
    asked = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": launch_url,
        "state": PREFIX + sign_state(keys.secret, login),
        "nonce": nonce,
        "login_hint": values["login_hint"],
    }
    if values.get("lti_message_hint"):
        asked["lti_message_hint"] = values["lti_message_hint"]
    joint = "&" if "?" in platform.auth_url else "?"
    return f"{platform.auth_url}{joint}{urlencode(asked)}", nonce


def read_launch(
    platforms: Platforms,
    keys: ToolKeys,
    known: PlatformKeys,
    values: Mapping[str, str],
    cookie: Cookie,
) -> Launch:
    """Check the launch that a form contains. This may wait for the platform's keys.

    Source: Security Framework, 5.1.1.3.

    Raises:
        LaunchRefused: the launch is forged, malformed or too old, or it is meant for another
            browser or another server.
        InfraError: the platform did not provide its keys.
    """
    login = _own_login(keys, values.get("state", ""), cookie)
    token = values.get("id_token", "")
    header, claimed = _unproven(token)
    if not claimed.get("nonce"):
        raise _refused('The "nonce" field is empty')
    if claimed["nonce"] != login.nonce:
        raise _refused("Invalid Nonce")
    platform = _platform(platforms, login, claimed)
    proven = _proven(platform, known, header, token)
    if why := _wrong(platform, login, proven):
        raise _refused(why)
    try:
        return Launch(platform, Claims.model_validate(proven), float(login.until_s))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = str(first["loc"][0] if first["loc"] else "").rpartition("/")[2]
        raise LaunchRefused(
            f"the platform's message is not usable ({where}: {first['msg']}).", detail=str(error)
        ) from error


def _own_login(keys: ToolKeys, state: str, cookie: Cookie) -> Login:
    """Return the login that the launch belongs to (Security Framework, 7.3.1)."""
    login = read_state(keys.secret, state)
    if login is None:
        raise LaunchRefused("the state of this launch was not issued by this server.")
    if login.until_s < time.time():
        raise LaunchRefused(f"the login is older than {LOGIN_S / 60:.0f} minutes.")
    if browser_hash(cookie(login.nonce)) != login.browser:
        raise LaunchRefused(
            "this browser did not start this launch, or it sent no cookie.",
            remedy="Open the activity again in a window of its own, and allow cookies for this "
            "page.",
        )
    return login


def _unproven(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the claims of a token whose signature is not checked yet (RFC 7519,
    7.2)."""
    if not token:
        raise _refused('The LTI launch message "id_token" field is empty')
    if token.count(".") != 2:
        raise _refused("Invalid id_token, JWT must contain 3 parts")
    try:
        read = jwt.decode_complete(token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise _refused("Invalid JWT format, can't be decoded") from error
    return read["header"], read["payload"]


def _platform(platforms: Platforms, login: Login, claimed: Mapping[str, Any]) -> Platform:
    """Return the login's platform. Check that this platform sent the message, and that the message
    is for us.

    Source: Security Framework, 5.1.3, 2 and 3.
    """
    issuer, audience = claimed.get("iss"), claimed.get("aud")
    client = next(iter(audience), None) if isinstance(audience, list) else audience
    if not issuer:
        raise _refused('The "iss" field in the launch message is empty')
    found = platforms.find(str(issuer), str(client)) if client else None
    if found is None:
        raise _refused("no such issuer and client is registered here")
    if platforms.by_ident(login.platform) is None:
        raise LaunchRefused("the platform of this login is no longer registered.")
    if found.ident != login.platform:
        raise LaunchRefused("the login went to one platform, but another platform answered.")
    return found


def _proven(
    platform: Platform, known: PlatformKeys, header: Mapping[str, Any], token: str
) -> dict[str, Any]:
    """Return the claims of a token that the platform has just signed for us.

    Sources: Security Framework, 5.1.3, 1 to 8, and 6.3; RFC 8725, 3.1. The RFC requires that
    we, and not the token, choose the algorithm.
    """
    kid, algorithm = header.get("kid"), header.get("alg")
    if not kid:
        raise _refused("JWT KID not found")
    if not algorithm:
        raise _refused("JWT ALG not found")
    for key in known.key_set(platform, str(kid)):
        if key.get("kid") == kid and key.get("alg", ALGORITHM) == algorithm:
            break
    else:
        raise _refused("Unable to find public key")
    try:
        public = jwt.PyJWK({name: key.get(name) for name in ("kty", "n", "e")}, ALGORITHM)
    except jwt.PyJWTError as error:
        raise _refused("Can't convert JWT key to PEM format") from error
    client = platform.client_id
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            public,
            algorithms=[ALGORITHM],
            audience=client,
            issuer=platform.issuer,
            leeway=SKEW_S,
            options={"require": list(NEEDED), "verify_sub": False},  # the claim `sub` may be null
        )
    except jwt.PyJWTError as error:
        raise _refused(str(error) or type(error).__name__) from error
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if (several or claims.get("azp") is not None) and claims.get("azp") != client:
        raise _refused("the claim `azp` names another client")
    if int(claims["iat"]) < time.time() - LOGIN_S - SKEW_S:
        raise _refused("the token is older than the login allows")
    return claims


def _wrong(platform: Platform, login: Login, claims: Mapping[str, Any]) -> str:
    """Return what is wrong with a signed message, or "" if the message is valid.

    Sources: LTI 1.3 core, 5.3.1 to 5.3.7; Deep Linking, 4.4.
    """
    deployment, kind = claims.get(f"{CLAIM}deployment_id"), claims.get(f"{CLAIM}message_type")
    target = claims.get(f"{CLAIM}target_link_uri")
    link, settings = claims.get(f"{CLAIM}resource_link"), claims.get(DEEP)
    if not deployment:
        return 'The "deployment_id" field is not set in the launch message\'s JWT body'
    if not platform.deploys(deployment):
        return f'The deployment ID "{deployment}" is not recognised'
    if not kind:
        return "Invalid message type"
    if kind not in (OPENING, CHOOSING):
        return "Unrecognized message type"
    if claims.get(f"{CLAIM}version") != VERSION:
        return "Incorrect version, expected 1.3.0"
    if target and login.target and target_hash(str(target)) != login.target:
        return "target_link_uri is another address than the login named"
    if claims.get(f"{CLAIM}roles") is None:
        return "Missing Roles Claim"
    if kind == OPENING:
        there = isinstance(link, dict) and link.get("id")
        return "" if there else "Missing Resource Link Id"
    if not settings or not isinstance(settings, dict):
        return "Missing Deep Linking Settings"
    types = settings.get("accept_types")
    if not isinstance(types, list) or "ltiResourceLink" not in types:
        return "Must support resource link placement types"
    shown = settings.get("accept_presentation_document_targets")
    return "" if shown else "Must support a presentation type"


def _refused(why: str) -> LaunchRefused:
    line = why.encode(errors="replace").decode().splitlines()[0].rstrip(".")
    return LaunchRefused(f"the platform's message is refused: {line[:REASON_CHARACTERS]}.")


# Deep linking: a teacher chooses a lesson or a lab, and the platform turns the choice into an
# activity.


@dataclass(frozen=True, slots=True)
class Choice:
    """An item that a teacher may choose.

    Args:
        custom: custom parameters of the item's launches: `lesson`, `lab`, `step`.
        most: maximum points of its grade book column. None if it has no column.
    """

    title: str
    about: str
    custom: dict[str, str] = field(default_factory=dict)
    most: float | None = None


def settings_of(launch: Launch) -> DeepLinking:
    """Return what the platform accepts (Deep Linking, 4.4.1).

    Raises:
        LaunchRefused: the platform accepts no link of the types that we offer.
    """
    found = launch.claims.choosing
    if found is None or "ltiResourceLink" not in found.accept_types:
        raise LaunchRefused("the platform does not accept a link to an activity here.")
    if not launch.platform.takes(found.deep_link_return_url):
        raise LaunchRefused(
            "the platform's return address does not use TLS.",
            remedy="Give the platform an address that begins with https://.",
        )
    return found


def answer(launch: Launch, keys: ToolKeys, choice: Choice, launch_url: str) -> str:
    """Return the signed message for the platform's return address.

    It is valid for CHOICE_S (Deep Linking, 4.5; Security Framework, 5.2.2).
    """
    given, now_s = settings_of(launch), int(time.time())
    message = {
        "iss": launch.platform.client_id,
        "aud": [launch.platform.issuer],
        "exp": now_s + CHOICE_S,
        "iat": now_s,
        "nonce": f"nonce-{secrets.token_hex(32)}",
        f"{CLAIM}deployment_id": launch.claims.deployment,
        f"{CLAIM}message_type": "LtiDeepLinkingResponse",
        f"{CLAIM}version": VERSION,
        f"{DEEP_CLAIM}content_items": [_item(given, choice, launch_url)],
    }
    if given.data is not None:
        message[f"{DEEP_CLAIM}data"] = given.data
    headers = {"kid": keys.signing.kid}
    return jwt.encode(message, keys.signing.pem, algorithm=ALGORITHM, headers=headers)


def _item(given: DeepLinking, choice: Choice, launch_url: str) -> dict[str, Any]:
    """Return a link to an activity (Deep Linking, 3.2).

    The link opens in a window, because browsers do not send our cookie in frames.
    """
    item: dict[str, Any] = {"type": "ltiResourceLink", "title": choice.title, "url": launch_url}
    if choice.most and given.accept_lineitem is not False:
        resource = next(iter(choice.custom.values()))
        column = {"scoreMaximum": choice.most, "label": choice.title, "resourceId": resource}
        item["lineItem"] = column
    if choice.custom:
        item["custom"] = choice.custom
    if "window" in given.accept_presentation_document_targets:
        item["window"] = {"targetName": "_blank"}
    return item
