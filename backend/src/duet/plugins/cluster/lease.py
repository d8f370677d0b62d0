# SPDX-License-Identifier: GPL-2.0-or-later
"""A lease gives lanes on hosts for a limited time. This module starts programs on lanes, and ends
leases."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

import psutil

from duet.base.errors import DuetError, InfraError, InputError
from duet.plugins.cluster.frames import Start
from duet.plugins.cluster.limits import HEADER_BYTES, RETRY_S, SILENT_S
from duet.plugins.cluster.types import Kind, Loss, Program, Refusal, Want, Watched, ignore

LOG = logging.getLogger("duet.plugins.cluster")


class Backing(Protocol):
    """The part of a lease that its backend implements."""

    def program(self, lane: int, start: Start, watched: Watched) -> Program:
        """Make a program for a lane. The lease starts the program later."""

    async def why_over(self) -> Loss | None:
        """Check now whether the lease is over."""

    async def give_back(self) -> None:
        """Release hosts, CPUs and memory. Called once, after all programs have ended."""


@dataclass(slots=True)
class _Lane:
    program: Program | None = None
    starting: bool = False


class Lease:
    """A lease of lanes on hosts for a limited time. Backends make leases.

    Args:
        hosts: the host of each lane.
        silent_s: see limits.SILENT_S.
    """

    def __init__(self, want: Want, hosts: Sequence[str], backing: Backing, silent_s: float) -> None:
        self.want, self.hosts = want, tuple(hosts)
        self._backing, self._silent_s = backing, silent_s
        self._lanes = [_Lane() for _ in self.hosts]
        loop = asyncio.get_running_loop()
        self._loss: asyncio.Future[Loss] = loop.create_future()
        self._releasing: asyncio.Task[None] | None = None
        self._deadline = loop.call_later(want.ttl_s, self._at_deadline)
        self.on_over: Callable[[Lease], None] = lambda lease: None
        """Callback that the pool sets. It is called after the release."""

    @property
    def loss(self) -> Loss | None:
        """Return why the lease is over, or None if it is not over."""
        return self._loss.result() if self._loss.done() else None

    async def lost(self) -> Loss:
        """Wait until the lease is over, and return the reason. The lease's deadline bounds the
        wait."""
        return await asyncio.shield(self._loss)

    async def start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        lane: int = 0,
        said: Callable[[bytes], None] = ignore,
    ) -> Program:
        """Start a program on a lane.

        The launcher's command line does not contain the program's arguments, environment or
        standard input. But other users of the program's host can see the arguments, so pass secrets
        by `stdin` (`--token-file /dev/stdin`).

        Args:
            said: is called with each piece of standard error as it arrives. On Kubernetes, standard
                error arrives only at the end, as part of `Ended.output`.

        Raises:
            InputError: the lane is busy, or the program's arguments are too long.
            InfraError: the lease is over, or the program's launcher cannot be started.
        """
        start = Start(argv, env or {}, stdin, self._silent_s)
        place = self._free_lane(lane)
        if not argv or len(start.packed()) > HEADER_BYTES:
            raise InputError(
                f"a program of a lease needs 1 to {HEADER_BYTES} bytes of arguments, "
                "environment and"
                " standard input.",
                remedy="Put the data into a file, and pass the file's name.",
            )
        watched = Watched(lambda: self._silent(lane), self._why_over, said)
        program = self._backing.program(lane, start, watched)
        place.starting = True
        try:
            await program.begin()
            place.program = program
        finally:
            place.starting = False
        if (loss := self.loss) is not None:  # the lease was lost during the start
            await program.end(loss.sentence)
        return program

    def _free_lane(self, lane: int) -> _Lane:
        if (loss := self.loss) is not None:
            raise InfraError(f"the lease is over: {loss.sentence}", remedy="Reserve another.")
        if not 0 <= lane < len(self._lanes):
            raise InputError(
                f"the lease has lanes 0 to {len(self._lanes) - 1}, but got {lane}.",
                remedy="Reserve more lanes.",
            )
        place = self._lanes[lane]
        if place.starting or (place.program is not None and place.program.running):
            raise InputError(
                f"lane {lane} of the lease is busy; it runs one program at a time.",
                remedy="Wait until the program ends, end the program, or reserve more lanes.",
            )
        return place

    def lose(self, loss: Loss) -> None:
        """End the lease: end its programs and release its resources."""
        if not self._loss.done():
            self._loss.set_result(loss)
        if self._releasing is None:
            self._deadline.cancel()
            self._releasing = asyncio.create_task(self._release(), name="release of a lease")

    async def release(self) -> None:
        """End all programs and release the lease. A second call waits for the first."""
        self.lose(Loss("the lease was released.", "released"))
        assert self._releasing is not None
        await asyncio.shield(self._releasing)

    async def _release(self) -> None:
        sentence = self._loss.result().sentence
        try:
            programs = [lane.program for lane in self._lanes if lane.program is not None]
            ends = [program.end(sentence) for program in programs]
            for failed in await asyncio.gather(*ends, return_exceptions=True):
                if isinstance(failed, BaseException):
                    LOG.warning("a program of a lease did not end: %s", failed)
            await self._backing.give_back()
        except DuetError as error:
            LOG.warning("a lease was not given back: %s", error.sentence)
        finally:
            with contextlib.suppress(Exception):
                self.on_over(self)

    async def _why_over(self) -> Loss | None:
        if self.loss is None and (loss := await self._backing.why_over()) is not None:
            self.lose(loss)
        return self.loss

    def _at_deadline(self) -> None:
        after = f"{self.want.ttl_s:g} s"
        self.lose(Loss(f"the lease reached its limit of {after}.", "deadline"))

    def _silent(self, lane: int) -> None:
        host = self.hosts[lane]
        self.lose(Loss(f"host {host} has sent no heartbeat for {self._silent_s:g} s.", "host"))


class OwningPool:
    """Base class of the backends. A pool owns its leases, and releases them when it is closed.

    Args:
        silent_s: see limits.SILENT_S.
    """

    name = ""
    python = sys.executable

    def __init__(self, silent_s: float = SILENT_S) -> None:
        self._silent_s = silent_s
        self.leases: set[Lease] = set()

    async def reserve(self, want: Want) -> Lease | Refusal:
        want.check()
        return await self._reserve(want)

    async def kinds(self) -> Sequence[Kind] | Refusal:
        raise NotImplementedError

    async def _reserve(self, want: Want) -> Lease | Refusal:
        raise NotImplementedError

    def _made(self, want: Want, hosts: Sequence[str], backing: Backing) -> Lease:
        lease = Lease(want, hosts, backing, self._silent_s)
        lease.on_over = self.leases.discard
        self.leases.add(lease)
        return lease

    async def __aenter__(self) -> OwningPool:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.gather(*(lease.release() for lease in list(self.leases)))


# Counts this machine's resources that leases hold, and queues requests for leases.


@dataclass(frozen=True, slots=True)
class Size:
    """CPUs and memory of a machine or of a lease.

    Args:
        cpus: number of CPUs. For a machine, the number of CPUs that this process may use.
        memory_bytes: amount of memory. For a machine, its total memory, including memory in use.
    """

    cpus: int
    memory_bytes: int

    @classmethod
    def of_machine(cls) -> Size:
        """Return what all leases on this machine may use together."""
        return cls(len(os.sched_getaffinity(0)), psutil.virtual_memory().total)

    @classmethod
    def of(cls, want: Want) -> Size:
        """Return the CPUs and memory that a lease's simultaneous lanes need."""
        at_once = want.lanes_at_once
        return cls(at_once * want.vcpus, at_once * want.memory_bytes)


@dataclass(slots=True)
class Room:
    """Counts the resources that leases hold.

    Args:
        whole: the resources of the machine.
    """

    whole: Size
    _taken: dict[object, tuple[Size, float]] = field(default_factory=dict)
    _freed: asyncio.Event = field(default_factory=asyncio.Event)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def never(self, size: Size) -> Refusal | None:
        """Say why the machine can never provide this size, or return None if it can."""
        if size.cpus > self.whole.cpus:
            return Refusal(f"{size.cpus} CPUs are wanted, and this machine has {self.whole.cpus}.")
        if size.memory_bytes > self.whole.memory_bytes:
            wanted, has = size.memory_bytes >> 20, self.whole.memory_bytes >> 20
            return Refusal(f"{wanted:,} MiB of memory are wanted, and this machine has {has:,}.")
        return None

    async def take(
        self, owner: object, want: Want, also: Callable[[], str] = lambda: ""
    ) -> Refusal | None:
        """Acquire a lease's resources within `want.within_s`. Requests are served in the order of
        arrival.

        Args:
            also: acquires further resources. Returns "", or why these cannot be acquired now.
        """
        size = Size.of(want)
        why = "others have their turn before"
        try:
            async with asyncio.timeout(max(want.within_s, 0.001)), self._turn:
                while why := self._short_of(size) or also():
                    self._freed.clear()
                    with contextlib.suppress(
                        TimeoutError
                    ):  # retry: also() may wait for resources that other processes hold
                        await asyncio.wait_for(self._freed.wait(), RETRY_S)
                self._taken[owner] = (size, time.monotonic() + want.ttl_s)
                return None
        except TimeoutError:
            sentence = f"nothing became free within {want.within_s:g} s: {why}."
            return Refusal(sentence, self._estimate_s())

    def give(self, owner: object) -> None:
        """Release an owner's resources."""
        self._taken.pop(owner, None)
        self._freed.set()

    def _short_of(self, size: Size) -> str:
        cpus = self.whole.cpus - sum(taken.cpus for taken, _ in self._taken.values())
        memory = self.whole.memory_bytes - sum(t.memory_bytes for t, _ in self._taken.values())
        if size.cpus > cpus:
            return f"{size.cpus} CPUs are wanted, and {cpus} of {self.whole.cpus} are free"
        if size.memory_bytes > memory:
            return f"{size.memory_bytes >> 20:,} MiB are wanted, and {memory >> 20:,} are free"
        return ""

    def _estimate_s(self) -> float | None:
        """Return the seconds until the first lease must end, or None if there is no lease."""
        ends = [until for _, until in self._taken.values()]
        return max(0.0, min(ends) - time.monotonic()) if ends else None


# Runs short commands of a cluster's tools. Each command has a time limit, and is killed if its
# caller is cancelled.

NO_ANSWER = 124
"""Exit code for a command that did not end in time. timeout(1) uses the same code."""


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def why(self) -> str:
        """Return the last line of the command's errors, without prefix and final full stop."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        if not lines:
            return f"exit code {self.code}"
        return lines[-1].removeprefix("error: ").rstrip(".")[:300]


async def command(words: Sequence[str], within_s: float, stdin: bytes = b"") -> Done:
    """Run a command. A failure is returned as a code and a sentence, and raises no exception."""
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"LC_ALL": "C"},
        )
    except OSError as error:
        return Done(127, "", f"{words[0]} cannot be started: {error}")
    try:
        async with asyncio.timeout(within_s):
            out, err = await process.communicate(stdin)
    except TimeoutError:
        return Done(NO_ANSWER, "", f"{words[0]} did not answer within {within_s:g} s")
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    assert process.returncode is not None
    return Done(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))
