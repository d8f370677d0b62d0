# SPDX-License-Identifier: GPL-2.0-or-later
"""Time and size limits for servers that share classes."""

from __future__ import annotations

from typing import Final

from duet.store.limits import DEAD_PEER_S

FIND_S: Final = 15.0
"""Time limit for a page to enter a class whose owner is dying. Usual: 5 ms. The database frees the
classes of a killed server within 10 ms, and the classes of a machine that lost power within 8 s.
"""
RETRY_S: Final = 0.2
"""Time between two queries for a class's owner."""
DIAL_S: Final = 3.0
"""Time limit for connecting to another server. Usual: 5 ms."""
CALL_S: Final = 20.0
"""Time limit for a command that the owner carries out. The owner may need up to
duet.store.limits.CALL_S to store an answer.
"""
LOST_S: Final = 8.0
"""A server that is silent for this long counts as lost. Each server sends something every 2 s."""
LOOK_S: Final = 1.0
"""Time between two queries for classes that other servers have begun or ended."""
GIVE_UP_S: Final = DEAD_PEER_S - LOOK_S
"""A server that gets no answer from the database for this long releases its classes, because other
servers may claim them soon. Usual: an answer each second.
"""
HELD_S: Final = 10.0
"""Time between two queries for the saved runs that classes keep."""
CALLS_AHEAD: Final = 200
"""Maximum number of commands in flight over one connection. The other end accepts a few more than
that.
"""
PAGES: Final = 1200
"""Maximum number of pages on one connection. It equals the number of sockets of a server."""
BODY_BYTES: Final = 4 << 20
"""Maximum size of a message to a page. Usual: 0.2 to 60 KiB."""
RUN_S: Final = 5.0
"""Time limit for finding another server's live run and its first message. Usual: 20 ms.
"""
HAS_RUN_S: Final = 2.0
"""Time limit for all other servers to say whether they have a run. Usual: 10 ms."""
MIRRORS: Final = 8
"""Number of other servers' runs kept in memory. Unfinished runs stay in memory even beyond this
number.
"""
