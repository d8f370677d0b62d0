# SPDX-License-Identifier: GPL-2.0-or-later
"""What a platform's browser brings: parameters, the address it came to, the cookie of its login."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl

from fastapi import Request

from duet.api.front import asked_of
from duet.api.sessions import cookie_name
from duet.lti.limits import FORM_BYTES
from duet.lti.refused import LaunchRefused

LAUNCH: Final = "/lti/launch"


def launch_url(request: Request) -> str:
    """The address that platforms have as redirect URI."""
    asked = asked_of(request.scope)
    if asked.public is not None:
        return f"{str(asked.public).rstrip('/')}{LAUNCH}"
    return f"{request.scope['scheme']}://{asked.host}{LAUNCH}"


def state_name(scope: Any, nonce: str) -> str:
    """A cookie for each login: several activities may be opened at once."""
    return f"{cookie_name(scope)}-lti-{nonce[:12]}"


def state_cookie(scope: Any, nonce: str, value: str, seconds: int) -> str:
    """The Set-Cookie header of a login; 0 s: it goes.

    The launch is a POST from the platform's page. With TLS the cookie says that it comes along
    (and, in a frame, belongs to the page around it); without TLS no browser takes that word, and
    Chromium alone sends cookies without SameSite along, for two minutes.
    """
    line = f"{state_name(scope, nonce)}={value}; Path={asked_of(scope).root}/lti/; "
    line += f"Max-Age={seconds}; HttpOnly"
    secure = scope.get("scheme") in ("https", "wss")
    return line + ("; Secure; SameSite=None; Partitioned" if secure else "")


async def values_of(request: Request) -> dict[str, str]:
    """Parameters of the query, or of the form of a POST.

    Raises:
        LaunchRefused: it is too large, or no form.
    """
    text = request.scope["query_string"].decode("latin-1")
    if request.method == "POST":
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > FORM_BYTES:
                raise LaunchRefused(f"a form of more than {FORM_BYTES} bytes came.")
        text = body.decode("latin-1")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=100)
    except ValueError as error:
        raise LaunchRefused("what came is not a form.") from error
    return dict(pairs)
