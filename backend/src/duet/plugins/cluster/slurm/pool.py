# SPDX-License-Identifier: GPL-2.0-or-later
"""Leases on a Slurm cluster: reserves them, starts steps, and releases them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import secrets
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from types import TracebackType
from typing import Final

from duet.base.errors import InfraError
from duet.plugins.cluster.frames import Start
from duet.plugins.cluster.lease import NO_ANSWER, Lease, OwningPool, command
from duet.plugins.cluster.limits import (
    ABSENT_LOOKS,
    ANSWER_S,
    AWAY_S,
    CANCEL_S,
    COMMAND_S,
    POLL_S,
    RETRY_S,
    SALLOC_CPU_S,
    SETTLE_S,
    SILENT_S,
    TERM_S,
)
from duet.plugins.cluster.program import Launch, PipedProgram, Tail
from duet.plugins.cluster.slurm.words import (
    HOLD,
    complaint,
    estimate_s,
    kinds_of,
    lanes_of,
    selection,
    step,
    within_limit,
)
from duet.plugins.cluster.types import Kind, Loss, PoolSettings, Refusal, Want, Watched, Whose
from duet.processes.owned import OwnedProcess, find_program

# Polls the jobs of all leases with one call of squeue, and reports jobs that are over.
#
# A failure of squeue says nothing about a job, so squeue is retried. If squeue fails for AWAY_S,
# because Slurm's controller is unreachable, all leases count as lost. A job counts as ended when
# ABSENT_LOOKS successive outputs of squeue do not list it.

LOG = logging.getLogger("duet.plugins.cluster")
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
    """Watches the jobs of one pool.

    Args:
        poll_s: time between two polls.
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
            hosts: the hosts of its lanes. squeue cannot report them later, because it omits failed
                hosts while a job ends.
            lose: called once, when the job is over.
        """
        if not self._jobs:
            self._answered_s = time.monotonic()
        self._jobs[name] = (hosts, lose)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="watch of Slurm's jobs")

    def forget(self, name: str) -> None:
        """Stop watching a job."""
        self._jobs.pop(name, None)
        self._absent.pop(name, None)
        self._ending.discard(name)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def look(self) -> bool:
        """Poll now, and report jobs that are over. Return whether squeue answered."""
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
        """Poll until a job is known to run, or until the reason for its end has been reported."""
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
                state = "NODE_FAIL"  # the job completes only when its node is up again
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
    """Explain the last state of a job that is over."""
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


# If SIGTERM arrives while salloc's command ends, salloc 22.05 may loop forever, waiting for a child
# process that is gone. The CPU limit ends this loop with SIGXCPU.
BOUNDED = ("prlimit", f"--cpu={SALLOC_CPU_S}")
SAID_BYTES = 64 << 10
"""Number of bytes that are kept of salloc's messages. Usual: under 1 KB."""


class Allocation:
    """A running salloc, which holds a lease's allocation.

    When this process dies, salloc gets SIGTERM and releases the allocation.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self._out, self._err = Tail(SAID_BYTES), Tail(SAID_BYTES)
        self._line = asyncio.Event()
        self._process = OwnedProcess(
            [*BOUNDED, *argv, "--kill-command=TERM", *HOLD],
            console=self,
            errors=self._err,
            on_exit=self._line.set,
            death_signal="TERM",
            grace_s=TERM_S,
            commands=True,
        )

    @property
    def said(self) -> str:
        """Return salloc's standard error."""
        return self._err.held.decode(errors="replace")

    def feed(self, text: bytes) -> None:
        """Process output of the command that salloc runs. Implements Outlet."""
        self._out.feed(text)
        if b"\n" in self._out.held:
            self._line.set()

    async def begin(self, within_s: float) -> tuple[str, str, str] | None:
        """Start salloc. Return the job, its hosts, and the tasks per host, in Slurm's notation.

        Return None if salloc ended or took too long.

        Raises:
            InfraError: salloc cannot be started.
        """
        await self._process.__aenter__()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._line.wait()
                if self._process.returncode is not None:
                    await self._process.wait_for_output()
        words = self._out.held.decode(errors="replace").strip().split("|")
        return (words[0], words[1], words[2]) if len(words) == 3 else None

    async def end(self) -> None:
        """Release the allocation.

        Raises:
            InfraError: salloc does not end.
        """
        self._process.end_input()
        await self._process.__aexit__()


class SlurmPlace:
    """The allocation of one lease, with its steps."""

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
        words = step(self.job, self._lanes[lane], self._want)
        launch = Launch(words, python=self._settings.python, again=no_step)
        return PipedProgram(start, launch, watched)

    async def why_over(self) -> Loss | None:
        """Poll the job. Return None, because `Watch` reports a loss to the lease."""
        await self._watch.settle(self.name)
        return None

    async def give_back(self) -> None:
        self._watch.forget(self.name)
        await end_all(self._allocation, self.name)


def no_step(said: str) -> bool:
    """Does the output say that srun could not create a step? Then a later srun may succeed."""
    return "Unable to create step" in said or "Unable to confirm allocation" in said


async def end_all(allocation: Allocation, name: str) -> None:
    """Cancel a job, even if it is still waiting or does not exist yet."""
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
    """Expand a host list such as "n[1-3]"."""
    done = await command(["scontrol", "show", "hostnames", nodes], COMMAND_S)
    return done.out.split() if done.code == 0 else [nodes]


COMMANDS = ("salloc", "srun", "squeue", "scancel", "sinfo", "scontrol", "sbatch")


class SlurmPool(OwningPool):
    """Leases hosts of a Slurm cluster.

    Args:
        poll_s, away_s, silent_s: see POLL_S, AWAY_S and SILENT_S in limits.py.

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
        """Return the kinds of hosts, which are the features that DUET_POOL_KINDS names."""
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
        # To salloc, 1 means "do not wait", and a larger number is the maximum wait in seconds
        # (salloc(1)).
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
            if not granted:  # clean up in the background; closing the pool waits for the task
                cleaning = asyncio.create_task(end_all(allocation, name), name="end of a job")
                self._cleaning.add(cleaning)
                cleaning.add_done_callback(self._cleaning.discard)

    async def _never(self, words: Sequence[str], within_s: float) -> Refusal | None:
        """Say why the cluster can never grant this lease. Without this check, salloc would wait."""
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
"""What salloc says if no hosts become free in time."""
