# SPDX-License-Identifier: GPL-2.0-or-later
"""The one database session of a server among several: its locks say which classes it owns.

A session that breaks has lost its locks, and another server may own its classes by the time that
the next session begins. So what was asked for under a former session is refused in the new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, event

from duet.base.errors import InfraError
from duet.classes.limits import DEAD_PEER_S, LOCK_S, PROBE_S, PROBES

Result = TypeVar("Result")
INFO: Final = "duet session"
SETTINGS: Final = {
    "tcp_keepalives_idle": str(PROBE_S),
    "tcp_keepalives_interval": str(PROBE_S),
    "tcp_keepalives_count": str(PROBES),
    "tcp_user_timeout": str(DEAD_PEER_S * 1000),
    "lock_timeout": f"{LOCK_S}s",
}
"""The database finds out by itself that a server's machine is gone, and frees its classes.

Linux probes no connection on which something waits for its confirmation; tcp_user_timeout is for
those.
"""


def connect_args(server: str) -> dict[str, Any]:
    """What libpq needs: where this server is reached, and when the database counts as gone."""
    return {
        "application_name": server,
        "connect_timeout": DEAD_PEER_S,
        "keepalives_idle": PROBE_S,
        "keepalives_interval": PROBE_S,
        "keepalives_count": PROBES,
        "tcp_user_timeout": DEAD_PEER_S * 1000,
    }


class Sessions:
    """Numbers sessions. The event loop has one number; the thread of the store sees the newest.

    Attributes:
        lost: called on the loop when a session has been lost, before anything is asked in the next.
    """

    def __init__(self) -> None:
        self.lost: Callable[[], None] = lambda: None
        self._known = 1
        self._made = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self) -> None:
        """On the loop that asks."""
        self._loop = asyncio.get_running_loop()

    def attach(self, engine: Engine) -> None:
        """Number the sessions of an engine."""
        event.listen(engine, "connect", self._connected)

    def fenced(self, work: Callable[[Connection], Result]) -> Callable[[Connection], Result]:
        """The same work, refused in any session but that of now."""
        asked = self._known

        def checked(connection: Connection) -> Result:
            found = int(connection.info[INFO])
            if found != asked:
                if self._loop is not None:
                    self._loop.call_soon_threadsafe(self._renew, found)
                raise InfraError(
                    "the connection to the database of classes broke, and there is a new one.",
                    remedy="Try again in some seconds.",
                )
            return work(connection)

        return checked

    def _connected(self, connection: Any, record: Any) -> None:
        self._made += 1
        record.info[INFO] = self._made
        for name, value in SETTINGS.items():
            connection.execute(f"SET {name} = '{value}'")
        connection.commit()

    def _renew(self, found: int) -> None:
        if found > self._known:
            self._known = found
            self.lost()
