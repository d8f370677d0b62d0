# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs comparisons on a pool's leases, as many at the same time as the pool grants. Each comparison
runs on one host."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from duet.base.errors import DuetError, InfraError, printable
from duet.measure.model import HostFacts
from duet.plugins.cluster.lease import Lease
from duet.plugins.cluster.measuring.limits import LOOK_S, PROGRESS_LETTERS, SAY_S, WAIT_S
from duet.plugins.cluster.measuring.request import (
    BadResult,
    Part,
    Request,
    Result,
    read_result,
    want_of,
)
from duet.plugins.cluster.program import environment
from duet.plugins.cluster.types import Ended, Pool, Refusal, Want

PROGRAM: Final = ("-P", "-s", "-m", "duet.plugins.cluster.measuring")
"""Arguments of the interpreter on a host."""
Say = Callable[[str], None]


class Lost(Exception):
    """A comparison was lost with its host. Another host may succeed.

    Args:
        sentence: what happened, with the host's name.
        final: true if a retry on another host would fail, too.
    """

    def __init__(self, sentence: str, final: bool = False) -> None:
        super().__init__(sentence)
        self.sentence, self.final = sentence, final


@dataclass(slots=True)
class Job:
    """A comparison to run.

    Args:
        apart: jobs whose hosts this job must not use.
        host: the host where the job runs or ran.
        lost: why its first try failed. "" if no try has failed yet.
        lost_on: the host of the failed first try.
    """

    part: Part
    apart: list[Job] = field(default_factory=list)
    host: str = ""
    lost: str = ""
    lost_on: str = ""
    result: Result | None = None
    error: DuetError | None = None

    @property
    def avoid(self) -> tuple[str, ...]:
        """Return the names of hosts that the job must avoid."""
        names = (self.lost_on, *(other.host for other in self.apart))
        return tuple(dict.fromkeys(name for name in names if name))

    def facts(self) -> HostFacts:
        """Return facts about the job's host. The job must have a result."""
        assert self.result is not None and self.result.facts is not None
        seen = self.result.facts
        return HostFacts(
            comparison=self.part.name,
            table=self.part.table,
            layout=self.part.layout,
            node=self.host,
            cpu=seen.host.get("cpu", ""),
            qemu=seen.host.get("qemu", ""),
            accel=seen.host.get("accel", ""),
            kernels=seen.kernels,
            root=seen.root,
            waited_share=seen.waited_share,
            again=f"It ran a second time, since {self.lost}" if self.lost else "",
        )


class Lines:
    """Splits a program's standard error into progress lines."""

    def __init__(self, say: Say) -> None:
        self._say, self._rest = say, b""

    def take(self, piece: bytes) -> None:
        """Append a piece of standard error, and report the lines that are now complete."""
        *whole, self._rest = (self._rest + piece).split(b"\n")
        self._rest = self._rest[-4 * PROGRESS_LETTERS :]
        for line in whole:
            text = printable(line.decode("utf-8", "replace"))
            if text.startswith("run "):
                self._say(text[:PROGRESS_LETTERS])


async def carry_out(
    job: Job, lease: Lease, python: str, say: Say, program: Sequence[str] = PROGRAM
) -> Result:
    """Run a job on a lease. The lease's deadline limits the job's time. The caller releases the
    lease.

    Args:
        say: is called with progress lines.
        program: arguments for the interpreter.

    Raises:
        Lost: the program gave no result.
    """
    asked = Request.of(job.part, lease.want.vcpus).model_dump_json().encode()
    lines = Lines(lambda text: say(f"{job.host}: {job.part.name}: {text}"))
    try:
        words = (python or sys.executable, *program)
        running = await lease.start(words, environment(), asked, said=lines.take)
    except InfraError as error:
        raise Lost(f"no program could be started on {job.host}: {error.sentence}") from None
    ended = await running.wait()
    if ended.code is None or ended.lost:
        raise Lost(lost_words(job.host, lease, ended), final=_is_deadline(lease))
    try:
        return read_result(ended.output, job.part)
    except BadResult as odd:
        said = printable(ended.last_line)
        why = f" ({said:.300})" if said else ""
        code = f"ended with code {ended.code}" if ended.code else "ended"
        raise Lost(f"the program on {job.host} {code}, and {odd}{why}.") from None


def lost_words(host: str, lease: Lease, ended: Ended) -> str:
    """Return a sentence that says why a program failed on its host."""
    sentence = lease.loss.sentence if lease.loss is not None else ended.lost
    return sentence if host in sentence else f"{host} was lost: {sentence}"


def _is_deadline(lease: Lease) -> bool:
    return lease.loss is not None and lease.loss.whose == "deadline"


NOW_S = 0.0
"""Time limit for a request that does not wait."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a measurement uses a pool.

    Args:
        at_once: maximum number of leases at a time. None means as many as the pool grants.
        wait_s: how long to wait if the pool is full and this measurement runs no program there. 0
            means no wait.
        lease_s: time limit for one comparison. None means that it follows from the number of its
            runs.
        look_s: see limits.LOOK_S.
        program: arguments for the interpreter.
    """

    at_once: int | None = None
    wait_s: float = WAIT_S
    lease_s: float | None = None
    look_s: float = LOOK_S
    program: Sequence[str] = PROGRAM


class Schedule:
    """The comparisons of one measurement on an open pool.

    Args:
        say: is called with progress messages.
    """

    def __init__(self, pool: Pool, terms: Terms, say: Say) -> None:
        self._pool, self._terms, self._say = pool, terms, say
        self._waiting: deque[Job] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._kinds: dict[str, str] = {}
        self._kind = ""
        self._is_full = False
        self._gave_up = False

    async def run(self, jobs: Sequence[Job]) -> None:
        """Run until each job has a result or an error. When cancelled, release all leases."""
        self._waiting.extend(jobs)
        if len(jobs) > 1 and any(job.part.plan.clock == "wall" for job in jobs):
            await self._learn_kinds()
        try:
            while self._waiting or self._running:
                if not self._has_place() or not await self._begin_next():
                    await self._step()
        finally:
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    def _has_place(self) -> bool:
        most = self._terms.at_once
        return bool(self._waiting) and (most is None or len(self._running) < most)

    async def _learn_kinds(self) -> None:
        """Find out the kind of each host, because all wall-clock times must come from hosts of one
        kind."""
        kinds = await self._pool.kinds()
        if not isinstance(kinds, Refusal):
            self._kinds = {host: kind.name for kind in kinds for host in kind.hosts}

    async def _begin_next(self) -> bool:
        """Start the first waiting job, or mark it as failed if it cannot run.

        Return False if the job has to wait for a lease.
        """
        job = self._waiting[0]
        want = replace(want_of(job.part, self._terms.lease_s), avoid=job.avoid)
        if job.part.plan.clock == "wall":
            want = replace(want, kind=self._kind)
        lease = await self._lease(job, want)
        if lease is None:
            return False
        self._waiting.popleft()
        if isinstance(lease, Refusal):
            self._fail(job, lease)
            return True
        self._is_full = self._gave_up = False
        job.host = lease.hosts[0]
        self._kind = self._kind or self._kinds.get(job.host, "")
        task = asyncio.create_task(self._carry_out(job, lease), name=f"comparison {job.part.name}")
        self._running.add(task)
        return True

    async def _lease(self, job: Job, want: Want) -> Lease | Refusal | None:
        """Return a lease or a final refusal. Return None while this measurement's own leases use
        the hosts."""
        found = await self._pool.reserve(replace(want, within_s=NOW_S))
        if not isinstance(found, Refusal):
            return found
        if self._running:
            if not self._is_full:
                self._is_full = True
                left = len(self._waiting)
                self._say(f"pool: {found.sentence} {left} more wait for those that run.")
            return None
        wait_s = 0.0 if self._gave_up else self._terms.wait_s
        if wait_s > 0:
            said = f"pool: {found.sentence} Waiting up to {wait_s:g} s."
            saying = asyncio.get_running_loop().call_later(SAY_S, self._say, said)
            try:  # the pool refuses immediately if it can never grant the lease
                found = await self._pool.reserve(replace(want, within_s=wait_s))
            finally:
                saying.cancel()
        self._gave_up = isinstance(found, Refusal) and not job.avoid
        return found

    def _fail(self, job: Job, refusal: Refusal) -> None:
        first = f"{job.lost} It could not run again: " if job.lost else ""
        soon = refusal.estimate_s
        when = "later" if soon is None else f"in some {soon:.0f} s"
        remedy = f"Try again {when}, wait longer (--wait), or check the pool: ./duet pool doctor"
        job.error = InfraError(first + refusal.sentence, remedy=remedy)
        self._say(f"{job.part.name}: {job.error.sentence}")

    async def _step(self) -> None:
        """Wait until a job ends, or until it is time to request a lease again."""
        soon = (
            self._terms.look_s if self._has_place() else None
        )  # without this timeout, the leases' deadlines bound the wait
        done, self._running = await asyncio.wait(
            self._running, timeout=soon, return_when=asyncio.FIRST_COMPLETED
        )
        for task in done:
            task.result()

    async def _carry_out(self, job: Job, lease: Lease) -> None:
        began_s = time.monotonic()
        self._say(f"{job.host}: {job.part.name}: begins")
        try:
            job.result = await carry_out(
                job, lease, self._pool.python, self._say, self._terms.program
            )
            job.error = job.result.error()
        except Lost as lost:
            self._lost(job, lost)
            return
        finally:
            await lease.release()
        how = job.error.sentence if job.error else f"done in {time.monotonic() - began_s:.0f} s"
        self._say(f"{job.host}: {job.part.name}: {how}")

    def _lost(self, job: Job, lost: Lost) -> None:
        """Retry the job once on another host."""
        if lost.final or job.lost:
            before = f"{job.lost} " if job.lost else ""
            remedy = "Give leases more time with --lease." if lost.final else "Check these hosts."
            job.error = InfraError(f"{before}{lost.sentence}", remedy=remedy)
            self._say(f"{job.part.name}: failed: {lost.sentence}")
            return
        self._say(f"{job.part.name}: failed: {lost.sentence} It runs again elsewhere.")
        job.lost, job.lost_on, job.host = lost.sentence, job.host, ""
        self._waiting.append(job)
