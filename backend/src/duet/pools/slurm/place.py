# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lease has of a Slurm cluster: an allocation, its steps, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence

from duet.base.errors import InfraError
from duet.pools.commands import command
from duet.pools.frames import Start
from duet.pools.limits import CANCEL_S, COMMAND_S, RETRY_S
from duet.pools.program import Launch, PipedProgram
from duet.pools.settings import PoolSettings
from duet.pools.slurm.allocation import Allocation
from duet.pools.slurm.watch import Watch
from duet.pools.slurm.words import step
from duet.pools.types import Loss, Want, Watched

LOG = logging.getLogger("duet.pools")


class SlurmPlace:
    """What a lease has of the cluster."""

    def __init__(
        self,
        settings: PoolSettings,
        watch: Watch,
        allocation: Allocation,
        want: Want,
        name: str,
        job: str,
        lanes: Sequence[str],
    ) -> None:
        self._settings, self._watch, self._allocation = settings, watch, allocation
        self._want, self.name, self.job, self._lanes = want, name, job, lanes

    def program(self, lane: int, start: Start, watched: Watched) -> PipedProgram:
        """See lease.Backing."""
        words = step(self.job, self._lanes[lane], self._want)
        launch = Launch(words, python=self._settings.python, again=no_step)
        return PipedProgram(start, launch, watched)

    async def why_over(self) -> Loss | None:
        """See lease.Backing. A loss reaches the lease by the watch."""
        await self._watch.settle(self.name)
        return None

    async def give_back(self) -> None:
        """See lease.Backing."""
        self._watch.forget(self.name)
        await end_all(self._allocation, self.name)


def no_step(said: str) -> bool:
    """Whether srun could not make a step, which may be for a moment."""
    return "Unable to create step" in said or "Unable to confirm allocation" in said


async def end_all(allocation: Allocation, name: str) -> None:
    """End a job, whether it runs, waits, or is not there yet."""
    until = time.monotonic() + CANCEL_S
    try:
        while True:
            done = await command(["scancel", f"--name={name}"], COMMAND_S)
            if done.code == 0:
                break
            if time.monotonic() > until:
                LOG.warning("job %s was not cancelled, and ends by its limit: %s", name, done.why)
                break
            await asyncio.sleep(RETRY_S)
    finally:
        with contextlib.suppress(InfraError):
            await allocation.end()


async def hostnames(nodes: str) -> list[str]:
    """Names of "n[1-3]"."""
    done = await command(["scontrol", "show", "hostnames", nodes], COMMAND_S)
    return done.out.split() if done.code == 0 else [nodes]
