# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of a platform, changed and signed again, or not, as somebody who forges them does."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import jwt

from tests.plugins.lti.platform_side import KeyPair, Platform

DEPLOYMENT = "https://purl.imsglobal.org/spec/lti/claim/deployment_id"
Forgery = Callable[[str, Platform], str]


def part(tree: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(tree).encode()).decode().rstrip("=")


def claims_of(token: str) -> dict[str, Any]:
    return jwt.decode(token, options={"verify_signature": False})


def signed(claims: dict[str, Any], key: KeyPair, kid: str | None = None) -> str:
    headers = {"kid": kid or key.kid}
    return jwt.encode(claims, key.private, algorithm="RS256", headers=headers)


def changed(**change: Any) -> Forgery:
    """A message that the platform itself signs, with other claims; None leaves one out."""

    def forge(token: str, platform: Platform) -> str:
        tree = claims_of(token) | change
        return signed({k: v for k, v in tree.items() if v is not None}, platform.key)

    return forge


def by_another_key(token: str, platform: Platform) -> str:
    """The platform's key id, another key."""
    return signed(claims_of(token), KeyPair(), platform.key.kid)


def by_an_unknown_key(token: str, platform: Platform) -> str:
    return signed(claims_of(token), KeyPair())


def without_signature(token: str, platform: Platform) -> str:
    """alg none (RFC 8725, 3.1)."""
    head = part({"alg": "none", "typ": "JWT", "kid": platform.key.kid})
    return f"{head}.{token.split('.')[1]}."


def by_the_public_key(token: str, platform: Platform) -> str:
    """HS256 with the public key as secret (RFC 8725, 2.1)."""
    import hashlib
    import hmac

    head = part({"alg": "HS256", "typ": "JWT", "kid": platform.key.kid})
    body = f"{head}.{token.split('.')[1]}"
    digest = hmac.new(platform.key.public.encode(), body.encode(), hashlib.sha256).digest()
    return f"{body}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


def another_body(token: str, platform: Platform) -> str:
    head, _, signature = token.split(".")
    return f"{head}.{part(claims_of(token) | {'sub': 'teacher-1'})}.{signature}"


def mangled(token: str, platform: Platform) -> str:
    return token[: len(token) // 2]


def no_json(token: str, platform: Platform) -> str:
    return "bm8.bm8.bm8"


def strange_types(token: str, platform: Platform) -> str:
    return f"{part({'alg': 'RS256', 'kid': ['x']})}.{part({'iss': ['x'], 'aud': {}, 'nonce': 1})}.x"
