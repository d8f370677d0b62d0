# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks at the jobs of all leases with one squeue, and says which are over.

An answer that failed says nothing about a job: it is asked again, and only a controller that has
been away for AWAY_S counts as a loss. A job that is not listed has ended when ABSENT_LOOKS answers
agree.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from duet.pools.commands import command
from duet.pools.limits import ABSENT_LOOKS, AWAY_S, COMMAND_S, POLL_S, RETRY_S, SETTLE_S
from duet.pools.types import Loss, Whose

LOG = logging.getLogger("duet.pools")
ALIVE = {"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING"} | {
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "STOPPED",
    "REQUEUED",
}
SENTENCES: Final[dict[str, tuple[str, Whose]]] = {
    "NODE_FAIL": ("a host of the lease failed: {hosts} (Slurm: NODE_FAIL).", "host"),
    "BOOT_FAIL": ("a host of the lease did not boot: {hosts} (Slurm: BOOT_FAIL).", "host"),
    "OUT_OF_MEMORY": ("the lease used more memory than it has (OUT_OF_MEMORY).", "host"),
    "TIMEOUT": ("the lease ran into Slurm's time limit (TIMEOUT).", "deadline"),
    "DEADLINE": ("the lease ran into its deadline in Slurm (DEADLINE).", "deadline"),
    "PREEMPTED": ("Slurm gave the hosts to another job (PREEMPTED).", "cancelled"),
    "CANCELLED": ("somebody else cancelled the lease's job (CANCELLED).", "cancelled"),
}


class Watch:
    """One for a pool.

    Args:
        poll_s: between two looks.
        away_s: see limits.AWAY_S.
    """

    def __init__(self, poll_s: float = POLL_S, away_s: float = AWAY_S) -> None:
        self._poll_s, self._away_s = poll_s, away_s
        self._jobs: dict[str, tuple[Sequence[str], Callable[[Loss], None]]] = {}
        self._absent: dict[str, int] = {}
        self._ending: set[str] = set()
        self._answered_s = time.monotonic()
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def add(self, name: str, hosts: Sequence[str], lose: Callable[[Loss], None]) -> None:
        """Watch a job.

        Args:
            hosts: of its lanes; while a job ends, squeue leaves out those that failed.
            lose: called once, when it is over.
        """
        if not self._jobs:
            self._answered_s = time.monotonic()
        self._jobs[name] = (hosts, lose)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="watch of Slurm's jobs")

    def forget(self, name: str) -> None:
        """Watch it no longer."""
        self._jobs.pop(name, None)
        self._absent.pop(name, None)
        self._ending.discard(name)

    async def close(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def look(self) -> bool:
        """Look now; whether there was an answer. Those that are over are reported."""
        async with self._turn:
            names = list(self._jobs)
            if not names:
                return True
            words = ["squeue", "--noheader", "--states=all", f"--name={','.join(names)}"]
            done = await command([*words, "--format=%j|%T|%r"], COMMAND_S)
            if done.code != 0:
                LOG.info("squeue gave no answer: %s", done.why)
                self._unanswered(done.why)
                return False
            self._answered_s = time.monotonic()
            await self._judge(names, done.out)
            return True

    async def settle(self, name: str) -> None:
        """Look at a job until it runs, or is over and has a reason."""
        until_s = time.monotonic() + SETTLE_S
        while name in self._jobs and time.monotonic() < until_s:
            if await self.look() and name not in self._ending:
                return
            await asyncio.sleep(SETTLE_S / 20)

    async def _run(self) -> None:
        while True:
            answered = await self.look()
            await asyncio.sleep(self._poll_s if answered else min(RETRY_S, self._poll_s))

    def _unanswered(self, why: str) -> None:
        away_s = time.monotonic() - self._answered_s
        if away_s >= self._away_s:
            sentence = f"Slurm's controller has not answered for {away_s:.0f} s: {why}."
            for name in list(self._jobs):
                self._over(name, Loss(sentence, "pool"))

    async def _judge(self, names: list[str], answer: str) -> None:
        lines = [line.split("|") for line in answer.splitlines()]
        jobs = {line[0]: line[1:] for line in lines if len(line) == 3}
        for name in names:
            state, reason = jobs.get(name, ["", ""])
            if state == "COMPLETING" and reason == "NodeDown":
                state = "NODE_FAIL"  # it completes when the node is back
            self._ending.discard(name)
            if not state:
                self._absent[name] = self._absent.get(name, 0) + 1
                self._ending.add(name)
                if self._absent[name] >= ABSENT_LOOKS:
                    self._over(name, Loss("Slurm lists the lease's job no longer.", "cancelled"))
            elif state not in ALIVE:
                hosts, _ = self._jobs.get(name, ((), None))
                self._over(name, await loss_of(state, hosts))
            else:
                self._absent.pop(name, None)
                self._ending |= {name} if state == "COMPLETING" else set()

    def _over(self, name: str, loss: Loss) -> None:
        _, lose = self._jobs.get(name, ((), None))
        self.forget(name)
        if lose is not None:
            lose(loss)


async def loss_of(state: str, hosts: Sequence[str]) -> Loss:
    """What a job's last state means."""
    sentence, whose = SENTENCES.get(
        state, (f"the lease's job is over before it was released (Slurm: {state}).", "cancelled")
    )
    if "{hosts}" in sentence:
        named = ",".join(dict.fromkeys(hosts))
        words = ["sinfo", "--noheader", "--Node", f"--nodes={named}", "--states=down,drain,fail"]
        done = await command([*words, "--format=%N"], COMMAND_S)
        failed = sorted(set(done.out.split())) if done.code == 0 else []
        sentence = sentence.format(hosts=", ".join(failed) or f"one of {named}")
    return Loss(sentence, whose)
