# SPDX-License-Identifier: GPL-2.0-or-later
"""Public keys of platforms: read when they are needed, and again when a platform has a new one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import requests

from duet.base.errors import InfraError
from duet.lti.http import PlatformSession
from duet.lti.limits import KEYS_AGAIN_S, PLATFORM_KEYS_S
from duet.lti.platforms import Platform


@dataclass
class _Known:
    lock: threading.Lock = field(default_factory=threading.Lock)
    keys: tuple[dict[str, Any], ...] = ()
    read_s: float | None = None

    def older_than(self, seconds: float, now_s: float) -> bool:
        return self.read_s is None or now_s - self.read_s >= seconds


class PlatformKeys:
    """Key sets by platform; for threads.

    Args:
        again_s: an unknown key makes us read a key set again, but not more often.
        clock: monotonic time in s.
    """

    def __init__(
        self, again_s: float = KEYS_AGAIN_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._again_s = again_s
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def key_set(self, platform: Platform, kid: str) -> dict[str, Any]:
        """The key set of a platform, read anew if that may bring the key.

        Raises:
            InfraError: the platform did not give it.
        """
        with self._lock:
            known = self._known.setdefault(platform.ident, _Known())
        with known.lock:
            there = any(key.get("kid") == kid for key in known.keys)
            if known.older_than(PLATFORM_KEYS_S if there else self._again_s, self._clock()):
                known.keys = _fetched(platform)
                known.read_s = self._clock()
            return {"keys": list(known.keys)}


def _fetched(platform: Platform) -> tuple[dict[str, Any], ...]:
    try:
        with PlatformSession() as session:
            answer = session.get(platform.keys_url)
        answer.raise_for_status()
        keys = answer.json()["keys"]
        return tuple(key for key in keys if isinstance(key, dict))
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        raise InfraError(
            f"the keys of the platform '{platform.name:.60}' could not be read.",
            remedy="Try again in a minute; the person who runs this server finds why in its log.",
            detail=f"{platform.keys_url}: {error}",
        ) from error
