# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest started by virtme-ng, a launcher for kernel developers.

The guest sees the host's files, including your tools and kernel tree, copy-on-write. Use virtme-ng
guests only on your own machine, never for a class. The agent runs from its path on the host and
finds the same ports as in a sealed guest.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from duet.base.errors import InfraError, InputError
from duet.guests.boot import choose_accel
from duet.guests.limits import VNG_BOOT_DEADLINE_S
from duet.guests.machine import Machine, MachineGuest
from duet.guests.qemu import FIXED_CMDLINE, QemuMachine, port_args, qemu_version, qmp_args
from duet.guests.types import Accel, GuestSpec
from duet.processes.limits import TERM_S
from duet.processes.owned import find_program, reaper_prefix

VNG_REMEDY = "Install it: pip install virtme-ng==1.42"


class VngMachine(Machine):
    """One vng process. It runs under a reaper, because QEMU is a grandchild of vng."""

    death_signal = "TERM"
    grace_s = TERM_S

    def __init__(self, spec: GuestSpec, accel: Accel, verbose: bool, programs: Path) -> None:
        super().__init__(spec, accel, verbose)
        self.programs = programs

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        agent = [str(self.programs / "duet-agent"), "--vng", "--path", str(self.programs)]
        extra = [*port_args(sockets), *qmp_args(folder)]
        cmdline = (*(word for word in FIXED_CMDLINE if word[:7] != "console"), *self.spec.cmdline)
        return [
            *reaper_prefix(),
            *(find_vng(), "--run", str(self.spec.bzimage)),
            *(() if self.accel is Accel.KVM else ("--disable-kvm",)),
            *("--memory", f"{self.spec.memory_mib}M", "--cpus", str(self.cpus)),
            *(word for option in cmdline for word in ("--append", option)),
            f"--qemu-opts={shlex.join(extra)}",
            *(("--verbose",) if self.verbose else ()),
            *("--", shlex.join(agent)),
        ]


def find_vng() -> str:
    """Return the path of vng, which is next to this Python interpreter or on PATH.

    Raises:
        InfraError: vng is not installed.
    """
    beside = Path(sys.executable).with_name("vng")
    if beside.exists():
        return str(beside)
    try:
        return find_program("vng", "virtme-ng")
    except InfraError as missing:
        raise InfraError(missing.sentence, remedy=VNG_REMEDY) from None


class VngGuest(MachineGuest):
    """A guest started by virtme-ng.

    Args:
        spec: parameters of the guest. `initrd` serves only to probe KVM, because the guest uses the
            host's root.
        programs: GuestRoot.programs.
        policy: auto, tcg or kvm.
    """

    kind = "vng"
    deadline_s = VNG_BOOT_DEADLINE_S

    def __init__(self, spec: GuestSpec, programs: Path, policy: str = "auto") -> None:
        super().__init__(spec)
        self.programs = programs
        self.policy = policy

    async def prepare(self) -> tuple[Accel, str]:
        if self.spec.clock == "count" or self.spec.boot_plan is not None:
            raise InputError(
                "a virtme-ng guest has no count clock.",
                remedy="Use a sealed guest (DUET_GUEST=qemu) for the count clock.",
            )
        if self.spec.microscope is not None:
            raise InputError(
                "a virtme-ng guest has no microscope.",
                remedy="Use a sealed guest (DUET_GUEST=qemu) to see loads and stores.",
            )
        find_vng()
        version = await qemu_version()
        accel = Accel.TCG
        if self.spec.initrd is not None:
            accel = await choose_accel(
                self.policy, self.spec, version, lambda s: QemuMachine(s, Accel.KVM, False)
            )
        return accel, version

    def machine(self, accel: Accel, verbose: bool) -> Machine:
        return VngMachine(self.spec, accel, verbose, self.programs)
