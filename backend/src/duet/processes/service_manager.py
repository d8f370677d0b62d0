# SPDX-License-Identifier: GPL-2.0-or-later
"""What a service manager learns of the server: it listens, its event loop goes on, it ends.

The protocol of sd_notify(3): datagrams to the socket that NOTIFY_SOCKET names. With WATCHDOG_USEC,
systemd ends a server that says nothing for so long, and starts it again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator
from typing import Final

WITHIN_A_TIMEOUT: Final = 3
"""How often the server says that it goes on; sd_watchdog_enabled(3) wants twice at least."""
log = logging.getLogger("duet.service")


class ServiceManager:
    """Of the process that started this one, if it is one.

    Attributes:
        watchdog_s: it wants a word that often; None: it wants none.
    """

    def __init__(self) -> None:
        self._address = os.environ.get("NOTIFY_SOCKET", "")
        if self._address.startswith("@"):  # an abstract one (unix(7))
            self._address = "\0" + self._address[1:]
        self.watchdog_s = _watchdog_s() if self._address else None

    def listening(self) -> None:
        """The server takes connections."""
        self._say("READY=1")

    def ending(self) -> None:
        """The server begins to end."""
        self._say("STOPPING=1")

    @contextlib.asynccontextmanager
    async def going_on(self) -> AsyncIterator[None]:
        """Within the block it learns that the event loop goes on."""
        saying = asyncio.create_task(self._go_on(), name="service manager")
        try:
            yield
        finally:
            saying.cancel()

    async def _go_on(self) -> None:
        if self.watchdog_s is None:
            return
        while True:
            self._say("WATCHDOG=1")
            await asyncio.sleep(self.watchdog_s / WITHIN_A_TIMEOUT)

    def _say(self, what: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as end:
                end.sendto(what.encode(), self._address)
        except OSError as error:
            log.warning("the service manager was not reached (%s): %s", what, error)


def _watchdog_s() -> float | None:
    """Of this process: a child has its parent's variables."""
    text = os.environ.get("WATCHDOG_USEC", "")
    meant = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    return int(text) / 1e6 if meant and text.isdecimal() and int(text) > 0 else None
