# SPDX-License-Identifier: GPL-2.0-or-later
"""Test helper: privileges of a lane's QEMU and of its x-ray process, read from /proc."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

WORKER = "duet.lenses.worker"
WAIT_S = 30


@dataclass(frozen=True)
class Rights:
    """Privileges of one process."""

    ids: frozenset[int]
    caps: frozenset[int]
    no_new_privs: str
    seccomp: str
    network: str
    memory: str
    """Limit of address space."""


def rights(pid: int) -> Rights:
    """Read the privileges of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    status = {name: text.split() for name, _, text in (line.partition(":") for line in lines)}
    limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
    caps = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    return Rights(
        ids=frozenset(int(text) for text in status["Uid"] + status["Gid"] + status["Groups"]),
        caps=frozenset(int(status[name][0], 16) for name in caps),
        no_new_privs=status["NoNewPrivs"][0],
        seccomp=status["Seccomp"][0],
        memory=next(line.split()[3] for line in limits if line.startswith("Max address space")),
        network=str(Path(f"/proc/{pid}/ns/net").readlink()),
    )


async def of_lane(qemu: Callable[[], int | None]) -> tuple[Rights, Rights]:
    """Return the privileges of QEMU and its lens worker, once both have confined themselves."""
    async with asyncio.timeout(WAIT_S):
        while True:
            number = qemu()
            for child in psutil.Process().children():
                with contextlib.suppress(psutil.Error, OSError, KeyError):
                    if number and WORKER in child.cmdline() and rights(child.pid).seccomp == "2":
                        return rights(number), rights(child.pid)
            await asyncio.sleep(0.02)
