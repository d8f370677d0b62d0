# SPDX-License-Identifier: GPL-2.0-or-later
"""Attaches drgn to a running guest over QMP, loads the kernel's DWARF, and detects the read route.

drgn asks QEMU once for the kernel's VMCOREINFO (dump-guest-memory), and QEMU stops the guest for
about 0.3 ms. Later reads do not stop the guest.
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

REBUILD = "Build the kernel again with ./duet build, and restart its guest."


class _LogLines(logging.Handler):
    """Collects drgn's log while it attaches."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def attach(socket: Path, vmlinux: Path, named: Path | None = None) -> tuple[drgn.Program, Route]:
    """Return a drgn program that reads the guest through a QMP socket.

    Nothing else may use the socket.

    Args:
        named: path of the vmlinux to show in messages, if `vmlinux` is the path of a file
            descriptor.

    Raises:
        LensError: the monitor, the vmcoreinfo, the vmlinux or its DWARF is missing, or the DWARF
            belongs to another kernel.
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
            remedy="Check that the guest runs, and that no other x-ray uses that socket.",
        ) from error
    if not program.flags & drgn.ProgramFlags.IS_LINUX_KERNEL:
        raise LensError(
            "the guest's kernel has not given QEMU its vmcoreinfo note.",
            remedy="Wait until the guest has booted; its config needs KEXEC and FW_CFG_SYSFS.",
        )


def _symbols(program: drgn.Program, vmlinux: Path, named: Path) -> None:
    try:
        program.load_debug_info([str(vmlinux)])
        module = program.main_module()
        if not module.wants_debug_file():
            return
        why = "its build ID differs from the running kernel's, or it has no DWARF"
    except Exception as error:
        why = str(error).splitlines()[0]
    raise LensError(
        f"{named.name} of the kernel {named.parent.name} has no usable debug information: {why}.",
        remedy=REBUILD,
    )


def route_of(lines: list[str]) -> Route | None:
    """Return how drgn reads memory, according to its log."""
    for line in lines:
        if "process memory reading enabled" in line:
            return "memory"
        if "process memory reading disabled" in line:
            return "qmp"
    return None


def _timed(program: drgn.Program) -> Route:
    """Guess the route from the duration of a long read, if drgn does not log its route."""
    began = time.monotonic()
    try:
        program.read(DIRECT_MAP + (1 << 20), ROUTE_BYTES)
    except Exception:
        return "unknown"
    return "memory" if time.monotonic() - began < ROUTE_FAST_S else "qmp"
