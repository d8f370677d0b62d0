# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a template: boots a guest, has the plan set up, parks it, checks a first copy of it."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import AsyncExitStack
from pathlib import Path

from duet.base.errors import DuetError, InfraError
from duet.guests.boot import try_boot
from duet.guests.clones.copy import CloneMachine, said_until, verdict
from duet.guests.clones.template import (
    WITHOUT_MEMORY,
    ParkedMachine,
    Template,
    check_amendment,
    copy_sparse,
    nameless,
    parked_plan,
    seal,
)
from duet.guests.limits import BOOT_DEADLINE_S, CHECK_S, READY_S, SAVE_S, SETTLE_S, STATE_BYTES
from duet.guests.machine import QMP_SOCKET, Machine
from duet.guests.qmp import Monitor
from duet.guests.types import Accel, GuestSpec
from duet.wire import FrameType, HostFrame, encode

# Is a copy of a new template sound? It goes on, writes to its disk, and its events arrive.
#
# That its clock was stepped and its random numbers are its own is checked of every copy
# (CloneMachine).


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


STATE_SOCKET = "state.sock"
REMEDY = "Guests are booted as before; the detail says what happened."


async def make_template(key: str, spec: GuestSpec) -> Template:
    """Boot, set up, park, check. Takes a boot and some 0.5 s.

    Args:
        key: template_key() of the spec.

    Raises:
        DuetError: a step failed; nothing is left behind.
    """
    assert spec.plan is not None
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        memory = nameless("duet-memory", spec.memory_mib << 20)
        undo = stack.enter_context(_Undo())
        undo.numbers.append(memory)
        machine = ParkedMachine(spec, Accel.TCG, verbose=False)
        machine.memory = memory
        try:
            failure = await try_boot(machine, BOOT_DEADLINE_S)
            if failure is not None:
                raise failure
            plan = parked_plan(spec.plan)
            greeting, setup = await _set_up(machine, plan)
            await asyncio.sleep(SETTLE_S)
            state = undo.own(await _park(machine))
            disks = tuple(undo.own(disk) for disk in await asyncio.to_thread(_disks, machine))
        finally:
            await machine.close()
        seal(memory)
        seal(state)
        made_s = time.monotonic() - began
        template = Template(key, plan, memory, state, disks, greeting, setup, made_s)
        await check_copy(template, spec, Accel.TCG)
        undo.numbers.clear()
        return template


class _Undo:
    """Closes descriptors unless they are given on."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def own(self, number: int) -> int:
        self.numbers.append(number)
        return number

    def __enter__(self) -> _Undo:
        return self

    def __exit__(self, *exc: object) -> None:
        for number in self.numbers:
            os.close(number)


async def _set_up(machine: Machine, plan: str) -> tuple[bytes, bytes]:
    """Bytes of the control port: up to HELLO, and from PLAN to READY."""
    try:
        async with asyncio.timeout(READY_S):
            greeting = await said_until(FrameType.HELLO, machine.chunks())
            await machine.send(encode(HostFrame(FrameType.PLAN, plan)))
            return greeting, await said_until(FrameType.READY, machine.chunks())
    except TimeoutError:
        why = f"was not ready to be parked within {READY_S:g} s"
    except InfraError as error:
        why = f"cannot be parked: {error.sentence.rstrip('.')}"
    sentence = f"a guest of lane {machine.spec.arm} {why}."
    raise InfraError(sentence, remedy=REMEDY, detail=machine.tail())


async def _park(machine: Machine) -> int:
    """QEMU's stream of the machine without its memory, in a file without a name.

    The guest runs until QEMU has it all, so a copy runs as soon as it has read it; it stands
    from then on.
    """
    state = nameless("duet-state")
    complete = asyncio.Event()

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        count = 0
        while piece := await reader.read(1 << 16):
            count += len(piece)
            if count > STATE_BYTES:
                break
            os.write(state, piece)
        else:
            complete.set()
        writer.close()

    path = machine.folder / STATE_SOCKET
    try:
        async with await asyncio.start_unix_server(receive, path=str(path)):
            if machine.uid is not None:
                os.chown(path, machine.uid, machine.uid)
            async with asyncio.timeout(SAVE_S), Monitor(machine.folder / QMP_SOCKET) as monitor:
                await monitor.do("migrate-set-capabilities", capabilities=WITHOUT_MEMORY)
                await monitor.do("migrate", uri=f"unix:{STATE_SOCKET}")
                await complete.wait()
                status = (await monitor.do("query-migrate")).get("status")
        if status != "completed":
            raise InfraError(f"QEMU did not store the guest: {status}.", remedy=REMEDY)
    except (DuetError, TimeoutError, OSError) as error:
        os.close(state)
        if isinstance(error, DuetError):
            raise
        raise InfraError(
            f"the state of lane {machine.spec.arm} was not stored within {SAVE_S:g} s.",
            remedy=REMEDY,
            detail=f"{error}\n{machine.tail()}",
        ) from error
    return state


def _disks(machine: Machine) -> list[int]:
    """What the guest's disks hold; blocking."""
    found = []
    for number in range(len(machine.spec.disks_mib)):
        path: Path = machine.folder / f"disk{number}"
        target = nameless(f"duet-disk{number}")
        with path.open("rb") as image:
            copy_sparse(image.fileno(), target)
        seal(target)
        found.append(target)
    return found
