# SPDX-License-Identifier: GPL-2.0-or-later
"""Boot a kernel under stress and return its console. No agent runs on the kernel under test.

The kernel may be untrusted and attack its host. So its QEMU is confined like a lane's QEMU
(duet.guests.enclosure), and the size of its console is limited.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event

from duet.base.budgets import STRESS_CONSOLE_BYTES, STRESS_LINE_BYTES
from duet.base.errors import DuetError, InfraError
from duet.guests.limits import HANG_UP_S
from duet.guests.machine import Console
from duet.guests.qemu import QEMU, QEMU_PACKAGE, SANDBOX, QemuMachine, clock_args, disk_args
from duet.guests.types import Accel, GuestSpec
from duet.lessons.load import LessonFolder
from duet.lessons.plan import command
from duet.processes.owned import find_program
from duet.processes.run_dir import passable_base
from duet.trials.check.console import FAILED

BOOT_S = 600
"""Total timeout for the boot, the last round and the shutdown, on a busy host under emulation."""
MEMORY_MB = 2048
"""Minimum memory of the machine. KASAN uses an eighth for its shadow, a 32nd for its quarantine,
and some more for other data.
"""
DISK_MB = 1024
PROGRAM = "stress"
LOOK_S = 0.5
"""Interval between checks of whether to stop the machine."""
# Without these options, a guest on a busy host may calibrate its TSC ten times too slow. The guest
# then finishes too early.
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
    """Boot a kernel, wait until the guest ends, and return its console.

    This blocks, and must be called in a thread without a running event loop.

    Args:
        root: image with the guest's programs.
        program: text of the guest's init script.
        seconds: maximum time that the init script runs after the boot.
        memory_mb: the workload's memory. The machine gets twice as much, but at least MEMORY_MB.
        options: added to the kernel command line.
        stop: when set, the machine stops within a second.

    Returns:
        The console. If the machine hung or was reset, the console lacks the script's last line. If
        the console exceeds budgets.STRESS_CONSOLE_BYTES, the machine is stopped, and a failure line
        is appended.

    Raises:
        InfraError: QEMU is not installed, failed, or ran out of memory.
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
    """A console that keeps everything that a guest writes, up to a limit.

    Args:
        most: maximum number of bytes in all.
        most_line: maximum number of bytes per line.
    """

    def __init__(self, most: int = STRESS_CONSOLE_BYTES, most_line: int = STRESS_LINE_BYTES):
        super().__init__()
        self._most, self._most_line = most, most_line
        self._whole = bytearray()
        self.full = False
        """Whether the guest has written more than `most`."""

    def feed(self, text: bytes) -> None:
        super().feed(text)
        room = self._most - len(self._whole)
        self._whole += text[:room]
        self.full |= len(text) > room

    def text(self) -> str:
        """Return the console with long lines cut. If text was dropped, a last line says so."""
        lines = [line[: self._most_line] for line in bytes(self._whole).split(b"\n")]
        if self.full:
            words = f"the guest wrote more than {self._most:,} bytes to its console, and was killed"
            lines += [f"{FAILED}: {words}".encode(), b""]
        return b"\n".join(lines).decode(errors="replace")


class StressMachine(QemuMachine):
    """QEMU process for a kernel under stress. It is like a lane's, but has no agent or monitor.

    Args:
        root: image with the guest's programs.
        program: text of the init script that is added to the image.
    """

    console: WholeConsole

    def __init__(self, spec: GuestSpec, root: Path, program: str) -> None:
        super().__init__(spec, Accel.TCG, verbose=True)
        self.console = WholeConsole()
        # XDG_RUNTIME_DIR may be a tmpfs that is too small for the guest's disk image.
        self.folder_base = passable_base()
        self._root, self._program = root, program
        self._sealed = False

    def argv(self, folder: Path, sockets: dict[int, Path]) -> Sequence[str]:
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
        """Seal the machine's folder after the guest's first output, when QEMU has opened all files.

        Raises:
            InfraError: see RunDir.seal().
        """
        if not self._sealed and self.console.tail():
            self._sealed = True
            self.seal()

    async def wait_for_output(self) -> None:
        """Wait at most HANG_UP_S until QEMU has ended and all its output was read."""
        assert self._process is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HANG_UP_S):
                await self._process.wait_for_output()

    def failure(self) -> DuetError | None:
        """Return why QEMU ended, or None if the guest powered off."""
        code = self._enclosure.code(self._process.returncode if self._process else None)
        detail = self.errors.tail()
        if code and self._enclosure.used_up():
            return InfraError(
                "QEMU of the guest under stress ran out of memory, and the host killed it.",
                remedy="Reduce the guest's work; docs/OPERATING.md has the limits.",
                detail=detail,
            )
        if not code:
            return None
        return InfraError(
            f"QEMU ended with exit code {code}.", remedy="Run ./duet doctor.", detail=detail
        )


async def _run(machine: StressMachine, most_s: float, stop: Event) -> str:
    """Run the machine for at most `most_s`, close it, and return its console."""
    deadline = time.monotonic() + most_s
    try:
        await machine.start()
        ended = asyncio.create_task(machine.wait_end())
        while not ended.done():
            if stop.is_set() or machine.console.full or time.monotonic() > deadline:
                ended.cancel()
                return machine.console.text()  # the console shows where the guest hangs
            await asyncio.wait([ended], timeout=LOOK_S)
            machine.look()
        await machine.wait_for_output()
        if error := machine.failure():
            raise error
        return machine.console.text()
    finally:
        await machine.close()


def archive(name: str, text: str) -> bytes:
    """Return a cpio archive that contains one program.

    The format is newc (Documentation/driver-api/early-userspace).
    """

    def entry(name: str, mode: int, content: bytes) -> bytes:
        fields = [0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        return pad(head) + pad(content)

    def pad(part: bytes) -> bytes:
        return part + bytes(-len(part) % 4)

    return entry(name, 0o100755, text.encode()) + entry("TRAILER!!!", 0, b"")


# Init script of a guest under stress. The script runs workloads one after another, while other
# scripts and reclaim run in parallel.
#
# The script prints its results to the console in lines that `console.py` parses.

ROUND_S = 8
"""Length of a turn for workloads that take a number of seconds."""
BEGUN = "stress: begin "
TURN_S = 600
"""Timeout of one turn, after which the workload is killed and counts as failed."""
FRAME = """#!/bin/sh
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /scratch
mount -a
uptime_s() {{ cut -d. -f1 /proc/uptime; }}
memory() {{ grep -E '^(Slab|Percpu|KernelStack)' /proc/meminfo | tr -s ' \\n' ' '; }}
try() {{ "$@" || echo "stress: failed ($?): $*"; }}
stressors() {{
	timeout {turn_s} stress-ng --temp-path /tmp --timeout {round_s} "$@" >/run/said 2>&1
	code=$?
	case $code in 0|3|4) return ;; esac # 3: no resources, 4: this kernel lacks a feature
	echo "stress: failed ($code): stress-ng $*"
	tail -n 5 /run/said
}}
reclaim() {{
	while [ ! -e /run/over ]; do
		[ -e /run/alone ] || echo 2 >/proc/sys/vm/drop_caches
		sleep 0.1
	done
}}
over() {{ [ "$(uptime_s)" -ge "$end" ]; }}
loop_beside() {{
	times=0
	while [ ! -e /run/over ]; do
		beside || echo "stress: failed: $1"
		times=$((times + 1))
	done
	echo "stress: beside=$times"
}}
echo "stress: begin $(memory)"
end=$(($(uptime_s) + {seconds}))
reclaim &
{beside}rounds=0
while ! over; do
{turns}	rounds=$((rounds + 1))
done
touch /run/over
wait
echo 3 >/proc/sys/vm/drop_caches
sleep 3
echo "stress: after $(memory)"
echo "stress: end rounds=$rounds"
poweroff -f
"""


def first_program(turns: Sequence[str], beside: Mapping[str, str], seconds: int) -> str:
    """Return the text of the init script.

    Args:
        turns: commands that run one after another until the time is over. They may call the
            functions `try` and `stressors`.
        beside: maps a name to shell text with a function `beside`, which is called in a parallel
            loop. Paths below /run in the text are changed to paths below /run/NAME.
        seconds: time after which no turn begins.
    """
    loops = "".join(_loop(name, text) for name, text in beside.items())
    lines = [f"	over || {line}\n" for line in turns or ["sleep 1"]]
    return FRAME.format(
        turns="".join(lines), beside=loops, seconds=seconds, turn_s=TURN_S, round_s=ROUND_S
    )


def has_begun(console: str) -> bool:
    """Whether the guest has booted and its init script ran."""
    return BEGUN in console


def _loop(name: str, text: str) -> str:
    """Return shell text that runs a parallel script in a subshell, with its own folder in /run."""
    own = text.replace("/run/", f"/run/{name}/")
    return f"mkdir -p /run/{name}\n(\n{own}\nloop_beside {name}\n) &\n"


def turn(
    folder: LessonFolder, name: str, own: Mapping[str, int], *, alone: bool = False
) -> Iterator[str]:
    """Yield the commands of one workload of a lesson.

    Args:
        own: knob values. The knob `seconds` is ROUND_S unless it is given.
        alone: whether to pause the init script's own reclaim while the workload runs.

    Raises:
        InputError: the lesson does not have one of the knobs.
    """
    workload = folder.lesson.workloads[name]
    known = folder.lesson.params
    options = {"seconds": ROUND_S, **own} if "seconds" in known else dict(own)
    params = folder.check_params(options, "wall")
    for line in workload.setup:
        yield f"try {line.format(**params)}"
    for line in workload.writes:
        path, _, value = line.format(**params).partition(" ")
        yield f"echo {shlex.quote(value)} >{path}"
    if alone:
        yield "{ touch /run/alone; sleep 2; }"
    yield f"try timeout {TURN_S} {command(workload, params)}"
    if alone:
        yield "rm /run/alone"
