# SPDX-License-Identifier: GPL-2.0-or-later
"""Sealed guest: QEMU's q35 with our initramfs, no network, and scratch disks if requested.

We use q35 because 10 of 25 boots of microvm under TCG hung before the console came up. On the wall
clock, TCG runs one thread per vCPU. On the count clock, all vCPUs share one thread, an instruction
takes 2^shift ns of guest time, and idle time is skipped (-icount shift=N,sleep=off).
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

# Several vCPUs on the count clock. QEMU runs them round robin in one thread.
#
# In each round, QEMU 7.2 lets a vCPU run for the time left until the next timer of the guest's
# clock, and runs timers only after the round. The first vCPU therefore uses all of this time and
# the second vCPU gets none. So a kernel that waits for its second CPU hangs. However, a vCPU that
# has no time left makes QEMU run the timers, and the next vCPU then gets a complete slice. Hence we
# leave every second vCPU offline: the guest boots on CPU 0, and the agent brings up CPUs 2, 4, 6
# and so on. Since QEMU 8.1, all vCPUs share a slice; this setup also works there, with shorter
# slices. docs/COUNT-CLOCK.md has the measurements.

SLICE_US: Final = 10
"""Guest time after which QEMU 7.2 switches to the next vCPU."""

SHARING_CMDLINE: Final = ("maxcpus=1", "noreplace-smp")
"""Kernel parameters that leave the other CPUs offline until user space brings them up, and that
keep the LOCK prefixes."""


def smp_args(vcpus: int) -> list[str]:
    """Return QEMU's arguments for vCPUs that share one thread, and for a timer that ends slices.

    The timer belongs to a packet filter on an empty network, and has no effect except that it fires
    every SLICE_US of the guest's clock.
    """
    if vcpus == 1:
        return ["-smp", "1"]
    return [
        *("-smp", str(2 * vcpus - 1)),
        *("-netdev", "hubport,id=turns,hubid=0"),
        *("-object", f"filter-buffer,id=turn,netdev=turns,interval={SLICE_US}"),
    ]


def online_lines(vcpus: int) -> list[str]:
    """Return the lines of the agent's plan that bring up all vCPUs except the first."""
    return [f"write /sys/devices/system/cpu/cpu{2 * n}/online 1" for n in range(1, vcpus)]


def sharing_words(vcpus: int) -> str:
    """Describe the vCPUs of a count-clock guest: "one vCPU", or how they share a thread."""
    if vcpus == 1:
        return "one vCPU"
    turn = f"{SLICE_US} us a turn, so busy waiting is not counted well"
    return f"{vcpus} vCPUs in one thread, {turn}"


# Frequency of the TSC. A guest under TCG reads the host's TSC.
#
# At boot, a guest measures the TSC's frequency with an emulated timer. On a busy host, the result
# is wrong: one guest measured 287 MHz instead of 2,596 MHz, and its clock ran nine times too fast.
# Therefore the kernel command line contains the frequency.

SOURCE = Path(__file__).with_name("_tsc.c")
SPAN_NS = 50_000_000
"""Time between two readings of the TSC. Each reading has an uncertainty of 50 ns, so the frequency
is accurate to 2 parts in 10^6."""


@cache
def host_tsc_khz() -> int:
    """Measure the host's TSC frequency in 50 ms; return 0 if there is no TSC. Cached.

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
    # RDRAND seeds the kernel at boot. Without RDRAND, getrandom() waits for timer noise, which
    # delays mkfs by seconds.
    "random.trust_cpu=on",
)
QMP_SOCKETS = {"qmp": QMP_SOCKET, "xray": "xray.sock", "shell": "drgn.sock"}
"""Name of each client's monitor socket in the run directory. The client `shell` is `duet drgn`."""
COUNT_CMDLINE = ("tsc_early_khz=1000000",)
"""Kernel parameter for the TSC frequency. With -icount the TSC counts guest nanoseconds, so the
frequency is exactly 1 GHz."""
SCOPE_CMDLINE = ("noreplace-smp",)
"""Kernel parameter that keeps the LOCK prefixes, which the kernel would patch out if there is one
CPU. The microscope detects atomics by these prefixes."""
SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
"""QEMU's own system-call filter, which is set before the guest runs."""
PORTS = 8
"""Number of ports of the virtio-serial device, including port 0, which QEMU reserves for
consoles."""
MANY_PORTS = (16, 68)
"""Larger port counts, for guests with too many vCPUs for PORTS. The port count is visible in the
guest, so smaller guests keep PORTS."""


def kernel_cmdline(spec: GuestSpec, verbose: bool, accel: Accel = Accel.TCG) -> str:
    """Return the kernel command line, which contains "quiet" unless `verbose` is set."""
    clock: tuple[str, ...] = COUNT_CMDLINE
    # Under KVM, the guest gets the TSC frequency from the host's kernel.
    if spec.clock == "wall":
        khz = host_tsc_khz() if accel is Accel.TCG else 0
        clock = (f"tsc_early_khz={khz}",) if khz else ()
    scope = SCOPE_CMDLINE if spec.microscope else ()
    sharing = SHARING_CMDLINE if spec.sharing > 1 else ()
    quiet = () if verbose else ("quiet",)
    return " ".join((*FIXED_CMDLINE, *clock, *scope, *sharing, *quiet, *spec.cmdline))


def port_args(sockets: dict[int, Path], clock: Clock = "wall") -> list[str]:
    """Return QEMU's arguments for a virtio-serial device that has one port per socket.

    The host listens, and QEMU connects. On the count clock, QEMU handles a write to a port within
    the instruction that notifies the device (ioeventfd=off). Otherwise QEMU's main loop would
    handle the write at a time that depends on the host, and the interrupt would arrive at a
    different instruction in every run.
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
    """Return QEMU's arguments for one monitor per client, and for vmcoreinfo, which drgn reads.

    Clients cannot share a monitor, because each monitor serves only one client at a time.
    """
    args = ["-device", "vmcoreinfo"]
    for name in QMP_SOCKETS.values():
        args += ["-qmp", f"unix:{folder / name},server=on,wait=off"]
    return args


def clock_args(spec: GuestSpec, accel: Accel) -> list[str]:
    """Return QEMU's arguments for accelerator, CPU model and clock."""
    if accel is Accel.KVM:
        return ["-accel", "kvm", "-cpu", "host"]
    if spec.clock == "wall":
        return ["-accel", "tcg,thread=multi", "-cpu", "max"]
    return [
        *("-accel", "tcg,thread=single", "-cpu", "max"),
        *("-icount", f"shift={spec.icount_shift},sleep=off"),
        # The guest must not depend on the host's clock or on the host's random numbers.
        *("-rtc", "base=2020-01-01T00:00:00,clock=vm", "-seed", str(spec.seed)),
    ]


def plan_args(spec: GuestSpec, folder: Path) -> list[str]:
    """Write the plan into `folder`; return QEMU's arguments that pass the plan to the agent.

    A run with such a plan has no input from the host.
    """
    if spec.boot_plan is None:
        return []
    path = folder / "plan"
    path.write_text(spec.boot_plan)
    return ["-fw_cfg", f"name=opt/duet/plan,file={path.name}"]


def disk_args(spec: GuestSpec, folder: Path) -> list[str]:
    """Create empty disks as sparse files in `folder`, and return QEMU's arguments for them.

    The disks are removed with the folder, so QEMU need not flush writes to the host's disk
    (cache=unsafe). The guest gets the I/O errors of the host; otherwise QEMU would silently stop
    the guest.

    Raises:
        InfraError: the host has too little free space.
    """
    if spec.clock == "count":
        return []
    args: list[str] = []
    room = shutil.disk_usage(folder).free >> 20 if spec.disks_mib else 0
    if sum(spec.disks_mib) > room:
        raise InfraError(
            f"the scratch disk of lane {spec.arm} takes up to {sum(spec.disks_mib)} MiB, but "
            f"{folder.parent} has {room} MiB free.",
            remedy="Free some space there, or set XDG_RUNTIME_DIR to a folder that has more.",
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
    """Write the microscope's functions file into `folder` and return QEMU's arguments for it.

    Args:
        reach: function that returns a path at which QEMU can open the plugin.

    Raises:
        InfraError: the guest has more than MICROSCOPE_CPUS vCPUs.
    """
    if spec.microscope is not None and spec.vcpus > MICROSCOPE_CPUS:
        raise InfraError(
            f"the microscope supports at most {MICROSCOPE_CPUS} vCPUs, but this guest has "
            f"{spec.vcpus}.",
            remedy="Choose fewer vCPUs, or run without the microscope.",
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

    QEMU starts in its run directory and opens files there by relative paths, because its user may
    lack access to the parent folders.
    """

    confines = True

    def limits(self) -> Limits:
        spec = self.spec
        return Limits(
            memory_bytes=(spec.memory_mib << 20) + QEMU_BEYOND_GUEST_BYTES,
            files=QEMU_FILES,
            file_bytes=max(max(spec.disks_mib, default=0) << 20, QEMU_FILE_BYTES),
            # This limit requires a separate user, because the kernel counts processes per user.
            processes=QEMU_THREADS if self.uid is not None else None,
        )

    def groups(self) -> tuple[int, ...]:
        return kvm_groups() if self.accel is Accel.KVM else ()

    def memory_args(self) -> list[str]:
        """Return QEMU's arguments for the machine type and its memory."""
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
        spec: the guest's parameters; kernel and initrd must exist.
        policy: auto (KVM if a probe guest has booted under KVM), tcg or kvm.
    """

    kind = "qemu"
    deadline_s = BOOT_DEADLINE_S

    def __init__(self, spec: GuestSpec, policy: str = "auto") -> None:
        super().__init__(spec)
        self.policy = policy
        if spec.clock == "count":
            self.deadline_s = COUNT_BOOT_DEADLINE_S
        elif spec.vcpus > BOOT_CPUS:  # more vCPUs boot more slowly, because they start one by one
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
            # This call runs in a thread, because the first call takes 50 ms.
            await asyncio.to_thread(host_tsc_khz)
        return accel, version

    def machine(self, accel: Accel, verbose: bool) -> Machine:
        return QemuMachine(self.spec, accel, verbose)


@cache
def _version_text(path: str) -> list[str]:
    """Return the list that caches the version of the QEMU at `path`; initially empty."""
    return []


async def qemu_version() -> str:
    """Return the version of the QEMU on PATH, e.g. "7.2.22".

    Raises:
        InfraError: QEMU is missing, or does not answer within VERSION_S.
    """
    path = find_program(QEMU, QEMU_PACKAGE)
    known = _version_text(path)
    if not known:
        known.append(await _ask_version(path))
    return known[0]


def known_version() -> str | None:
    """Return the cached result of qemu_version(); None if that function was never called."""
    path = shutil.which(QEMU)
    return next(iter(_version_text(path)), None) if path else None


async def _ask_version(path: str) -> str:
    try:
        # Run QEMU in a thread, because asyncio hangs if a task is cancelled while it starts a
        # process.
        done = await asyncio.to_thread(
            subprocess.run, [path, "--version"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, timeout=VERSION_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InfraError(
            f"{path} --version did not answer within {VERSION_S:g} s.",
            remedy=f"Reinstall it: apt-get install --reinstall {QEMU_PACKAGE}",
        ) from None
    words = done.stdout.decode(errors="replace").split()
    return words[words.index("version") + 1] if "version" in words else "unknown"
