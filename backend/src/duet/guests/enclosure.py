# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands around a QEMU: a user, limits and rights; namespaces and a control group with the
lane's budget, where they can be had.
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
    namespace_words,
    outside_system,
    own_pids_words,
    program_pid,
)
from duet.confine.sandbox import Limits, prefix
from duet.guests.boot import KVM_DEVICE
from duet.guests.types import Accel


def lane_budget(memory_mib: int) -> Budget:
    """What all processes of a lane may use together, by its guest's memory."""
    memory_bytes = (memory_mib << 20) + LANE_BEYOND_GUEST_BYTES
    return Budget(memory_bytes, QEMU_THREADS, LANE_CPU_WEIGHT)


class Enclosure:
    """The words before a QEMU, and its process id behind them.

    Args:
        stack: closes what this object opens.
        death_signal: what the process gets when its owner dies.
    """

    def __init__(self, stack: AsyncExitStack, death_signal: str) -> None:
        self._stack = stack
        self._death_signal = death_signal
        self._inside = False
        self._pid = 0
        self.before: list[str] = []
        """Words that replace those by which an owned process is started."""
        self._group: Group | None = None

    def join(self, budget: Budget) -> None:
        """Make the lane's control group, as far as the host allows."""
        self._group = Group(budget, "lane").__enter__()
        # Leaving waits until the kernel has taken all processes away.
        self._stack.push_async_callback(asyncio.to_thread, self._group.__exit__)

    @property
    def joins(self) -> list[str]:
        """Files that the process writes its id to."""
        return self._group.joined_by() if self._group else []

    def used_up(self) -> bool:
        """Whether the kernel has ended the QEMU because the lane's memory was used up."""
        return self._group is not None and self._group.killed_for_memory()

    def words(
        self,
        argv: Sequence[str],
        folder: Path,
        limits: Limits,
        accel: Accel,
        readable: Sequence[Path],
        user: tuple[int | None, Sequence[int]],
    ) -> list[str]:
        """The words that start `argv`, which may read `readable` and write to `folder`.

        Args:
            user: its user id, None for the server's, and further groups.
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
        outer = namespace_words(
            folder,
            readable=[*readable, *outside_system(argv[0])],
            devices=[KVM_DEVICE] if accel is Accel.KVM else [],
        )
        return [*own_pids_words(proc=True), *outer, *before, *argv]

    def code(self, ended: int | None) -> int | None:
        """QEMU's exit code, minus a signal."""
        return exit_code(ended) if self._inside and ended is not None else ended

    def pid(self, launched: int) -> int:
        """Process id of QEMU, if `launched` is that of the words; 0: not yet known."""
        if not self._inside:
            return launched
        self._pid = self._pid or program_pid(launched)
        return self._pid
