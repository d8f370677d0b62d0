# SPDX-License-Identifier: GPL-2.0-or-later
"""Shut down a server after a signal, even if its event loop hangs.

A separate thread reads the wake-up byte of a signal. This thread first arms the deadline, and then
asks the event loop to end. The loop's own signal handlers run only when the loop is free, so a
hanging loop would never run the handlers.
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
"""Deadline from the signal to the end of the process. Guests die with their owner."""
MARGIN_S: Final = 0.5
"""Part of END_S that is reserved for the kernel to tear the process down."""
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def ending(end: Callable[[], None], end_s: float = END_S) -> Iterator[None]:
    """Call `end` in a thread on the first signal; exit immediately on the second.

    Enter the block in the main thread. The deadline stays armed after the block, because the exit
    of the interpreter may hang too.

    Args:
        end: function that starts the shutdown; it must not block.
        end_s: time from the signal until the process prints its stacks and exits with code 1.
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
    """End the process before `end_s` has passed, from a thread that needs no interpreter lock."""
    with contextlib.suppress(ValueError, OSError, AttributeError):  # if stderr is closed
        faulthandler.dump_traceback_later(end_s - MARGIN_S, exit=True, file=sys.stderr)
        return
    last = threading.Timer(end_s - MARGIN_S, os._exit, (1,))
    last.daemon = True
    last.start()


def _nothing(number: int, frame: FrameType | None) -> None:
    """Ignore a signal. Without a handler, the signal would kill the process."""


# Notify the service manager that the server listens, that its event loop runs, or that it shuts
# down.
#
# The protocol is that of sd_notify(3): datagrams to the socket that NOTIFY_SOCKET names. systemd
# restarts a server that sends nothing for WATCHDOG_USEC.

WITHIN_A_TIMEOUT: Final = 3
"""Watchdog notifications in each timeout; sd_watchdog_enabled(3) recommends two."""
log = logging.getLogger("duet.service")


class ServiceManager:
    """Client of the service manager; does nothing if no service manager started this process.

    Attributes:
        watchdog_s: longest time between two notifications; None if the watchdog is off.
    """

    def __init__(self) -> None:
        self._address = os.environ.get("NOTIFY_SOCKET", "")
        if self._address.startswith("@"):  # the address is an abstract socket (unix(7))
            self._address = "\0" + self._address[1:]
        self.watchdog_s = _watchdog_s() if self._address else None

    def listening(self) -> None:
        """Report that the server accepts connections."""
        self._say("READY=1")

    def ending(self) -> None:
        """Report that the server begins to shut down."""
        self._say("STOPPING=1")

    @contextlib.asynccontextmanager
    async def going_on(self) -> AsyncIterator[None]:
        """Notify the watchdog from the event loop while the block runs."""
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
            log.warning("cannot send %s to the service manager: %s", what, error)


def _watchdog_s() -> float | None:
    """Return the watchdog timeout; None if the watchdog is off, or is for the parent process."""
    text = os.environ.get("WATCHDOG_USEC", "")
    meant = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    return int(text) / 1e6 if meant and text.isdecimal() and int(text) > 0 else None
