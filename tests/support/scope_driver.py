# SPDX-License-Identifier: GPL-2.0-or-later
"""hammer and neighbour (tests/fixtures/microscope) in a guest: how they get there, what they do."""

from __future__ import annotations

import asyncio
import importlib.machinery
import importlib.util
import re
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from duet.base.settings import repo_root
from duet.guests import Microscope
from duet.guests.qemu import qemu_version
from duet.kernels import KernelImage, KernelSettings
from duet.kernels.arms import find_image
from duet.lenses.scope import RMW, Cells, functions_text, plugin_library
from duet.lenses.scope.symbols import function_ranges
from duet.lessons.load import load

SOURCES = Path(__file__).parents[1] / "fixtures" / "microscope"
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-pthread", "-no-pie")
BASES = {"hammer": 0x7000000, "neighbour": 0x7800000}
"""No other program of a guest lies there."""
WAYS = tuple(
    f"leave_{way}"
    for way in (
        *("ret", "jmp", "jcc", "taken", "through", "indirect"),
        *("syscall", "popf", "call", "page", "rep", "near", "mov", "add", "atomic", "across"),
    )
)
"""neighbour's watched functions, in the order of its counters."""
BESIDES = {
    "leave_popf": (1, 1),
    "leave_near": (0, 2),
    "leave_mov": (0, 1),
    "leave_add": (1, 1),
}
"""What they read and write in one call, besides their counter."""
OLD_QEMU = asyncio.run(qemu_version()).startswith("7.")
"""Debian 12's; QEMU 10 of Debian 13 translates `rep` and stores of 16 bytes in another way."""
PLUGIN_API = 1 if OLD_QEMU else 3
"""Version of QEMU's plug-in interface, as the microscope reports it."""
COUNTED_REP_ROUNDS = 3
"""Of leave_rep(), in one call, untold: two that store, and one that ends the loop."""
REP_ROUNDS = COUNTED_REP_ROUNDS if OLD_QEMU else 1
"""The same on the wall clock: QEMU 10 stays in the loop where it counts no instructions."""
OBJECT_BYTES = 256
ELEMENTS = (208, 216, 224, 232, 240)
"""Of `rep stosq`, which QEMU does one by one."""
STRIKE: tuple[tuple[int, str, int], ...] = (
    *((0, "reads", 8), (8, "writes", 4), (16, "reads", 8), (16, "writes", 8)),
    *((24, "rmws", 8), (32, "reads", 8), (40, "rmws", 4), (64, "rmws", 16), (80, "rmws", 8)),
    *(
        # A store of 16 bytes is two of 8, and the first crosses a line's end.
        ((188, "writes", 8), (192, "writes", 8), (196, "writes", 8))
        if OLD_QEMU
        # It is one, which crosses a line's end.
        else ((188, "writes", 16), (192, "writes", 16))
    ),
    *((at, "writes", 8) for at in ELEMENTS),
)
"""Accesses of one call: offset, class, size; besides the tries of cmpxchg at 32."""
PER_CALL = len(STRIKE)
_COUNTERS = re.compile(r"neighbour: xadd=(\d+) own=([\d,]+)")
_SAID = re.compile(r"hammer: calls=(\d+) xadd=(\d+) cmpxchg=(\d+) tries=(\d+)")


@dataclass(frozen=True)
class Said:
    """What the program counted itself."""

    calls: int
    xadd: int
    cmpxchg: int
    tries: int

    @classmethod
    def of(cls, text: str) -> Said:
        """The last line of it."""
        return cls(*map(int, _SAID.findall(text)[-1]))


def stock() -> KernelImage:
    """Lesson 05's kernel before its patch; one that is not built fails the test."""
    return find_image(load("05-cacheline-pingpong"), "stock", KernelSettings.default())


def build(folder: Path, name: str = "hammer") -> Path:
    """The program of that name."""
    base = f"-Wl,-Ttext-segment={BASES[name]:#x}"
    command = ["gcc", *FLAGS, base, "-o", folder / name, SOURCES / f"{name}.c"]
    subprocess.run(command, check=True, timeout=120)
    return folder / name


def initrd(place: str, program: Path, into: Path, root: Path | None = None) -> Path:
    """An initramfs with `program` at `place`, behind those of `root`; a later file wins."""
    archive = _recipe().Archive()
    archive.add(place, stat.S_IFREG | 0o755, program.read_bytes())
    archive.add("dev/console", stat.S_IFCHR | 0o600, rdev=(5, 1))
    into.write_bytes((root.read_bytes() if root else b"") + archive.end())
    return into


@cache
def _recipe() -> Any:
    path = str(repo_root() / "vm-images" / "root" / "build")
    loader = importlib.machinery.SourceFileLoader("root_build", path)
    spec = importlib.util.spec_from_loader("root_build", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.modules["root_build"] = module
    loader.exec_module(module)
    sys.dont_write_bytecode = writes
    return module


def microscope(
    program: Path, switch: int | None = None, neighbour: Path | None = None
) -> Microscope:
    """A microscope on strike() and all watched functions of neighbour, for the QEMU at hand."""
    text = functions_text(program, ["strike"], "strike", None)
    if neighbour is not None:
        rows = functions_text(neighbour, WAYS, None, None).splitlines()
        text += "".join(f"{row}\n" for row in rows if row.startswith("function "))
    if switch is not None:
        text += f"switch {switch:x}\n"
    return Microscope(plugin_library(asyncio.run(qemu_version())), text)


def address_of(program: Path, name: str) -> int:
    """Of a variable, as nm has it."""
    return next(int(row.split()[0], 16) for row in _nm(program).splitlines() if row.endswith(name))


def counters_of(text: str) -> tuple[int, list[int]]:
    """Calls of neighbour's unwatched function, and its own counters, one a watched function."""
    calls, counters = _COUNTERS.findall(text)[-1]
    return int(calls), [int(counter) for counter in counters.split(",")]


def _nm(program: Path) -> str:
    command = ["nm", program]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def entry_of(vmlinux: Path, name: str) -> int:
    """Of a function."""
    return function_ranges(vmlinux, [(name, True)])[0][0][0]


def wanted(said: Said) -> dict[int, dict[str, int]]:
    """Offset -> class -> how many, for so many calls."""
    table: dict[int, dict[str, int]] = {}
    for at, kind, _ in STRIKE:
        row = table.setdefault(at, {"reads": 0, "writes": 0, "rmws": 0})
        row[kind] += said.calls
    table[32]["rmws"] = said.tries
    return table


def counted(cells: Cells, address: int) -> dict[int, dict[str, int]]:
    """The same as the microscope saw it, inside operations and outside."""
    table: dict[int, dict[str, int]] = {}
    for cell in cells.cells:
        at = int(cell["address"]) - address
        if 0 <= at < OBJECT_BYTES:
            row = table.setdefault(at, {"reads": 0, "writes": 0, "rmws": 0})
            for kind in row:
                row[kind] += int(cell[kind])
    return table


def sizes(cells: Cells, address: int) -> Mapping[int, int]:
    """Offset -> the bits of its sizes."""
    table: dict[int, int] = {}
    for cell in cells.cells:
        at = int(cell["address"]) - address
        table[at] = table.get(at, 0) | int(cell["sizes"])
    return table


def without_tries(log: np.ndarray) -> list[tuple[int, int, int]]:
    """(at, class, size) of records but those of cmpxchg at 32, whose tries vary."""
    kept = log[~((log["at"] == 32) & (log["class"] == RMW))]
    return list(
        zip(kept["at"].tolist(), kept["class"].tolist(), kept["size"].tolist(), strict=True)
    )
