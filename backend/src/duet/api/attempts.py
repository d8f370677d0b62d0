# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts wrong tokens, so that nobody tries many."""

from __future__ import annotations

import ipaddress
import time
from collections import deque
from collections.abc import Callable

from duet.budgets import WRONG_TOKENS, WRONG_TOKENS_PER_ADDRESS, WRONG_TOKENS_WINDOW_S


class Attempts:
    """Wrong tokens of the last WRONG_TOKENS_WINDOW_S; never more than WRONG_TOKENS entries.

    Args:
        clock: monotonic time in s.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: deque[tuple[float, str]] = deque(maxlen=WRONG_TOKENS)

    def refused(self, address: str) -> bool:
        """Whether no token from this address is looked at now."""
        while self._wrong and self._wrong[0][0] < self._clock() - WRONG_TOKENS_WINDOW_S:
            self._wrong.popleft()
        if len(self._wrong) >= WRONG_TOKENS:
            return True
        network = network_of(address)
        return sum(each == network for _, each in self._wrong) >= WRONG_TOKENS_PER_ADDRESS

    def add(self, address: str) -> None:
        """A wrong token came."""
        self._wrong.append((self._clock(), network_of(address)))


def network_of(address: str) -> str:
    """What counts as one address: a host has a whole /64 of IPv6 (RFC 6177)."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if found.version == 4:
        return str(found)
    mapped = found.ipv4_mapped
    return str(mapped) if mapped else str(ipaddress.ip_network((found, 64), strict=False))
