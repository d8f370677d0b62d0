# SPDX-License-Identifier: GPL-2.0-or-later
"""Confine a QEMU process with a separate user, resource limits and few privileges.

If the host allows it, the process also gets namespaces, and a control group with the lane's budget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from duet.base.budgets import LANE_BEYOND_GUEST_BYTES, LANE_CPU_WEIGHT, QEMU_THREADS
from duet.confine.control_groups import Budget, Group
from duet.confine.namespaces import (
    exit_code,
    missing_namespaces,
    namespace_prefix,
    outside_system,
    pid_namespace_prefix,
    program_pid,
)
from duet.confine.sandbox import Limits, prefix
from duet.guests.boot import KVM_DEVICE
from duet.guests.types import Accel


def lane_budget(memory_mib: int) -> Budget:
    """Return the budget that all processes of a lane share.

    Args:
        memory_mib: memory of the lane's guest.
    """
    memory_bytes = (memory_mib << 20) + LANE_BEYOND_GUEST_BYTES
    return Budget(memory_bytes, QEMU_THREADS, LANE_CPU_WEIGHT)


class Enclosure:
    """Wrap the command line of a QEMU process, and find the QEMU process inside its namespaces.

    Args:
        stack: exit stack that closes everything that this object opens.
        death_signal: signal that the process gets when its owner dies.
    """

    def __init__(self, stack: AsyncExitStack, death_signal: str) -> None:
        self._stack = stack
        self._death_signal = death_signal
        self._inside = False
        self._pid = 0
        self.before: list[str] = []
        """Prefix that replaces the default prefix of an OwnedProcess's command line."""
        self._group: Group | None = None

    def join(self, budget: Budget) -> None:
        """Create the lane's control group, if the host allows it."""
        self._group = Group(budget, "lane").__enter__()
        # `__exit__` runs in a thread, because it blocks until all processes of the group have
        # ended.
        self._stack.push_async_callback(asyncio.to_thread, self._group.__exit__)

    @property
    def joins(self) -> list[str]:
        """Files of the control group; the process writes its id to these files."""
        return self._group.procs_files() if self._group else []

    def used_up(self) -> bool:
        """Return whether the kernel killed QEMU because the lane exceeded its memory limit."""
        return self._group is not None and self._group.killed_for_memory()

    def wrap(
        self,
        argv: Sequence[str],
        folder: Path,
        limits: Limits,
        accel: Accel,
        readable: Sequence[Path],
        user: tuple[int | None, Sequence[int]],
    ) -> list[str]:
        """Return the command line that runs `argv` confined.

        Args:
            folder: the only folder that QEMU may write to.
            readable: paths that QEMU may read in addition to system files.
            user: user id (None for the server's user) and supplementary groups.
        """
        uid, groups = user
        inside = not missing_namespaces()
        before = prefix(
            limits, uid=uid, groups=groups, network=inside, death_signal=self._death_signal
        )
        if not inside:
            self.before = before
            return list(argv)
        self._inside = True
        outer = namespace_prefix(
            folder,
            readable=[*readable, *outside_system(argv[0])],
            devices=[KVM_DEVICE] if accel is Accel.KVM else [],
        )
        return [*pid_namespace_prefix(proc=True), *outer, *before, *argv]

    def code(self, ended: int | None) -> int | None:
        """Return QEMU's exit code, negative for a signal.

        Args:
            ended: exit code of the launched process; None while it runs.
        """
        return exit_code(ended) if self._inside and ended is not None else ended

    def pid(self, launched: int) -> int:
        """Return QEMU's process id; 0 if it is not yet known.

        Args:
            launched: process id of the command that `wrap` returned.
        """
        if not self._inside:
            return launched
        self._pid = self._pid or program_pid(launched)
        return self._pid
