# SPDX-License-Identifier: GPL-2.0-or-later
"""The one guest interface: a machine that boots one arm and streams its agent's bytes.

Three kinds stand behind it: `qemu` (sealed initramfs), `vng` (virtme-ng) and `replay`
(a bundle). A guest moves bytes; what they mean is the business of wire, decode and session.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from duet.base.clock import Clock

CTL_STREAM = -1
"""Stream number of the control port; per-CPU trace ports are numbered 0, 1, ..."""


class Accel(StrEnum):
    """What executes the guest; `NONE` is a replay."""

    KVM = "kvm"
    TCG = "tcg"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Microscope:
    """A QEMU plugin that sees loads and stores of chosen functions; it works under TCG only.

    Args:
        plugin: the library, see duet.lenses.scope.plugin_library().
        functions: text of its functions file, see duet.lenses.scope.functions_text().
    """

    plugin: Path
    functions: str


@dataclass(frozen=True, slots=True)
class GuestSpec:
    """All that is needed to boot one guest.

    Args:
        arm: name of the arm, for messages and file names.
        bzimage: kernel image; unused by replay.
        initrd: sealed root; unused by vng and replay.
        vcpus: 1 to MAX_CPUS, of the wall clock.
        memory_mib: guest memory in MiB.
        cmdline: extra kernel parameters, e.g. ("nokaslr",).
        clock: wall or count.
        icount_shift: 2^shift ns per instruction on the count clock.
        sharing: vCPUs on the count clock, where they share one thread; with more than one, the
            plan brings up all but the first (duet.guests.qemu), and nothing can be traced.
        seed: of all randomness in the guest on the count clock. Equal seeds give equal runs, to
            the instruction; another seed is a perturbed start.
        disks_mib: sizes of empty virtio disks (/dev/vda, ...) that live as long as the guest; the
            count clock has none, since their answers would come at the host's moments, and vng
            has none.
        boot_plan: plan text given to the agent at boot (fw_cfg); one that starts by itself repeats
            exactly on the count clock.
        plan: what the agent will be sent, if that is known: then a copy of a guest that was parked
            with it may stand for a boot.
        microscope: the guest runs under TCG then, also where KVM is proven; vng has none.
    """

    arm: str
    bzimage: Path
    initrd: Path | None
    vcpus: int = 2
    memory_mib: int = 512
    cmdline: tuple[str, ...] = ()
    clock: Clock = "wall"
    icount_shift: int = 0
    sharing: int = 1
    seed: int = 1
    disks_mib: tuple[int, ...] = ()
    boot_plan: str | None = None
    plan: str | None = None
    microscope: Microscope | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes as they came from one port of one guest.

    Args:
        stream: CTL_STREAM or a CPU number.
        payload: any split of the byte stream; never empty.
        host_ns: host monotonic time of arrival (a replay gives recorded time plus its own start).
    """

    stream: int
    payload: bytes
    host_ns: int


@dataclass(frozen=True, slots=True)
class GuestFacts:
    """What is known of a running guest, for manifests and the page.

    `cloned`: it is a copy of a parked guest, so `boot_s` is the time of copying.
    `uid`: of the process, if it is not the server's own.
    `scope_socket`: the microscope listens there, for one client at a time (see lenses/scope).
    """

    kind: str
    accel: Accel
    pid: int | None
    qemu_version: str
    boot_s: float
    qmp_socket: Path | None = None
    scope_socket: Path | None = None
    uid: int | None = None
    cloned: bool = False
    extra: dict[str, str] = field(default_factory=dict)


class Guest(Protocol):
    """A booted guest. Use as `async with`; leaving ends the process, whatever happened."""

    facts: GuestFacts

    async def __aenter__(self) -> Guest:
        """Boot until the agent's port opens.

        Raises:
            KernelError: the guest did not come up by its deadline (console tail in detail).
            InfraError: QEMU is missing, could not start, or died.
        """
        ...

    async def __aexit__(self, *exc: object) -> None: ...

    def chunks(self) -> AsyncIterator[Chunk]:
        """Bytes from all ports until the guest ends or is closed.

        Raises:
            InfraError: the QEMU process died unasked (signal or exit code in the sentence).
            KernelError: the guest kernel panicked.
        """
        ...

    async def send(self, frame: bytes) -> None:
        """Write one whole frame to the control port (named timeout inside)."""
        ...

    def console_tail(self) -> str:
        """The last 8 KiB of the serial console."""
        ...
