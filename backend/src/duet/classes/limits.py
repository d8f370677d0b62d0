# SPDX-License-Identifier: GPL-2.0-or-later
"""Time limits and sizes of the store of classes."""

from __future__ import annotations

from typing import Final

CALL_S: Final = 15.0
"""From a call to its commit. Usual: 5-20 ms, the time of a sync of the disk."""
CLOSE_S: Final = 15.0
"""For what waits to be stored when the server ends."""
OPEN_S: Final = 60.0
"""To open the database and bring it to the newest revision. Usual: 0.5 s."""
BUSY_MS: Final = 5000
"""SQLite waits so long for another process, such as a backup that begins."""
TOGETHER: Final = 64
"""Calls that share a transaction, and with it one sync of the disk."""
UNUSED_DAYS: Final = 60
"""A class that nobody ended and nobody visited for so long ends when a server starts."""
DAY_S: Final = 86400.0
