# SPDX-License-Identifier: GPL-2.0-or-later
"""Rate limit for class codes, so that nobody can find a valid code by trying many.

A code has three words, so a fast program could guess a code. A token has 256 bits and needs no rate
limit. Each browser, each address and the complete server have an allowance of tries. A wrong code
uses up a part of each of these allowances, and a right code uses up nothing. A client without
allowance is not refused, but has to wait.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass

from duet.base.budgets import (
    CODE_WAIT_S,
    CODES_OF_ADDRESS,
    CODES_OF_ALL,
    CODES_OF_BROWSER,
    CodePace,
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Permission to check one class code.

    Args:
        wait_s: time to wait before the check.
        keys: the rate limits that a wrong code counts against.
    """

    wait_s: float
    keys: tuple[tuple[str, CodePace], ...]


class CodeTurns:
    """Decides when the server checks each class code. Clients get turns in the order of requests.

    For each key, this class stores the time at which the allowance will be complete again (the
    generic cell rate algorithm, ITU-T I.371). The limit for all clients together bounds the number
    of keys.

    Args:
        clock: returns monotonic time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used_until_s: dict[str, float] = {}

    def take(self, browser: str, address: str) -> Turn | None:
        """Return the next turn, or None if the wait for it would exceed CODE_WAIT_S.

        Args:
            browser: the browser's name if it has our cookie, otherwise empty.
        """
        now_s = self._clock()
        self._used_until_s = {k: s for k, s in self._used_until_s.items() if s > now_s}
        keys = [("all", CODES_OF_ALL), (f"address {network_of(address)}", CODES_OF_ADDRESS)]
        if browser:
            keys.append((f"browser {browser}", CODES_OF_BROWSER))
        used = {key: self._used_until_s.get(key, now_s) for key, _ in keys}
        wait_s = max(
            0.0, *(used[key] - now_s - (pace.free - 1) * pace.every_s for key, pace in keys)
        )
        if wait_s > CODE_WAIT_S:
            return None
        self._used_until_s |= {key: used[key] + pace.every_s for key, pace in keys}
        return Turn(wait_s, tuple(keys))

    def was_right(self, turn: Turn) -> None:
        """Refund the cost of a turn, because the code was right."""
        for key, pace in turn.keys:
            if key in self._used_until_s:
                self._used_until_s[key] -= pace.every_s


def network_of(address: str) -> str:
    """Return the network that counts as one address. For IPv6, this is the host's /64 network (RFC
    6177)."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if found.version == 4:
        return str(found)
    mapped = found.ipv4_mapped
    return str(mapped) if mapped else str(ipaddress.ip_network((found, 64), strict=False))
