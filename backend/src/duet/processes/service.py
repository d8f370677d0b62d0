# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a server after a signal, whatever its event loop does.

The kernel's wake-up byte of a signal goes to a thread of its own: it arms the deadline first and
then asks the loop to end. Handlers of the loop itself would wait until the loop has time.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from types import FrameType
from typing import Final

END_S: Final = 5.0
"""From the signal to the end of the process. Guests die with their owner."""
MARGIN_S: Final = 0.5
"""Of these, for the kernel to take the process down."""
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def ending(end: Callable[[], None], end_s: float = END_S) -> Iterator[None]:
    """While this lasts, a signal calls `end` in a thread; a second one ends the process at once.

    Must be entered in the main thread. The deadline goes on after the block: leaving the
    interpreter may hang as well.

    Args:
        end: begins the end; must not wait.
        end_s: from the signal until the process is ended with code 1 and its stacks are printed.
    """
    ours, kernels = socket.socketpair()
    kernels.setblocking(False)
    former_fd = signal.set_wakeup_fd(kernels.fileno(), warn_on_full_buffer=False)
    former = {number: signal.signal(number, _nothing) for number in SIGNALS}
    threading.Thread(target=_watch, args=(ours, end, end_s), name="ending", daemon=True).start()
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(former_fd)
        kernels.close()


def _watch(wakeups: socket.socket, end: Callable[[], None], end_s: float) -> None:
    asked = False
    while numbers := wakeups.recv(16):
        for number in numbers:
            if number not in SIGNALS:
                continue
            if asked:
                os._exit(1)
            asked = True
            arm(end_s)
            end()
    wakeups.close()


def arm(end_s: float) -> None:
    """End the process then, from a thread that needs no interpreter lock."""
    with contextlib.suppress(ValueError, OSError, AttributeError):  # stderr may be closed
        faulthandler.dump_traceback_later(end_s - MARGIN_S, exit=True, file=sys.stderr)
        return
    last = threading.Timer(end_s - MARGIN_S, os._exit, (1,))
    last.daemon = True
    last.start()


def _nothing(number: int, frame: FrameType | None) -> None:
    """The handler: without one the signal would end the process."""


# What a service manager learns of the server: it listens, its event loop goes on, it ends.
#
# The protocol of sd_notify(3): datagrams to the socket that NOTIFY_SOCKET names. With
# WATCHDOG_USEC, systemd ends a server that says nothing for so long, and starts it again.

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
