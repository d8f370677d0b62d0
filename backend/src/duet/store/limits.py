# SPDX-License-Identifier: GPL-2.0-or-later
"""Time limits and sizes of the database."""

from __future__ import annotations

from typing import Final

CALL_S: Final = 15.0
"""From a call to its commit. Usual: 5-20 ms, the time of a sync of the disk."""
CLOSE_S: Final = 15.0
"""For what waits to be stored when the server ends."""
BUSY_MS: Final = 5000
"""SQLite waits so long for another process, such as a backup that begins."""
TOGETHER: Final = 64
"""Calls that share a transaction, and with it one sync of the disk."""
DAY_S: Final = 86400.0
PROBE_S: Final = 2
"""Among several servers: a silent connection of server and database is probed so often."""
PROBES: Final = 3
"""Probes without an answer, until the other side counts as gone and its classes are free."""
DEAD_PEER_S: Final = 8
"""To connect to the database of several servers, or until what was sent there is confirmed."""
LOCK_S: Final = 15
"""For a lock of the database of several servers. Usual: 1 ms."""
HUNG_S: Final = 10.0
"""A server that has a class and leaves its database session unused for so long hangs: another one
may end that session. Usual: a look each second; without an answer it gives up after 7 s."""
END_MS: Final = 1000
"""For the database to end such a session. Usual: 1 ms."""
