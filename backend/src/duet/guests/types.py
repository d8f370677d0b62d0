# SPDX-License-Identifier: GPL-2.0-or-later
"""Guest interface: a machine that boots one arm and streams its agent's bytes.

Three kinds of guests implement the interface: `qemu` (sealed initramfs), `vng` (virtme-ng) and
`replay` (a bundle). A guest only moves bytes; the packages wire, decode and session interpret them.
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
    """Accelerator that executes the guest; `NONE` means a replay."""

    KVM = "kvm"
    TCG = "tcg"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Microscope:
    """QEMU plugin that reports the loads and stores of chosen functions; it works only under TCG.

    Args:
        plugin: the shared library, which duet.lenses.scope.plugin_library() builds.
        functions: text of the plugin's functions file, from duet.lenses.scope.functions_text().
    """

    plugin: Path
    functions: str


@dataclass(frozen=True, slots=True)
class GuestSpec:
    """Parameters of one guest.

    Args:
        arm: name of the arm, for messages and file names.
        bzimage: kernel image; unused by replay.
        initrd: initramfs with the sealed root; unused by vng and replay.
        vcpus: number of vCPUs on the wall clock, 1 to MAX_CPUS.
        memory_mib: guest memory in MiB.
        cmdline: extra kernel parameters, e.g. ("nokaslr",).
        clock: wall clock or count clock.
        icount_shift: on the count clock each instruction takes 2^shift ns.
        sharing: number of vCPUs on the count clock, where they share one thread. If there are
            several, the plan brings up all vCPUs except the first (duet.guests.qemu), and nothing
            can be traced.
        seed: seed of all random numbers in the guest on the count clock. Runs with the same seed
            are identical to the instruction; a different seed perturbs the start.
        disks_mib: sizes of empty virtio disks (/dev/vda, ...), which exist until the guest ends.
            There are no such disks with vng. On the count clock there are none either, because a
            disk completes requests at times that depend on the host.
        boot_plan: plan that the agent reads at boot (fw_cfg). On the count clock, a run with such a
            plan repeats exactly, provided that the plan starts the workload without a command from
            the host.
        plan: plan that the agent will get, if already known. Then a copy of a template with this
            plan may replace the boot.
        microscope: microscope to load. A microscope requires TCG even if KVM works, and does not
            work with vng.
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
        payload: the next bytes of the stream, never empty; a chunk may end anywhere in a frame or
            page.
        host_ns: monotonic host time of arrival. In a replay, it is the replay's start time plus the
            recorded time.
    """

    stream: int
    payload: bytes
    host_ns: int


@dataclass(frozen=True, slots=True)
class GuestFacts:
    """Facts about a running guest, for manifests and the page.

    If the guest is a copy of a template, `cloned` is True and `boot_s` is the time to copy. `uid`
    is the user id of the process if it differs from the server's. `scope_socket` is the socket of
    the microscope, which serves one client at a time (lenses/scope).
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
    """A booted guest. Use with `async with`, which always ends the process."""

    facts: GuestFacts

    async def __aenter__(self) -> Guest:
        """Boot the guest, and wait until the agent's port opens.

        Raises:
            KernelError: the guest did not boot before its deadline; the detail contains the last
                console output.
            InfraError: QEMU is missing, could not start, or died.
        """
        ...

    async def __aexit__(self, *exc: object) -> None: ...

    def chunks(self) -> AsyncIterator[Chunk]:
        """Yield bytes of all ports until the guest ends or is closed.

        Raises:
            InfraError: the QEMU process died unexpectedly; the sentence names the signal or exit
                code.
            KernelError: the guest kernel panicked.
        """
        ...

    async def send(self, frame: bytes) -> None:
        """Write one complete frame to the control port.

        Raises:
            InfraError: the port is closed, or accepts nothing for SEND_S.
        """
        ...

    def console_tail(self) -> str:
        """Return the last 8 KiB of the serial console."""
        ...
