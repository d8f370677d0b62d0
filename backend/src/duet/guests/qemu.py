# SPDX-License-Identifier: GPL-2.0-or-later
"""A sealed guest: QEMU on q35 with our initramfs and no network; a disk only to work on.

q35 rather than microvm: under TCG 10 of 25 microvm boots hung before the console. On the wall
clock TCG runs one thread per vCPU; on the count clock one instruction is 2^shift ns of guest
time and idle time is skipped (-icount shift=N,sleep=off), in one thread, which
several vCPUs share.
"""

from __future__ import annotations

import asyncio
import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from duet.base.budgets import QEMU_BEYOND_GUEST_BYTES, QEMU_FILE_BYTES, QEMU_FILES, QEMU_THREADS
from duet.base.clock import Clock
from duet.base.errors import InfraError
from duet.base.native import compiled
from duet.confine.sandbox import Limits
from duet.guests.boot import choose_accel, kvm_groups
from duet.guests.limits import (
    BOOT_CPUS,
    BOOT_DEADLINE_S,
    COUNT_BOOT_DEADLINE_S,
    MICROSCOPE_CPUS,
    VERSION_S,
)
from duet.guests.machine import QMP_SOCKET, SCOPE_SOCKET, Machine, MachineGuest
from duet.guests.ports import port_name
from duet.guests.types import CTL_STREAM, Accel, GuestSpec
from duet.processes.owned import find_program

# Several vCPUs on the count clock: they share QEMU's one thread, each in its turn.
#
# QEMU 7.2 gives every vCPU of a round what is left until the next timer of the guest's clock, and
# timers are run when the round is over. So the first one takes all, the second finds nothing left,
# and a kernel that waits for its second CPU waits for ever. A vCPU that finds nothing left has the
# timers run, however, and the one behind it gets a whole turn. Hence every second vCPU is left
# switched off: the guest boots on CPU 0 and brings up CPUs 2, 4, 6 and so on itself. From QEMU 8.1
# on a turn is divided among all vCPUs, and the same guest runs, with shorter turns.
# docs/COUNT-CLOCK.md has what was measured. Pure.

SLICE_US: Final = 10
"""Guest time after which a vCPU has to let the next one run, in QEMU 7.2."""

SHARING_CMDLINE: Final = ("maxcpus=1", "noreplace-smp")
"""The kernel leaves the other CPUs to user space, and its LOCK prefixes alone meanwhile."""


def smp_args(vcpus: int) -> list[str]:
    """QEMU's arguments for so many vCPUs in one thread, and for the timer that ends a turn.

    The timer is that of a packet filter on a network with nobody on it: it does nothing, every
    SLICE_US of the guest's clock.
    """
    if vcpus == 1:
        return ["-smp", "1"]
    return [
        *("-smp", str(2 * vcpus - 1)),
        *("-netdev", "hubport,id=turns,hubid=0"),
        *("-object", f"filter-buffer,id=turn,netdev=turns,interval={SLICE_US}"),
    ]


def online_lines(vcpus: int) -> list[str]:
    """Lines of the agent's plan that bring up the other vCPUs."""
    return [f"write /sys/devices/system/cpu/cpu{2 * n}/online 1" for n in range(1, vcpus)]


def sharing_words(vcpus: int) -> str:
    """'one vCPU', or how many share the thread and how long a turn is."""
    if vcpus == 1:
        return "one vCPU"
    turn = f"{SLICE_US} us a turn, so busy waiting is not counted well"
    return f"{vcpus} vCPUs in one thread, {turn}"


# The frequency of the TSC that a guest under TCG reads, which is the host's.
#
# A guest measures it at boot against an emulated timer. On a busy host that goes wrong: 287 MHz
# were found where the truth was 2,596, and the guest's clock ran nine times too fast. So the
# command line gives it.

SOURCE = Path(__file__).with_name("_tsc.c")
SPAN_NS = 50_000_000
"""Two looks at 50 ns each are 2 millionths of it."""


@cache
def host_tsc_khz() -> int:
    """Measured once, in 50 ms; 0 where the host has no TSC.

    Raises:
        InfraError: the C function cannot be compiled.
    """
    library = ctypes.CDLL(str(compiled(SOURCE)))
    library.duet_tsc_khz.restype = ctypes.c_long
    library.duet_tsc_khz.argtypes = [ctypes.c_long]
    return int(library.duet_tsc_khz(SPAN_NS))


QEMU = "qemu-system-x86_64"
QEMU_PACKAGE = "qemu-system-x86"
FIXED_CMDLINE = (
    "console=ttyS0",
    "tsc=reliable",
    "trace_clock=mono",
    "panic=-1",
    "oops=panic",
    # Seeded by RDRAND at once. Otherwise getrandom() waits for timer noise, and mkfs for seconds.
    "random.trust_cpu=on",
)
QMP_SOCKETS = {"qmp": QMP_SOCKET, "xray": "xray.sock", "shell": "drgn.sock"}
"""Client -> its monitor's socket in the run directory; `shell` is `duet drgn`."""
COUNT_CMDLINE = ("tsc_early_khz=1000000",)
"""With -icount the TSC counts guest nanoseconds, so a kilohertz is known and not measured."""
SCOPE_CMDLINE = ("noreplace-smp",)
"""A kernel on one CPU overwrites its own LOCK prefixes; the microscope tells atomics by them."""
SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
"""QEMU's own filter of system calls, set before the guest runs."""
PORTS = 8
"""Of the virtio-serial device, with port 0, which QEMU keeps for consoles."""
MANY_PORTS = (16, 68)
"""The same for guests with more vCPUs than PORTS allow; every other guest stays as it was."""


def kernel_cmdline(spec: GuestSpec, verbose: bool, accel: Accel = Accel.TCG) -> str:
    """The kernel command line; a second try is verbose."""
    clock: tuple[str, ...] = COUNT_CMDLINE
    if spec.clock == "wall":  # under KVM the host's kernel gives it to the guest
        khz = host_tsc_khz() if accel is Accel.TCG else 0
        clock = (f"tsc_early_khz={khz}",) if khz else ()
    scope = SCOPE_CMDLINE if spec.microscope else ()
    sharing = SHARING_CMDLINE if spec.sharing > 1 else ()
    quiet = () if verbose else ("quiet",)
    return " ".join((*FIXED_CMDLINE, *clock, *scope, *sharing, *quiet, *spec.cmdline))


def port_args(sockets: dict[int, Path], clock: Clock = "wall") -> list[str]:
    """One virtio-serial device, and a port for each socket. QEMU connects, the host listens.

    On the count clock a write to a port is served within the instruction that rings the bell
    (ioeventfd=off). Otherwise QEMU's main loop would serve it at some host moment, and its
    interrupt would reach the guest at another instruction in every run.
    """
    ports = next(number for number in (PORTS, *MANY_PORTS) if len(sockets) < number)
    device = f"virtio-serial-pci,id=duet,max_ports={ports}"
    args = ["-device", device + (",ioeventfd=off" if clock == "count" else "")]
    for stream, path in sockets.items():
        ident = f"duet{stream}" if stream != CTL_STREAM else "duetctl"
        name = port_name(stream)
        args += ["-chardev", f"socket,id={ident},path={path},server=off"]
        args += ["-device", f"virtserialport,bus=duet.0,chardev={ident},name={name}"]
    return args


def qmp_args(folder: Path) -> list[str]:
    """A monitor for each client, since one serves one at a time; and what drgn asks for."""
    args = ["-device", "vmcoreinfo"]
    for name in QMP_SOCKETS.values():
        args += ["-qmp", f"unix:{folder / name},server=on,wait=off"]
    return args


def clock_args(spec: GuestSpec, accel: Accel) -> list[str]:
    """Accelerator, CPU model and clock."""
    if accel is Accel.KVM:
        return ["-accel", "kvm", "-cpu", "host"]
    if spec.clock == "wall":
        return ["-accel", "tcg,thread=multi", "-cpu", "max"]
    return [
        *("-accel", "tcg,thread=single", "-cpu", "max"),
        *("-icount", f"shift={spec.icount_shift},sleep=off"),
        # Nothing of the host may leak in: neither its clock nor its randomness.
        *("-rtc", "base=2020-01-01T00:00:00,clock=vm", "-seed", str(spec.seed)),
    ]


def plan_args(spec: GuestSpec, folder: Path) -> list[str]:
    """A plan given at boot, for a run without any input from the host."""
    if spec.boot_plan is None:
        return []
    path = folder / "plan"
    path.write_text(spec.boot_plan)
    return ["-fw_cfg", f"name=opt/duet/plan,file={path.name}"]


def disk_args(spec: GuestSpec, folder: Path) -> list[str]:
    """Empty disks, sparse files beside the sockets; whatever ends the guest removes them.

    Nothing survives the guest, so nothing need reach the host's disk (cache=unsafe). An error of
    the host becomes one of the guest: QEMU would otherwise stop the guest without a word.

    Raises:
        InfraError: the host has no room for them.
    """
    if spec.clock == "count":
        return []
    args: list[str] = []
    room = shutil.disk_usage(folder).free >> 20 if spec.disks_mib else 0
    if sum(spec.disks_mib) > room:
        raise InfraError(
            f"the scratch disk of lane {spec.arm} takes up to {sum(spec.disks_mib)} MiB, but "
            f"{folder.parent} has {room} MiB free.",
            remedy="Free some room there, or set XDG_RUNTIME_DIR to a folder with more.",
        )
    for number, size in enumerate(spec.disks_mib):
        path = folder / f"disk{number}"
        with path.open("wb") as image:
            image.truncate(size << 20)
        options = "format=raw,if=none,cache=unsafe,werror=report,rerror=report"
        args += ["-drive", f"id=disk{number},file={path.name},{options}"]
        args += ["-device", f"virtio-blk-pci,drive=disk{number}"]
    return args


def scope_args(spec: GuestSpec, folder: Path, reach: Callable[[Path], str] = str) -> list[str]:
    """The microscope, and the file that tells it what to look at."""
    if spec.microscope is not None and spec.vcpus > MICROSCOPE_CPUS:
        raise InfraError(
            f"the microscope sees {MICROSCOPE_CPUS} vCPUs, and this guest has {spec.vcpus}.",
            remedy="Choose fewer vCPUs, or look without the microscope.",
        )
    if spec.microscope is None:
        return []
    functions = folder / "functions"
    functions.write_text(spec.microscope.functions)
    words = {
        "file": reach(spec.microscope.plugin),
        "socket": SCOPE_SOCKET,
        "functions": functions.name,
    }
    # A comma in a value is written twice (QEMU's keyval syntax).
    return ["-plugin", ",".join(f"{k}={str(v).replace(',', ',,')}" for k, v in words.items())]


class QemuMachine(Machine):
    """One QEMU process with a sealed root.

    It starts in its run directory and names what lies there without a path, since its user may be
    unable to reach that folder from above.
    """

    confines = True

    def limits(self) -> Limits:
        spec = self.spec
        return Limits(
            memory_bytes=(spec.memory_mib << 20) + QEMU_BEYOND_GUEST_BYTES,
            files=QEMU_FILES,
            file_bytes=max(max(spec.disks_mib, default=0) << 20, QEMU_FILE_BYTES),
            # The count goes by user, so it needs a user of its own.
            processes=QEMU_THREADS if self.uid is not None else None,
        )

    def groups(self) -> tuple[int, ...]:
        return kvm_groups() if self.accel is Accel.KVM else ()

    def memory_args(self) -> list[str]:
        """The machine and its memory."""
        return ["-M", "q35", "-m", str(self.spec.memory_mib)]

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        spec = self.spec
        return [
            QEMU,
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-sandbox", SANDBOX),
            *("-name", f"kernel-duet-{spec.arm},debug-threads=on"),
            *self.memory_args(),
            *(smp_args(spec.sharing) if spec.clock == "count" else ("-smp", str(self.cpus))),
            *clock_args(spec, self.accel),
            *("-kernel", self.reach(spec.bzimage)),
            *(("-initrd", self.reach(spec.initrd)) if spec.initrd else ()),
            *("-append", kernel_cmdline(spec, self.verbose, self.accel)),
            *("-serial", "stdio"),
            *qmp_args(Path()),
            *port_args({stream: Path(path.name) for stream, path in sockets.items()}, spec.clock),
            *disk_args(spec, folder),
            *plan_args(spec, folder),
            *scope_args(spec, folder, self.reach),
        ]


class QemuGuest(MachineGuest):
    """A sealed guest.

    Args:
        spec: kernel and initrd must exist.
        policy: auto (KVM where a probe guest runs under it), tcg or kvm.
    """

    kind = "qemu"
    deadline_s = BOOT_DEADLINE_S

    def __init__(self, spec: GuestSpec, policy: str = "auto") -> None:
        super().__init__(spec)
        self.policy = policy
        if spec.clock == "count":
            self.deadline_s = COUNT_BOOT_DEADLINE_S
        elif spec.vcpus > BOOT_CPUS:  # they come up one after another
            self.deadline_s = BOOT_DEADLINE_S * spec.vcpus / BOOT_CPUS

    async def prepare(self) -> tuple[Accel, str]:
        version = await qemu_version()
        parts = [(self.spec.bzimage, "kernel"), (self.spec.initrd, "root image")]
        if self.spec.microscope:
            parts.append((self.spec.microscope.plugin, "microscope"))
        for path, what in parts:
            if path is None or not path.is_file():
                raise InfraError(
                    f"the {what} of lane {self.spec.arm} is missing: {path}.",
                    remedy="Build it: ./duet build",
                )
        accel = await choose_accel(
            self.policy, self.spec, version, lambda spec: QemuMachine(spec, Accel.KVM, False)
        )
        if accel is Accel.TCG and self.spec.clock == "wall":
            await asyncio.to_thread(host_tsc_khz)  # measures for 50 ms, once; then it is known
        return accel, version

    def machine(self, accel: Accel, verbose: bool) -> Machine:
        return QemuMachine(self.spec, accel, verbose)


@cache
def _version_text(path: str) -> list[str]:
    """Where the version of the QEMU at `path` is kept once known."""
    return []


async def qemu_version() -> str:
    """Version of the QEMU on PATH, e.g. "7.2.22".

    Raises:
        InfraError: QEMU is missing or does not answer.
    """
    path = find_program(QEMU, QEMU_PACKAGE)
    known = _version_text(path)
    if not known:
        known.append(await _ask_version(path))
    return known[0]


def known_version() -> str | None:
    """What qemu_version() has answered before; None: nobody has asked."""
    path = shutil.which(QEMU)
    return next(iter(_version_text(path)), None) if path else None


async def _ask_version(path: str) -> str:
    try:
        # In a thread: asyncio waits for ever where it is cancelled while it starts a process.
        done = await asyncio.to_thread(
            subprocess.run, [path, "--version"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, timeout=VERSION_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InfraError(
            f"{path} --version gives no answer within {VERSION_S:g} s.",
            remedy=f"Reinstall it: apt-get install --reinstall {QEMU_PACKAGE}",
        ) from None
    words = done.stdout.decode(errors="replace").split()
    return words[words.index("version") + 1] if "version" in words else "unknown"
