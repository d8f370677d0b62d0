# SPDX-License-Identifier: GPL-2.0-or-later
"""Timeouts and sizes of the database."""

from __future__ import annotations

from typing import Final

CALL_S: Final = 15.0
"""Timeout from a call to its commit. Usual: 5-20 ms, one sync of the disk."""
CLOSE_S: Final = 15.0
"""Timeout for queued calls when the server shuts down."""
BUSY_MS: Final = 5000
"""SQLite's busy timeout, for example while a backup begins."""
TOGETHER: Final = 64
"""Maximum number of calls that share a transaction, and thus one disk sync."""
DAY_S: Final = 86400.0
PROBE_S: Final = 2
"""Several servers: interval of TCP keepalive probes between server and database, in seconds."""
PROBES: Final = 3
"""Unanswered probes after which the peer counts as dead and its classes are released."""
DEAD_PEER_S: Final = 8
"""Several servers: timeout for connecting to the database, and for confirmation of sent data."""
LOCK_S: Final = 15
"""Several servers: timeout for a lock of the database. Usual: 1 ms."""
HUNG_S: Final = 10.0
"""A server that owns a class counts as hanging if its session is idle for this long. Another server
may then end the session. Usual: the server polls each second, and gives up after 7 s without an
answer."""
END_MS: Final = 1000
"""Timeout for the database to end such a session. Usual: 1 ms."""
