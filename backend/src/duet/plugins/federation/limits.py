# SPDX-License-Identifier: GPL-2.0-or-later
"""Time limits and sizes between servers that share classes."""

from __future__ import annotations

from typing import Final

from duet.store.limits import DEAD_PEER_S

FIND_S: Final = 15.0
"""For a page to enter a class whose owner is dying. Usual: 5 ms; the database frees the classes
of a killed server within 10 ms, of a machine without power within 8 s.
"""
RETRY_S: Final = 0.2
"""Between two queries for the owner."""
DIAL_S: Final = 3.0
"""To connect to another server. Usual: 5 ms."""
CALL_S: Final = 20.0
"""For a command at the owner, which stores an answer within duet.store.limits.CALL_S."""
LOST_S: Final = 8.0
"""A server that is silent for this long is given up; each sends something every 2 s."""
LOOK_S: Final = 1.0
"""Between two queries for classes that other servers have begun or ended."""
GIVE_UP_S: Final = DEAD_PEER_S - LOOK_S
"""Without an answer of the database for this long, a server releases its classes, because
others may take them soon. Usual: an answer each second.
"""
HELD_S: Final = 10.0
"""Between two queries for saved runs that classes pin."""
CALLS_AHEAD: Final = 200
"""Commands in flight over one connection; the other end accepts some more."""
PAGES: Final = 1200
"""Most pages of one connection: as many as a server has sockets."""
BODY_BYTES: Final = 4 << 20
"""Largest message to a page. Usual: 0.2 to 60 KiB."""
RUN_S: Final = 5.0
"""To find a live run at another server, and for its first message. Usual: 20 ms."""
HAS_RUN_S: Final = 2.0
"""For all other servers to say whether they have a run. Usual: 10 ms."""
MIRRORS: Final = 8
"""Runs of other servers in memory; running ones stay beyond that."""
