# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a server after a signal, whatever its event loop does.

The kernel's wake-up byte of a signal goes to a thread of its own: it arms the deadline first and
then asks the loop to end. Handlers of the loop itself would wait until the loop has time.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
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
