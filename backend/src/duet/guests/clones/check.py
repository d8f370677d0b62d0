# SPDX-License-Identifier: GPL-2.0-or-later
"""Is a copy of a new template sound? It goes on, writes to its disk, and its events arrive.

That its clock was stepped and its random numbers are its own is checked of every copy
(CloneMachine).
"""

from __future__ import annotations

import asyncio

from duet.errors import DuetError, InfraError
from duet.guests.boot import try_boot
from duet.guests.clones.check_run import verdict
from duet.guests.clones.machines import CloneMachine
from duet.guests.clones.plans import check_amendment
from duet.guests.clones.template import Template
from duet.guests.limits import CHECK_S
from duet.guests.types import Accel, GuestSpec
from duet.wire import FrameType, HostFrame, encode


async def check_copy(template: Template, spec: GuestSpec, accel: Accel) -> None:
    """Copy it once, run `duet-check` in it, and see its events arrive whole.

    Raises:
        DuetError: why no copy of it may be used.
    """
    machine = CloneMachine(spec, accel, template, check_amendment())
    try:
        async with asyncio.timeout(CHECK_S):
            failure: DuetError | None = await try_boot(machine, CHECK_S)
            if failure is not None:
                raise failure
            await machine.send(encode(HostFrame(FrameType.START)))
            why = await verdict(machine.chunks(), traced="trace off" not in template.plan)
    except TimeoutError:
        why = f"it took more than {CHECK_S:g} s"
    finally:
        await machine.close()
    if why:
        raise InfraError(
            f"a copy of lane {spec.arm} is not sound: {why}.",
            remedy="Guests are booted as before; the detail has the guest's console.",
            detail=machine.tail(),
        )
