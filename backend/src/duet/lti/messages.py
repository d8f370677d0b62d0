# SPDX-License-Identifier: GPL-2.0-or-later
"""Login and launch of pylti1p3next, made stricter where it is lax.

The library looks at nothing of the audience but its first entry, allows no difference of clocks,
takes a token of any age, never uses a nonce up, and fetches keys without a time limit.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

import jwt
from pylti1p3.cookie import CookieService
from pylti1p3.message_launch import MessageLaunch
from pylti1p3.oidc_login import OIDCLogin
from pylti1p3.session import SessionService

from duet.lti.limits import LOGIN_S, SKEW_S
from duet.lti.platform_keys import PlatformKeys
from duet.lti.registration import Config, Form, ToolRegistration
from duet.lti.state import Login

ALGORITHM = "RS256"
NEEDED = ("iss", "aud", "exp", "iat", "nonce")


class _Service(SessionService):
    """Stores nothing; the nonce is compared with that of the state."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce

    def save_nonce(self, nonce: str) -> None:
        """It is in the state."""

    def check_nonce(self, nonce: str) -> bool:
        """Whether it is the one of the login."""
        return bool(self._nonce) and secrets.compare_digest(
            str(nonce).encode(), self._nonce.encode()
        )

    def check_state_is_valid(self, state: str, id_token_hash: str) -> bool:
        return False

    def save_launch_data(self, key: str, jwt_body: Mapping[str, Any]) -> None: ...

    def set_state_valid(self, state: str, id_token_hash: str) -> None: ...


class _Cookies(CookieService):
    """The library compares a state with the cookie of that name; ours has already been checked."""

    def __init__(self, state: str = "") -> None:
        self._state = state

    def get_cookie(self, name: str) -> str | None:
        return self._state or None

    def set_cookie(self, name: str, value: str | int, exp: int | None = 3600) -> None:
        """The route sets ours."""


class ToolLogin(OIDCLogin[Any, Any, Any, Any, str]):
    """A login whose state and nonce are ours."""

    def __init__(self, form: Form, config: Config, state: str, nonce: str) -> None:
        super().__init__(form, config, session_service=_Service(nonce), cookie_service=_Cookies())
        self._state, self._nonce = state, nonce

    def _get_uuid(self) -> str:
        return self._state

    def _generate_nonce(self) -> str:
        return self._nonce

    def address(self, launch_url: str) -> str:
        """Where the browser goes on, at the platform.

        Raises:
            OIDCException: a parameter is missing.
        """
        return str(self._prepare_redirect_url(launch_url))

    def get_redirect(self, url: str) -> Any:
        """The route redirects."""
        raise NotImplementedError


class ToolLaunch(MessageLaunch[Any, Any, Any, Any]):
    """A launch that belongs to a login; `validate` checks it."""

    def __init__(self, form: Form, config: Config, login: Login, known: PlatformKeys) -> None:
        cookies = _Cookies(form.get_param("state"))
        super().__init__(
            form, config, session_service=_Service(login.nonce), cookie_service=cookies
        )
        self._known = known

    def _get_request_param(self, key: str) -> str:
        return str(self._request.get_param(key))

    @property
    def registered(self) -> ToolRegistration | None:
        """The registration that it was found to be of."""
        found = self._registration
        return found if isinstance(found, ToolRegistration) else None

    def fetch_public_key(self, key_set_url: str) -> Any:
        """The platform's key set, as far as it is needed for this message."""
        registration = self.registered
        assert registration is not None
        kid = str(self._jwt.get("header", {}).get("kid", ""))
        return self._known.key_set(registration.platform, kid)

    def validate_jwt_signature(self) -> ToolLaunch:
        """Signature, audience, issuer and times.

        Raises:
            jwt.PyJWTError: one of them is wrong.
        """
        key, _ = self.get_public_key()
        registration = self.registered
        assert registration is not None
        client_id = registration.platform.client_id
        claims = jwt.decode(
            self._get_id_token(),
            key,
            algorithms=[ALGORITHM],
            audience=client_id,
            issuer=registration.platform.issuer,
            leeway=SKEW_S,
            options={"require": list(NEEDED), "verify_sub": False},  # it may be null
        )
        audience = claims["aud"]
        several = isinstance(audience, list) and len(audience) > 1
        authorized = claims.get("azp")
        if (several or authorized is not None) and authorized != client_id:
            raise jwt.InvalidAudienceError("azp is another client")
        if float(claims["iat"]) < time.time() - LOGIN_S - SKEW_S:
            raise jwt.ExpiredSignatureError("the token is older than its login")
        return self

    def validate_message(self) -> ToolLaunch:
        """What the library wants of each kind, but for a user: an anonymous launch has none.

        Raises:
            LtiException: something is missing.
        """
        body = self._jwt["body"]
        self._jwt["body"] = body | {"sub": body.get("sub") or "nobody"}
        try:
            super().validate_message()
        finally:
            self._jwt["body"] = body
        return self
