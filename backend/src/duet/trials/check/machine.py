# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots a kernel under stress and gives its console. No agent: the kernel is the subject.

It may be a stranger's, made to attack its host. So its QEMU is that of a lane, with the same
enclosure (duet.guests.enclosure), and its console is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from duet.budgets import STRESS_CONSOLE_BYTES, STRESS_LINE_BYTES
from duet.errors import DuetError, InfraError
from duet.guests.console import Console
from duet.guests.limits import HANG_UP_S
from duet.guests.qemu import QEMU, QEMU_PACKAGE, SANDBOX, QemuMachine, clock_args, disk_args
from duet.guests.types import Accel, GuestSpec
from duet.processes.owned import find_program
from duet.processes.run_dir import passable_base
from duet.trials.check.console import FAILED

BOOT_S = 600
"""Boot, the last round and the way down, on a busy host under emulation."""
MEMORY_MB = 2048
"""At least: KASAN's shadow is an eighth, its quarantine a 32nd, and freed memory is kept."""
DISK_MB = 1024
PROGRAM = "stress"
LOOK_S = 0.5
"""How often it is looked whether the machine is to end."""
# On a busy host a guest may take its TSC for ten times as slow, and be over too early.
KERNEL = ("console=ttyS0", "tsc=unstable", "clocksource=hpet", "panic=-1", "oops=panic")


def boot(
    bzimage: Path,
    root: Path,
    program: str,
    *,
    seconds: int,
    memory_mb: int = 0,
    options: Sequence[str] = (),
    stop: Event | None = None,
) -> str:
    """Boot, wait for the end, give the console. Blocking; in a thread without an event loop.

    Args:
        root: image with the programs of the guest.
        program: text of its first program.
        seconds: that the program takes at most after its boot.
        memory_mb: of the workload; the machine has twice as much, and at least MEMORY_MB.
        options: for the kernel's command line.
        stop: ends the machine within a second.

    Returns:
        The console; without the program's last line if the machine hung or was reset. A console
        beyond budgets.STRESS_CONSOLE_BYTES ends the machine, and a failure is its last line.

    Raises:
        InfraError: QEMU is not installed, ends with an error, or has used up its memory.
    """
    spec = GuestSpec(
        arm=PROGRAM,
        bzimage=bzimage,
        initrd=None,
        memory_mib=max(MEMORY_MB, 2 * memory_mb),
        cmdline=(*KERNEL, f"rdinit=/{PROGRAM}", *options),
        disks_mib=(DISK_MB,),
    )
    find_program(QEMU, QEMU_PACKAGE)
    return asyncio.run(_run(StressMachine(spec, root, program), seconds + BOOT_S, stop or Event()))


class WholeConsole(Console):
    """All that a guest writes, up to a limit.

    Args:
        most: bytes of all.
        most_line: bytes of a line.
    """

    def __init__(self, most: int = STRESS_CONSOLE_BYTES, most_line: int = STRESS_LINE_BYTES):
        super().__init__()
        self._most, self._most_line = most, most_line
        self._whole = bytearray()
        self.full = False
        """The guest has written more."""

    def feed(self, text: bytes) -> None:
        """Append what fits."""
        super().feed(text)
        room = self._most - len(self._whole)
        self._whole += text[:room]
        self.full |= len(text) > room

    def text(self) -> str:
        """With long lines cut off; the last line says so if the guest has written more."""
        lines = [line[: self._most_line] for line in bytes(self._whole).split(b"\n")]
        if self.full:
            words = f"the guest wrote more than {self._most:,} bytes to its console, and was ended"
            lines += [f"{FAILED}: {words}".encode(), b""]
        return b"\n".join(lines).decode(errors="replace")


class StressMachine(QemuMachine):
    """A lane's QEMU without agent and monitor.

    Args:
        root: image with the programs of the guest.
        program: text of the one that is added as its first.
    """

    console: WholeConsole

    def __init__(self, spec: GuestSpec, root: Path, program: str) -> None:
        super().__init__(spec, Accel.TCG, verbose=True)
        self.console = WholeConsole()
        # XDG_RUNTIME_DIR may be a file system in memory that is smaller than the disk.
        self.folder_base = passable_base()
        self._root, self._program = root, program
        self._sealed = False

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
        """See Machine.argv()."""
        whole = self._root.read_bytes()
        initrd = folder / "initrd"
        initrd.write_bytes(whole + bytes(-len(whole) % 4) + archive(PROGRAM, self._program))
        return [
            *(QEMU, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-sandbox", SANDBOX, "-name", "kernel-duet-stress,debug-threads=on"),
            *self.memory_args(),
            *("-smp", str(self.cpus), *clock_args(self.spec, self.accel)),
            *("-kernel", self.reach(self.spec.bzimage), "-initrd", initrd.name),
            *("-append", " ".join(self.spec.cmdline), "-serial", "stdio"),
            *disk_args(self.spec, folder),
        ]

    def look(self) -> None:
        """Seal its folder once it runs: QEMU has opened all files by then.

        Raises:
            InfraError: see RunDir.seal().
        """
        if not self._sealed and self.console.tail():
            self._sealed = True
            self.seal()

    async def wait_for_output(self) -> None:
        """Until the process has ended and its last byte was read, or that takes too long."""
        assert self._process is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HANG_UP_S):
                await self._process.wait_for_output()

    def failure(self) -> DuetError | None:
        """Why QEMU ended, unless the guest switched itself off."""
        code = self._enclosure.code(self._process.returncode if self._process else None)
        detail = self.errors.tail()
        if code and self._enclosure.used_up():
            return InfraError(
                "QEMU of the guest under stress has used up its memory, and the host ended it.",
                remedy="Give the guest less to do; docs/OPERATING.md has the limits.",
                detail=detail,
            )
        if not code:
            return None
        return InfraError(
            f"QEMU ended with exit code {code}.", remedy="Run ./duet doctor.", detail=detail
        )


async def _run(machine: StressMachine, most_s: float, stop: Event) -> str:
    """Until it ends, or for so long; it never outlives this call."""
    deadline = time.monotonic() + most_s
    try:
        await machine.start()
        ended = asyncio.create_task(machine.wait_end())
        while not ended.done():
            if stop.is_set() or machine.console.full or time.monotonic() > deadline:
                ended.cancel()
                return machine.console.text()  # it hangs: its console says where
            await asyncio.wait([ended], timeout=LOOK_S)
            machine.look()
        await machine.wait_for_output()
        if error := machine.failure():
            raise error
        return machine.console.text()
    finally:
        await machine.close()


def archive(name: str, text: str) -> bytes:
    """A cpio archive (newc, as Documentation/driver-api/early-userspace has it) of one program."""

    def entry(name: str, mode: int, content: bytes) -> bytes:
        fields = [0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        return pad(head) + pad(content)

    def pad(part: bytes) -> bytes:
        return part + bytes(-len(part) % 4)

    return entry(name, 0o100755, text.encode()) + entry("TRAILER!!!", 0, b"")
