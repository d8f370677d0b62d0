# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel build beside the event loop, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

STOP_S = 1.0
"""A build that must stop gets this; compilers stop at once, unpacking does not."""

Tell = Callable[..., None]
"""tell(call, *arguments): makes the call on the event loop."""


async def build_beside(work: Callable[[Tell, threading.Event], None]) -> None:
    """Run a build; cancelled, it is stopped.

    The thread lives until the build returns, since make ends with the thread that started it. It
    is a daemon: unpacking cannot be stopped half-way, and the server must not wait for it; its
    programs die with the process (PDEATHSIG).

    Args:
        work: gets `tell` for its progress, and an event that asks it to stop.

    Raises:
        Exception: what `work` raised.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    stop = threading.Event()

    def tell(call: Callable[..., None], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, the server is ending
            loop.call_soon_threadsafe(call, *arguments)

    def settle(error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        try:
            work(tell, stop)
        except Exception as error:
            tell(settle, error)
        else:
            tell(settle, None)

    threading.Thread(target=run, name="kernel build", daemon=True).start()
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait({done}, timeout=STOP_S)
        done.cancel()
        raise
