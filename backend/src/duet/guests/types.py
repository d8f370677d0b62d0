# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest interface: a machine that boots one arm and streams its agent's bytes.

Three kinds implement it: `qemu` (sealed initramfs), `vng` (virtme-ng) and `replay` (a bundle). A
guest only moves bytes; the packages wire, decode and session interpret them.
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
    """A QEMU plugin that reports loads and stores of chosen functions, under TCG only.

    Args:
        plugin: the shared library; duet.lenses.scope.plugin_library() builds it.
        functions: text of its functions file, from duet.lenses.scope.functions_text().
    """

    plugin: Path
    functions: str


@dataclass(frozen=True, slots=True)
class GuestSpec:
    """Parameters of one guest.

    Args:
        arm: name of the arm, for messages and file names.
        bzimage: kernel image; unused by replay.
        initrd: sealed root; unused by vng and replay.
        vcpus: number of vCPUs on the wall clock, 1 to MAX_CPUS.
        memory_mib: guest memory in MiB.
        cmdline: extra kernel parameters, e.g. ("nokaslr",).
        clock: wall or count.
        icount_shift: on the count clock an instruction takes 2^shift ns.
        sharing: number of vCPUs on the count clock, which share one thread. With more than one,
            the plan brings up all but the first (duet.guests.qemu), and nothing can be traced.
        seed: seed of all randomness in the guest on the count clock. Runs with equal seeds are
            equal to the instruction; another seed gives a perturbed start.
        disks_mib: sizes of empty virtio disks (/dev/vda, ...) that exist as long as the guest.
            Ignored by vng and on the count clock, where a disk would complete requests at
            moments of the host.
        boot_plan: plan that the agent reads at boot (fw_cfg). A plan that starts its workload
            without the host repeats exactly on the count clock.
        plan: plan that the agent will be sent, if known. A copy of a template with this plan may
            then replace a boot.
        microscope: forces TCG, also where KVM works; vng supports none.
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
    """Bytes received from one port of one guest.

    Args:
        stream: CTL_STREAM or a CPU number.
        payload: the next bytes of the stream, split anywhere; never empty.
        host_ns: monotonic host time of arrival; of a replay, the recorded time plus its start.
    """

    stream: int
    payload: bytes
    host_ns: int


@dataclass(frozen=True, slots=True)
class GuestFacts:
    """Facts of a running guest, for manifests and the page.

    `cloned`: the guest is a copy of a template, so `boot_s` is the time to copy.
    `uid`: user of the process, if it is not the server's user.
    `scope_socket`: socket of the microscope, which serves one client at a time (lenses/scope).
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
    """A booted guest. Use as `async with`; leaving ends the process in every case."""

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
        """Yield bytes of all ports until the guest ends or is closed.

        Raises:
            InfraError: the QEMU process died unexpectedly (signal or exit code in the sentence).
            KernelError: the guest kernel panicked.
        """
        ...

    async def send(self, frame: bytes) -> None:
        """Write one whole frame to the control port.

        Raises:
            InfraError: the port is closed, or accepts nothing for SEND_S.
        """
        ...

    def console_tail(self) -> str:
        """Return the last 8 KiB of the serial console."""
        ...
