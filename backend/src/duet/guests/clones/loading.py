# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU is up, and is asked by its monitor, so that a copy has its template's state."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from duet.guests.clones.file_memory import WITHOUT_MEMORY
from duet.guests.ports import Ports
from duet.guests.qmp import Monitor

LOOK_S = 0.005
"""Between two looks whether the state is loaded, where nobody waits for the copy."""


async def joined(ports: Ports, end: Coroutine[None, None, None]) -> bool:
    """Until QEMU has connected its ports; False: it has ended instead.

    Args:
        end: returns when QEMU has ended.
    """
    ended = asyncio.create_task(end)
    there = asyncio.create_task(ports.joined.wait())
    try:
        await asyncio.wait((ended, there), return_when=asyncio.FIRST_COMPLETED)
        return not ended.done()
    finally:
        for task in (ended, there):
            task.cancel()


async def load(monitor: Monitor, state: int) -> None:
    """Have QEMU begin to read the state behind a descriptor that it has inherited.

    Raises:
        InfraError: it refuses, or has ended.
    """
    await monitor.do("migrate-set-capabilities", capabilities=WITHOUT_MEMORY)
    await monitor.do("migrate-incoming", uri=f"fd:{state}")


async def loaded(monitor: Monitor) -> None:
    """Until it has read all. It ends if it cannot, and so does the connection. The caller sets
    the time limit.

    Raises:
        InfraError: it has ended.
    """
    while True:
        state = await monitor.do("query-migrate")
        if state.get("status") == "completed":
            return
        await asyncio.sleep(LOOK_S)
