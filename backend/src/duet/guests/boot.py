# SPDX-License-Identifier: GPL-2.0-or-later
"""Boot guests with a deadline, one retry and a report of each attempt; choose the accelerator."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar
from weakref import WeakKeyDictionary

from duet.base.errors import DuetError, InfraError, InputError, KernelError
from duet.base.settings import cache_dir
from duet.confine.sandbox import can_change_user
from duet.guests.limits import BOOT_ATTEMPTS, KVM_PROBE_S
from duet.guests.ports import Ports
from duet.guests.types import Accel, GuestSpec


@dataclass(frozen=True, slots=True)
class BootReport:
    """One attempt to boot.

    Args:
        attempt: number of the attempt, from 1.
        seconds: time from spawn to the agent's first byte, or to the failure.
        outcome: "up", or the failure as a sentence.
        console: tail of the console; empty if the guest came up.
    """

    attempt: int
    seconds: float
    outcome: str
    console: str = ""


class BootFailed(Exception):
    """All boot attempts failed. Contains the error to raise, and the report of each attempt."""

    def __init__(self, error: DuetError, reports: tuple[BootReport, ...]) -> None:
        super().__init__(error.sentence)
        self.error = error
        self.reports = reports


class Bootable(Protocol):
    """Interface of a machine that boot() can start."""

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
    """Start up to BOOT_ATTEMPTS machines, until a machine comes up.

    Args:
        make: creates a machine. Its argument is True for the second attempt, in which the kernel
            logs verbosely, because a person will read the console output.
        deadline_s: longest time from spawn to the agent's first byte.

    Raises:
        BootFailed: contains a KernelError (hang, panic) or an InfraError (process).
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
    """Start the machine; return None once the agent has sent a byte, otherwise the failure."""
    await machine.start()
    spoke = asyncio.create_task(machine.ports.spoke.wait())
    ended = asyncio.create_task(machine.wait_end())
    try:
        await asyncio.wait((spoke, ended), timeout=deadline_s, return_when=asyncio.FIRST_COMPLETED)
        if machine.ports.spoke.is_set():
            machine.seal()  # no untrusted program runs yet, because the agent has no plan
            return None
        if ended.done():
            return machine.failure() or InfraError(
                f"the guest of lane {machine.spec.arm} ended before its agent spoke.",
                remedy="Start the run again; the console tail is in the detail.",
                detail=machine.tail(),
            )
        return KernelError(
            f"the kernel of lane {machine.spec.arm} did not boot within {deadline_s:g} s.",
            remedy="Start the run again; a busy host may need fewer lanes or vCPUs.",
            detail=machine.tail(),
        )
    finally:
        for task in (spoke, ended):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


# Choose KVM or TCG. KVM is chosen only if a guest has booted under it.
#
# KVM may not work even if /dev/kvm can be opened and a virtual machine can be created. On some
# hosts, an ordinary kernel then dies in its first instructions. `-accel kvm:tcg` does not help,
# because KVM itself starts. So we boot the given kernel under KVM with a deadline, once per boot of
# the host and per QEMU version.

KVM_DEVICE = Path("/dev/kvm")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
POLICIES = ("auto", "tcg", "kvm")

_one_probe: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""Serializes probes, so that lanes that boot together share one probe. There is one lock per event
loop, because a lock belongs to its loop."""


def policy_from_env() -> str:
    """Return $DUET_ACCEL, or "auto".

    Raises:
        InputError: $DUET_ACCEL is not one of POLICIES.
    """
    policy = os.environ.get("DUET_ACCEL") or "auto"
    if policy not in POLICIES:
        raise InputError(
            f"DUET_ACCEL must be auto, tcg or kvm, but is `{policy}`.",
            remedy="Set it to auto, tcg or kvm, or unset it.",
        )
    return policy


def _probe_key(qemu_version: str) -> str:
    """Return the cache key of a probe's result: the host's boot id and QEMU's version."""
    try:
        boot = BOOT_ID.read_text().strip()
    except OSError:
        boot = "unknown"
    return f"{boot} {qemu_version}"


def _cached(path: Path, key: str) -> bool | None:
    try:
        cached = json.loads(path.read_text())
        return bool(cached["boots"]) if cached["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def kvm_groups() -> tuple[int, ...]:
    """Return the group whose members can open /dev/kvm; () if there is no such group."""
    try:
        found = KVM_DEVICE.stat()
    except OSError:
        return ()
    wanted = stat.S_IRGRP | stat.S_IWGRP
    return (found.st_gid,) if found.st_gid and found.st_mode & wanted == wanted else ()


def kvm_refusal() -> str:
    """Return a sentence that says why a guest cannot open /dev/kvm; "" if it can.

    If this process runs as root, each guest gets a separate user, so a group or all users must have
    access to /dev/kvm.
    """
    if not KVM_DEVICE.exists():
        return "There is no /dev/kvm."
    if not can_change_user():
        opens = os.access(KVM_DEVICE, os.R_OK | os.W_OK)
        return "" if opens else "This user may not open /dev/kvm."
    wanted = stat.S_IROTH | stat.S_IWOTH
    if kvm_groups() or KVM_DEVICE.stat().st_mode & wanted == wanted:
        return ""
    return "Only root may open /dev/kvm, and guests do not run as root."


async def kvm_boots(
    spec: GuestSpec, qemu_version: str, make: Callable[[GuestSpec], Bootable]
) -> bool:
    """Return whether a guest boots under KVM within KVM_PROBE_S. The result is cached on disk.

    Args:
        spec: any bootable guest; the probe uses its kernel with one vCPU and 256 MiB.
        qemu_version: part of the cache key.
        make: creates a machine that uses KVM.
    """
    if kvm_refusal():
        return False
    kept_at = cache_dir() / "tools" / "kvm-probe.json"
    key = _probe_key(qemu_version)
    loop = asyncio.get_running_loop()
    async with _one_probe.setdefault(loop, asyncio.Lock()):
        known = _cached(kept_at, key)
        if known is not None:
            return known
        small = replace(
            spec,
            vcpus=1,
            memory_mib=256,
            clock="wall",
            boot_plan=None,
            disks_mib=(),
            microscope=None,
        )
        machine = make(small)
        try:
            boots = await try_boot(machine, KVM_PROBE_S) is None
        finally:
            await machine.close()
        kept_at.parent.mkdir(parents=True, exist_ok=True)
        kept_at.write_text(json.dumps({"key": key, "boots": boots}))
        return boots


async def choose_accel(
    policy: str, spec: GuestSpec, qemu_version: str, make: Callable[[GuestSpec], Bootable]
) -> Accel:
    """Choose the accelerator of a guest. The count clock and the microscope need TCG.

    Raises:
        InfraError: the policy is kvm, and no guest boots under KVM.
    """
    if policy == "tcg" or spec.clock == "count" or spec.microscope is not None:
        return Accel.TCG
    if await kvm_boots(spec, qemu_version, make):
        return Accel.KVM
    if policy == "kvm":
        raise InfraError(
            "no guest boots under KVM on this machine.",
            remedy="Set DUET_ACCEL=auto to use emulation (TCG).",
        )
    return Accel.TCG
