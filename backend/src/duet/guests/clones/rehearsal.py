# SPDX-License-Identifier: GPL-2.0-or-later
"""A copy that stands ready has run `duet-check`, and its plan is set up anew.

QEMU translates guest code when it first runs: four fifths of a fresh copy's CPU time from RESUME
to its first event. A copy that has rehearsed has most of what a workload needs: fork, exec, page
faults, tracing, the ports. It is a guest after a short run, as any guest that serves a second
plan: buffers, probes, counters and the scratch disk are set up again.
"""

from __future__ import annotations

import asyncio

from duet.errors import InfraError
from duet.guests.clones.check_run import said_until, verdict
from duet.guests.limits import REHEARSAL_S, SETTLE_S
from duet.guests.ports import Ports
from duet.wire import FrameType, HostFrame, encode

REMEDY = "Copies of it stand ready without a rehearsal, and begin later."


async def rehearse(ports: Ports, plan: str) -> bytes:
    """Run what the agent was resumed with, which is `duet-check`, and set the plan up.

    Args:
        ports: of the copy, which is ready.
        plan: the template's.

    Returns:
        Bytes of the control port from PLAN to READY.

    Raises:
        InfraError: the copy is not sound, refuses the plan, or takes REHEARSAL_S.
    """
    try:
        async with asyncio.timeout(REHEARSAL_S):
            await ports.send(encode(HostFrame(FrameType.START)))
            why = await verdict(ports.chunks(), traced="trace off" not in plan)
            if why:
                raise InfraError(f"a copy is not sound: {why}.", remedy=REMEDY)
            await ports.send(encode(HostFrame(FrameType.PLAN, plan)))
            setup = await said_until(FrameType.READY, ports.chunks())
            await asyncio.sleep(SETTLE_S)
            return setup
    except TimeoutError:
        raise InfraError(
            f"a copy's rehearsal was not over within {REHEARSAL_S:g} s.", remedy=REMEDY
        ) from None
