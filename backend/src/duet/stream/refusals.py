# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole HTTP responses for connections that are closed before a request is served."""

from __future__ import annotations

import json

from duet import budgets


def no_room(status: bytes, code: str, sentence: str, remedy: str) -> bytes:
    """A whole HTTP response."""
    error = {"code": code, "sentence": sentence, "remedy": remedy, "detail": ""}
    body = json.dumps({"error": error}).encode()
    return (
        b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
        b"retry-after: %d\r\nconnection: close\r\n\r\n%b"
        % (status, len(body), budgets.RETRY_AFTER_S, body)
    )


FULL = no_room(
    b"503 Service Unavailable",
    "full",
    "this server has no room for another connection now.",
    f"Try again in {budgets.RETRY_AFTER_S} seconds.",
)
LATE = no_room(
    b"408 Request Timeout",
    "late",
    f"no whole request came within {budgets.HEADER_S:.0f} seconds.",
    "Ask again.",
)
