# SPDX-License-Identifier: GPL-2.0-or-later
"""drgn on a running guest: attach over QMP, load its DWARF, say by which route it reads.

QEMU is asked once for the kernel's VMCOREINFO (dump-guest-memory), for which it holds the guest
for about 0.3 ms; nothing after that stops it.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

import drgn

from duet.lenses.kernel import LensError
from duet.lenses.limits import ROUTE_BYTES, ROUTE_FAST_S
from duet.lenses.memory import DIRECT_MAP
from duet.lenses.records import Route

REBUILD = "Build the kernel again with ./duet build, and start its guest anew."


class _LogLines(logging.Handler):
    """What drgn says while it attaches."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def attach(socket: Path, vmlinux: Path, named: Path | None = None) -> tuple[drgn.Program, Route]:
    """A program that reads the guest behind a QMP socket of its own.

    Args:
        named: the vmlinux as people know it, where `vmlinux` is a descriptor's path.

    Raises:
        LensError: no monitor, no vmcoreinfo, no vmlinux, no DWARF, or another kernel's.
    """
    named = named or vmlinux
    if not vmlinux.is_file():
        raise LensError(f"the kernel's vmlinux is missing: {named}.", remedy=REBUILD)
    log_lines = _LogLines()
    logger = logging.getLogger("drgn")
    logger.addHandler(log_lines)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        program = drgn.Program()
        _connect(program, socket)
        _symbols(program, vmlinux, named)
        return program, route_of(log_lines.lines) or _timed(program)
    finally:
        logger.removeHandler(log_lines)
        logger.setLevel(logging.ERROR)


def _connect(program: drgn.Program, socket: Path) -> None:
    try:
        program.set_qemu_qmp(str(socket))
    except Exception as error:
        raise LensError(
            f"the guest's memory cannot be reached over {socket.name}: {error}.",
            remedy="Look whether the guest lives, and whether another x-ray holds that socket.",
        ) from error
    if not program.flags & drgn.ProgramFlags.IS_LINUX_KERNEL:
        raise LensError(
            "the guest has not given QEMU the place where its kernel's notes lie (vmcoreinfo).",
            remedy="Wait until it has booted; its config needs KEXEC and FW_CFG_SYSFS.",
        )


def _symbols(program: drgn.Program, vmlinux: Path, named: Path) -> None:
    try:
        program.load_debug_info([str(vmlinux)])
        module = program.main_module()
        if not module.wants_debug_file():
            return
        why = "its build ID is not that of the kernel that runs, or it has no DWARF"
    except Exception as error:
        why = str(error).splitlines()[0]
    raise LensError(
        f"{named.name} of the kernel {named.parent.name} does not tell what lies where: {why}.",
        remedy=REBUILD,
    )


def route_of(lines: list[str]) -> Route | None:
    """drgn's own word on how it reads."""
    for line in lines:
        if "process memory reading enabled" in line:
            return "memory"
        if "process memory reading disabled" in line:
            return "qmp"
    return None


def _timed(program: drgn.Program) -> Route:
    """By the time that a long read takes: a drgn that says nothing."""
    began = time.monotonic()
    try:
        program.read(DIRECT_MAP + (1 << 20), ROUTE_BYTES)
    except Exception:
        return "unknown"
    return "memory" if time.monotonic() - began < ROUTE_FAST_S else "qmp"
