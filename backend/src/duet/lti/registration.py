# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests and registrations in the form that pylti1p3next takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pylti1p3.deployment import Deployment
from pylti1p3.exception import LtiException
from pylti1p3.registration import Registration
from pylti1p3.request import Request
from pylti1p3.tool_config.abstract import ToolConfAbstract

from duet.lti.keyfile import ToolKeys
from duet.lti.platforms import Platform, Platforms


class Form(Request):
    """A request's parameters."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    @property
    def session(self) -> dict[str, object]:
        """Nothing: the state has all."""
        return {}

    def is_secure(self) -> bool:
        """Only the library's own pages ask."""
        return True

    def get_param(self, key: str) -> str:
        """Empty: it did not come."""
        return self._values.get(key, "")


class ToolRegistration(Registration):
    """A registration that signs with our key of now."""

    def __init__(self, platform: Platform, keys: ToolKeys) -> None:
        self.platform = platform
        self._kid = keys.signing.kid
        self.set_issuer(platform.issuer).set_client_id(platform.client_id)
        self.set_auth_login_url(platform.auth_url).set_auth_token_url(platform.token_url)
        self.set_key_set_url(platform.keys_url).set_tool_private_key(keys.signing.pem)
        if platform.audience:
            self.set_auth_audience(platform.audience)

    def get_kid(self) -> str:
        """Names the key in what we sign."""
        return self._kid


class Config(ToolConfAbstract[Request]):
    """Our registrations, as the library looks for them."""

    def __init__(self, platforms: Platforms, keys: ToolKeys) -> None:
        self._platforms = platforms
        self._keys = keys

    def check_iss_has_one_client(self, iss: str) -> bool:
        """The library's older form, which we do not use."""
        return False

    def find_registration_by_issuer(self, iss: str, *_: Any, **__: Any) -> ToolRegistration:
        """The library's older form, which we do not use."""
        raise NotImplementedError

    def find_deployment(self, iss: str, deployment_id: str) -> Deployment | None:
        """The library's older form, which we do not use."""
        raise NotImplementedError

    def find_registration_by_params(
        self, iss: str, client_id: str, *_: Any, **__: Any
    ) -> ToolRegistration:
        """The registration of an issuer and a client.

        Raises:
            LtiException: there is none.
        """
        found = self._platforms.find(iss, client_id) if client_id else None
        if found is None:
            raise LtiException("no such issuer and client is registered here")
        return ToolRegistration(found, self._keys)

    def find_deployment_by_params(
        self, iss: str, deployment_id: str, client_id: str, *_: Any, **__: Any
    ) -> Deployment | None:
        """None: not registered."""
        found = self._platforms.find(iss, client_id)
        return Deployment() if found and found.deploys(deployment_id) else None
