# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests to platforms: each has a time limit and a bound of its answer, none is redirected."""

from __future__ import annotations

import time
from typing import Any

import requests

from duet.lti.limits import ANSWER_BYTES, ANSWER_S, CONNECT_S

CHUNK_BYTES = 64 * 1024


class PlatformSession(requests.Session):
    """A session for the library, whose own calls name no limits."""

    def __init__(self) -> None:
        super().__init__()
        self.headers["User-Agent"] = "kernel-duet"
        self.auth = lambda request: request  # else ~/.netrc would replace our access token

    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        """One request.

        Raises:
            requests.RequestException: no answer in time, or one that is too long.
        """
        kwargs |= {"timeout": (CONNECT_S, ANSWER_S), "stream": True, "allow_redirects": False}
        begun_s = time.monotonic()
        with super().request(method, url, *args, **kwargs) as response:
            content = bytearray()
            for chunk in response.iter_content(CHUNK_BYTES):
                content += chunk
                if len(content) > ANSWER_BYTES:
                    raise requests.RequestException(f"more than {ANSWER_BYTES} bytes came")
                if time.monotonic() - begun_s > ANSWER_S:
                    raise requests.Timeout(f"no whole answer came within {ANSWER_S:.0f} s")
            response._content = bytes(content)
            if 300 <= response.status_code < 400:
                raise requests.TooManyRedirects("the platform sent us to another address")
        return response
