# SPDX-License-Identifier: GPL-2.0-or-later
"""Make a template: boot a guest, set up its plan, park it, and check a first copy."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import AsyncExitStack
from pathlib import Path

from duet.base.errors import DuetError, InfraError
from duet.guests.boot import try_boot
from duet.guests.clones.copy import CloneMachine, find_problem, read_until
from duet.guests.clones.template import (
    WITHOUT_MEMORY,
    ParkedMachine,
    Template,
    check_amendment,
    copy_sparse,
    create_memfd,
    parked_plan,
    seal_memfd,
)
from duet.guests.limits import BOOT_DEADLINE_S, CHECK_S, READY_S, SAVE_S, SETTLE_S, STATE_BYTES
from duet.guests.machine import QMP_SOCKET, Machine
from duet.guests.qmp import Monitor
from duet.guests.types import Accel, GuestSpec
from duet.wire import FrameType, HostFrame, encode

# Check a new template: a copy must resume, write to its disk, and deliver its events.
#
# CloneMachine also checks, in every copy, that the clock was set and that the random numbers are
# new.


async def check_copy(template: Template, spec: GuestSpec, accel: Accel) -> None:
    """Copy the template once, run `duet-check` in the copy, and check that no event is lost.

    Raises:
        DuetError: the template is unusable.
    """
    machine = CloneMachine(spec, accel, template, check_amendment())
    try:
        async with asyncio.timeout(CHECK_S):
            failure: DuetError | None = await try_boot(machine, CHECK_S)
            if failure is not None:
                raise failure
            await machine.send(encode(HostFrame(FrameType.START)))
            why = await find_problem(machine.chunks(), traced="trace off" not in template.plan)
    except TimeoutError:
        why = f"it took more than {CHECK_S:g} s"
    finally:
        await machine.close()
    if why:
        raise InfraError(
            f"a copy of lane {spec.arm} failed its check: {why}.",
            remedy="Guests boot instead; the detail has the guest's console.",
            detail=machine.tail(),
        )


STATE_SOCKET = "state.sock"
REMEDY = "Guests boot instead; the detail says what happened."


async def make_template(key: str, spec: GuestSpec) -> Template:
    """Boot a guest, set up its plan, park it and check a copy. Takes about 0.5 s plus the boot.

    Args:
        key: template_key() of the spec.

    Raises:
        DuetError: a step failed; all files are removed and all processes have ended.
    """
    assert spec.plan is not None
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        memory = create_memfd("duet-memory", spec.memory_mib << 20)
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
        seal_memfd(memory)
        seal_memfd(state)
        made_s = time.monotonic() - began
        template = Template(key, plan, memory, state, disks, greeting, setup, made_s)
        await check_copy(template, spec, Accel.TCG)
        undo.numbers.clear()
        return template


class _Undo:
    """Close file descriptors at exit, unless the caller clears `numbers` to keep them open."""

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
    """Send the plan, and return the control port's bytes up to HELLO, and then up to READY."""
    try:
        async with asyncio.timeout(READY_S):
            greeting = await read_until(FrameType.HELLO, machine.chunks())
            await machine.send(encode(HostFrame(FrameType.PLAN, plan)))
            return greeting, await read_until(FrameType.READY, machine.chunks())
    except TimeoutError:
        why = f"was not ready to be parked within {READY_S:g} s"
    except InfraError as error:
        why = f"cannot be parked: {error.sentence.rstrip('.')}"
    sentence = f"a guest of lane {machine.spec.arm} {why}."
    raise InfraError(sentence, remedy=REMEDY, detail=machine.tail())


async def _park(machine: Machine) -> int:
    """Save the machine's state without its memory, and return the memfd with the state.

    The guest runs when QEMU saves the state, so a copy starts to run as soon as it has loaded the
    state. After saving, QEMU leaves the guest paused.
    """
    state = create_memfd("duet-state")
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
    """Copy the guest's disks into sealed memfds. Blocking."""
    found = []
    for number in range(len(machine.spec.disks_mib)):
        path: Path = machine.folder / f"disk{number}"
        target = create_memfd(f"duet-disk{number}")
        with path.open("rb") as image:
            copy_sparse(image.fileno(), target)
        seal_memfd(target)
        found.append(target)
    return found
