# SPDX-License-Identifier: GPL-2.0-or-later
"""Boot with a deadline, one retry, and a report of each try."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from duet.errors import DuetError, InfraError, KernelError
from duet.guests.limits import BOOT_ATTEMPTS
from duet.guests.ports import Ports
from duet.guests.types import GuestSpec


@dataclass(frozen=True, slots=True)
class BootReport:
    """One try to boot.

    Args:
        attempt: 1 for the first.
        seconds: from spawn to the agent's first byte, or to the failure.
        outcome: "up", or the failure as a sentence.
        console: tail of the console; empty when it came up.
    """

    attempt: int
    seconds: float
    outcome: str
    console: str = ""


class BootFailed(Exception):
    """All tries failed; carries the error to raise and what was tried."""

    def __init__(self, error: DuetError, reports: tuple[BootReport, ...]) -> None:
        super().__init__(error.sentence)
        self.error = error
        self.reports = reports


class Bootable(Protocol):
    """What boot() needs of a machine."""

    spec: GuestSpec

    @property
    def ports(self) -> Ports: ...
    async def start(self) -> None: ...
    async def close(self) -> None: ...
    def seal(self) -> None: ...
    async def wait_end(self) -> None: ...
    def tail(self) -> str: ...
    def failure(self) -> DuetError | None: ...


M = TypeVar("M", bound=Bootable)


async def boot(make: Callable[[bool], M], deadline_s: float) -> tuple[M, tuple[BootReport, ...]]:
    """Start machines until one comes up.

    Args:
        make: gives a fresh machine; its argument asks for a talkative kernel, which the
            second try gets, since its console tail is what a person will read.
        deadline_s: from spawn to the agent's first byte.

    Raises:
        BootFailed: with a KernelError (hang, panic) or InfraError (process) inside.
    """
    reports: list[BootReport] = []
    while True:
        machine = make(bool(reports))
        began = time.monotonic()
        try:
            failure = await try_boot(machine, deadline_s)
        except BaseException:
            await machine.close()
            raise
        seconds = time.monotonic() - began
        attempt = len(reports) + 1
        if failure is None:
            reports.append(BootReport(attempt, seconds, "up"))
            return machine, tuple(reports)
        reports.append(BootReport(attempt, seconds, failure.sentence, machine.tail()))
        await machine.close()
        if attempt == BOOT_ATTEMPTS or not isinstance(failure, KernelError):
            raise BootFailed(failure, tuple(reports))


async def try_boot(machine: Bootable, deadline_s: float) -> DuetError | None:
    """None once the agent has spoken, else why it did not."""
    await machine.start()
    spoke = asyncio.create_task(machine.ports.spoke.wait())
    ended = asyncio.create_task(machine.wait_end())
    try:
        await asyncio.wait((spoke, ended), timeout=deadline_s, return_when=asyncio.FIRST_COMPLETED)
        if machine.ports.spoke.is_set():
            machine.seal()  # the agent has no plan yet, so nothing foreign runs
            return None
        if ended.done():
            return machine.failure() or InfraError(
                f"the guest of lane {machine.spec.arm} ended before its agent spoke.",
                remedy="Start the run again; the console tail is in the detail.",
                detail=machine.tail(),
            )
        return KernelError(
            f"the kernel of lane {machine.spec.arm} did not come up within {deadline_s:g} s.",
            remedy="Start the run again; a busy host may need fewer lanes or vCPUs.",
            detail=machine.tail(),
        )
    finally:
        for task in (spoke, ended):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
