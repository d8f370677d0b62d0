# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots a kernel under stress and gives its whole console. No agent: the kernel is the subject."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from duet.errors import InfraError
from duet.processes.owned import mortal_words

BOOT_S = 600
"""Boot, the last round and the way down, on a busy host under emulation."""
MEMORY_MB = 2048
"""At least: KASAN's shadow is an eighth, its quarantine a 32nd, and freed memory is kept."""
DISK_MB = 1024
PROGRAM = "stress"
LOOK_S = 0.5
"""How often it is looked whether the machine is to end."""


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
    """Boot, wait for the end, give the whole console.

    Args:
        root: image with the programs of the guest.
        program: text of its first program.
        seconds: that the program takes at most after its boot.
        memory_mb: of the workload; the machine has twice as much, and at least MEMORY_MB.
        options: for the kernel's command line.
        stop: ends the machine within a second.

    Returns:
        The console; without the program's last line if the machine hung or was reset.

    Raises:
        InfraError: QEMU is not installed, or ends with an error.
    """
    with tempfile.TemporaryDirectory(prefix="duet-stress-") as name:
        place = Path(name)
        whole = root.read_bytes()
        (place / "initrd").write_bytes(whole + bytes(-len(whole) % 4) + archive(PROGRAM, program))
        (place / "disk").touch()
        with (place / "disk").open("r+b") as disk:
            disk.truncate(DISK_MB << 20)
        # On a busy host a guest may take its TSC for ten times as slow, and be over too early.
        kernel = ["console=ttyS0", "tsc=unstable", "clocksource=hpet", "panic=-1", "oops=panic"]
        kernel += [f"rdinit=/{PROGRAM}", *options]
        command_line = [
            *mortal_words(),
            *("nice", "-n", "10", "qemu-system-x86_64", "-nodefaults", "-no-reboot"),
            *("-display", "none", "-M", "q35", "-smp", "2", "-cpu", "max"),
            *("-m", str(max(MEMORY_MB, 2 * memory_mb)), "-accel", "tcg,thread=multi"),
            *("-kernel", str(bzimage), "-initrd", str(place / "initrd")),
            *("-append", " ".join(kernel), "-serial", f"file:{place / 'console'}"),
            *("-drive", f"file={place / 'disk'},format=raw,if=virtio,cache=unsafe"),
        ]
        _run(command_line, seconds + BOOT_S, stop or Event())
        console = place / "console"
        return console.read_text(errors="replace") if console.is_file() else ""


def _run(command_line: list[str], most_s: float, stop: Event) -> None:
    """Until it ends, or for so long; it never outlives this call."""
    deadline = time.monotonic() + most_s
    try:
        qemu = subprocess.Popen(
            command_line, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
    except OSError as error:
        raise InfraError(
            f"the guest cannot be started: {error}.",
            remedy="Run ./setup.sh, which installs QEMU.",
        ) from None
    try:
        while True:
            try:
                _, said = qemu.communicate(timeout=LOOK_S)
                break
            except subprocess.TimeoutExpired:
                if stop.is_set() or time.monotonic() > deadline:
                    return  # it hangs: its console says where
    finally:
        qemu.kill()
        qemu.wait()
    if qemu.returncode:
        raise InfraError(
            f"QEMU ended with exit code {qemu.returncode}.",
            remedy="Run ./duet doctor.",
            detail=said,
        )


def archive(name: str, text: str) -> bytes:
    """A cpio archive (newc, as Documentation/driver-api/early-userspace has it) of one program."""

    def entry(name: str, mode: int, content: bytes) -> bytes:
        fields = [0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        return pad(head) + pad(content)

    def pad(part: bytes) -> bytes:
        return part + bytes(-len(part) % 4)

    return entry(name, 0o100755, text.encode()) + entry("TRAILER!!!", 0, b"")
