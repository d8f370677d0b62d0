# SPDX-License-Identifier: GPL-2.0-or-later
"""Is a copy of a new template sound? It goes on, writes to its disk, and its events arrive.

That its clock was stepped and its random numbers are its own is checked of every copy
(CloneMachine).
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from duet.errors import DuetError, InfraError
from duet.guests.boot import try_boot
from duet.guests.clones.machines import CloneMachine
from duet.guests.clones.plans import check_amendment
from duet.guests.clones.template import Template
from duet.guests.limits import CHECK_S
from duet.guests.types import CTL_STREAM, Accel, GuestSpec
from duet.wire import (
    Drained,
    Ended,
    FrameReader,
    FrameType,
    GuestError,
    HostFrame,
    Line,
    Stats,
    decode_frame,
    encode,
)


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
            why = await _verdict(machine, traced="trace off" not in template.plan)
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


async def _verdict(machine: CloneMachine, *, traced: bool) -> str:
    """What is wrong, or nothing."""
    reader, said, trace_bytes = FrameReader(), "", 0
    status: int | None = None
    lost = 0
    async with aclosing(machine.chunks()) as chunks:
        async for chunk in chunks:
            if chunk.stream != CTL_STREAM:
                trace_bytes += len(chunk.payload)
                continue
            for raw in reader.feed(chunk.payload):
                match decode_frame(raw):
                    case GuestError(sentence):
                        return sentence.rstrip(".")
                    case Line(_, _, text):
                        said = text
                    case Ended(_, status):
                        pass
                    case Stats(_, cpus):
                        lost = sum(cpu.overrun + cpu.dropped for cpu in cpus)
                    case Drained():
                        if status:
                            return said or f"its check ended with {status}"
                        if lost:
                            return f"{lost} events were lost"
                        return "" if trace_bytes or not traced else "no events came"
                    case _:
                        pass
    return "it ended"
