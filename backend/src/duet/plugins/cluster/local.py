# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on this machine. Programs are children of this process, and end with it.

If the host allows it, each lease has its own control group. An exclusive lease also has its own
CPUs (duet.processes.cpus), to which taskset(1) binds each program before it starts.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from duet.base.errors import DuetError
from duet.confine.control_groups import Budget, Group
from duet.plugins.cluster.frames import Start
from duet.plugins.cluster.lease import Lease, OwningPool, Room, Size
from duet.plugins.cluster.limits import SILENT_S
from duet.plugins.cluster.program import Launch, PipedProgram
from duet.plugins.cluster.types import Kind, Loss, Refusal, Want, Watched
from duet.processes.cpus import OwnCpus, choose, cores
from duet.processes.owned import find_program

KVM = Path("/dev/kvm")
PROCESSES = 4096
"""Maximum number of processes and threads in one lease. Usual: 50 per lane."""


def kvm_refusal() -> str:
    """Say why guests cannot be started under KVM, or return "" if the device can be opened.

    Only a guest that has booted proves that KVM works. `duet pool doctor` boots such a guest.
    """
    if not KVM.exists():
        return "guests under KVM are wanted, and this machine has no /dev/kvm."
    if not os.access(KVM, os.R_OK | os.W_OK):
        return "guests under KVM are wanted, and this user may not open /dev/kvm."
    return ""


class LocalPool(OwningPool):
    """Leases this machine.

    Args:
        whole: resources that all leases together may use. By default, they are those of the
            machine.
        kvm: returns why there is no KVM, or "".
    """

    name = "local"

    def __init__(
        self,
        whole: Size | None = None,
        silent_s: float = SILENT_S,
        kvm: Callable[[], str] = kvm_refusal,
    ) -> None:
        super().__init__(silent_s)
        self._room = Room(whole or Size.of_machine())
        self._host = platform.node() or "localhost"
        # Read the CPUs now. During a measurement on exclusive CPUs, this process can use only the
        # other CPUs.
        self._cpus = frozenset(os.sched_getaffinity(0))
        self._kvm = kvm

    async def kinds(self) -> Sequence[Kind]:
        """Return the only kind of host, which is this machine."""
        return (Kind("this machine", (self._host,)),)

    async def _reserve(self, want: Want) -> Lease | Refusal:
        refusal = self._never(want)
        if refusal is not None:
            return refusal
        place = LocalPlace(self._room, want)
        refusal = await self._room.take(place, want, place.take_cpus)
        if refusal is not None:
            return refusal
        try:
            await place.begin()
        except BaseException:
            await place.give_back()
            raise
        return self._made(want, (self._host,) * want.lanes, place)

    def _never(self, want: Want) -> Refusal | None:
        if want.kind not in ("", "this machine"):
            return Refusal(f"this machine has no hosts of the kind '{want.kind:.60}'.")
        if self._host in want.avoid:
            return Refusal(f"this machine has no host but {self._host}, which is to be avoided.")
        if want.accel == "kvm" and (why := self._kvm()):
            return Refusal(why)
        if want.exclusive and not choose(cores(self._cpus), want.vcpus):
            return Refusal(
                f"{want.vcpus} CPUs for measurements alone are wanted, and one core stays with the"
                f" rest: this machine has {len(self._cpus)} CPUs."
            )
        return self._room.never(Size.of(want))


class LocalPlace:
    """The resources of this machine that a lease holds."""

    def __init__(self, room: Room, want: Want) -> None:
        self._room, self._want = room, want
        self._group: Group | None = None
        self._own: OwnCpus | None = None
        self.lacks: Sequence[str] = ()
        """Control group controllers that this host does not provide."""

    def take_cpus(self) -> str:
        """Acquire CPUs for an exclusive lease. Return why they cannot be acquired, or ""."""
        if not self._want.exclusive:
            return ""
        own = OwnCpus(self._want.vcpus, self._want.vcpus)
        own.__enter__()
        if own.cpus:
            self._own = own
        return own.why_not

    async def begin(self) -> None:
        """Create the lease's control group."""
        memory = self._want.lanes_at_once * self._want.memory_bytes
        group = Group(Budget(memory, PROCESSES), "lease")
        self._group = await asyncio.to_thread(group.__enter__)
        self.lacks = tuple(group.missing_controllers)

    def program(self, lane: int, start: Start, watched: Watched) -> PipedProgram:
        del lane  # all lanes are on this machine
        words: tuple[str, ...] = ()
        if self._own is not None:
            cpus = ",".join(str(cpu) for cpu in sorted(self._own.cpus))
            words = (find_program("taskset", "util-linux"), "-c", cpus)
        launch = Launch(words, joins=self._group.procs_files() if self._group else ())
        return PipedProgram(start, launch, watched)

    async def why_over(self) -> Loss | None:
        """Check whether the lease exceeded its memory limit."""
        if self._group is not None and self._group.killed_for_memory():
            most = self._want.lanes_at_once * self._want.memory_bytes >> 20
            return Loss(f"the lease used more than its {most:,} MiB of memory.", "host")
        return None

    async def give_back(self) -> None:
        try:
            if self._group is not None:
                await asyncio.to_thread(self._group.__exit__, None, None, None)
        except (DuetError, OSError):
            pass
        finally:
            if self._own is not None:
                self._own.__exit__()
            self._room.give(self)
