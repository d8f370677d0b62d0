# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on a Slurm cluster: reserve, start steps, give back."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Sequence
from datetime import datetime
from types import TracebackType

from duet.pools.base import OwningPool
from duet.pools.commands import NO_ANSWER, command
from duet.pools.lease import Lease
from duet.pools.limits import (
    ANSWER_S,
    AWAY_S,
    COMMAND_S,
    POLL_S,
    SILENT_S,
)
from duet.pools.settings import PoolSettings
from duet.pools.slurm.allocation import Allocation
from duet.pools.slurm.hosts import kinds_of
from duet.pools.slurm.place import SlurmPlace, end_all, hostnames
from duet.pools.slurm.times import within_limit
from duet.pools.slurm.watch import Watch
from duet.pools.slurm.words import complaint, estimate_s, lanes_of, selection
from duet.pools.types import Kind, Refusal, Want
from duet.processes.owned import find_program

COMMANDS = ("salloc", "srun", "squeue", "scancel", "sinfo", "scontrol", "sbatch")


class SlurmPool(OwningPool):
    """A cluster.

    Args:
        poll_s, away_s, silent_s: see limits.

    Raises:
        InfraError: Slurm's commands are not installed.
    """

    name = "slurm"

    def __init__(
        self,
        settings: PoolSettings,
        *,
        poll_s: float = POLL_S,
        away_s: float = AWAY_S,
        silent_s: float = SILENT_S,
    ) -> None:
        super().__init__(silent_s)
        for name in COMMANDS:
            find_program(name, "slurm-client")
        self._settings = settings
        self.python = settings.python
        self._watch = Watch(poll_s, away_s)
        self._cleaning: set[asyncio.Task[None]] = set()

    async def kinds(self) -> Sequence[Kind] | Refusal:
        """Kinds of hosts: the features that DUET_POOL_KINDS names."""
        return await kinds_of(self._settings)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await super().__aexit__(kind, error, trace)
            await asyncio.gather(*self._cleaning, return_exceptions=True)
        finally:
            await self._watch.close()

    async def _reserve(self, want: Want) -> Lease | Refusal:
        want = await within_limit(want, self._settings)
        words = selection(want, self._settings)
        if isinstance(words, Refusal):
            return words
        if (never := await self._never(words, max(ANSWER_S, want.within_s))) is not None:
            return never
        name = f"duet-{secrets.token_hex(6)}"
        # 1 is "now or not at all"; more is a time in the queue (salloc(1)).
        patience = max(1, math.ceil(want.within_s))
        argv = ["salloc", f"--job-name={name}", f"--immediate={patience}", "--no-bell", *words]
        allocation = Allocation(argv)
        granted = False
        try:
            got = await allocation.begin(want.within_s + COMMAND_S)
            if got is None:
                return await self._refused(allocation.said, words, want)
            job, nodes, tasks = got
            hosts = await hostnames(nodes)
            lanes = lanes_of(tasks, hosts, want.lanes)
            place = SlurmPlace(self._settings, self._watch, allocation, want, name, job, lanes)
            lease = self._made(want, lanes, place)
            self._watch.add(name, lanes, lease.lose)
            granted = True
            return lease
        finally:
            if not granted:  # nobody waits for its end but the pool's own
                cleaning = asyncio.create_task(end_all(allocation, name), name="end of a job")
                self._cleaning.add(cleaning)
                cleaning.add_done_callback(self._cleaning.discard)

    async def _never(self, words: Sequence[str], within_s: float) -> Refusal | None:
        """Why the cluster cannot have it: salloc would wait for that as for a busy host."""
        test = await command([*TEST, *words], min(within_s, COMMAND_S))
        if test.code == NO_ANSWER:
            return Refusal("Slurm gives no lease: its controller does not answer.")
        why = complaint(test.err)
        return Refusal(f"Slurm gives no lease: {why}.") if why and why not in BUSY else None

    async def _refused(self, said: str, words: Sequence[str], want: Want) -> Refusal:
        why = complaint(said)
        if "queued and waiting" not in said and why not in BUSY:
            return Refusal(f"Slurm gives no lease: {why or 'salloc ended without a word'}.")
        test = await command([*TEST, *words], COMMAND_S)
        soon_s = estimate_s(test.out + test.err, datetime.now())
        return Refusal(
            f"Slurm's hosts are busy: nothing became free within {want.within_s:g} s.", soon_s
        )


TEST = ("sbatch", "--test-only", "--wrap=true")
BUSY = (
    "Connection timed out",
    "Requested nodes are busy",
    "Requested partition configuration not available now",
)
"""What salloc says of hosts that it does not get in time."""
