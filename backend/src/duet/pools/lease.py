# SPDX-License-Identifier: GPL-2.0-or-later
"""A lease: lanes on hosts for a time, the programs on them, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from duet.base.errors import DuetError, InfraError, InputError
from duet.pools.frames import Start
from duet.pools.limits import HEADER_BYTES
from duet.pools.types import Loss, Program, Want, Watched, ignore

LOG = logging.getLogger("duet.pools")


class Backing(Protocol):
    """What a backend does for one of its leases."""

    def program(self, lane: int, start: Start, watched: Watched) -> Program:
        """A program that is to begin on a lane."""

    async def why_over(self) -> Loss | None:
        """Look now whether the lease is over."""

    async def give_back(self) -> None:
        """Return hosts, CPUs and memory; called once, when no program is left."""


@dataclass(slots=True)
class _Lane:
    program: Program | None = None
    starting: bool = False


class Lease:
    """Lanes for a time. A backend makes it.

    Args:
        hosts: where each lane is.
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
        """The pool's; called when it has been released."""

    @property
    def loss(self) -> Loss | None:
        """Why it is over; None while it lasts."""
        return self._loss.result() if self._loss.done() else None

    async def lost(self) -> Loss:
        """Wait until it is over, and why; the deadline bounds this."""
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

        Neither words nor environment nor standard input stand in a command line. A secret goes by
        `stdin` (`--token-file /dev/stdin`): the program's own words are seen on its host.

        Args:
            said: gets each piece of standard error as it comes; on Kubernetes it comes at the end
                alone, as part of `Ended.output`.

        Raises:
            InputError: the lane has a program, or the program's words are too long.
            InfraError: the lease is over, or the program's launcher cannot be started.
        """
        start = Start(argv, env or {}, stdin, self._silent_s)
        place = self._free_lane(lane)
        if not argv or len(start.packed()) > HEADER_BYTES:
            raise InputError(
                f"a program of a lease has 1 to {HEADER_BYTES} bytes of words, environment and"
                " standard input.",
                remedy="Give it a file, and its name.",
            )
        watched = Watched(lambda: self._silent(lane), self._why_over, said)
        program = self._backing.program(lane, start, watched)
        place.starting = True
        try:
            await program.begin()
            place.program = program
        finally:
            place.starting = False
        if (loss := self.loss) is not None:  # it was lost meanwhile
            await program.end(loss.sentence)
        return program

    def _free_lane(self, lane: int) -> _Lane:
        if (loss := self.loss) is not None:
            raise InfraError(f"the lease is over: {loss.sentence}", remedy="Reserve another.")
        if not 0 <= lane < len(self._lanes):
            raise InputError(
                f"the lease has lanes 0 to {len(self._lanes) - 1}, but {lane} came.",
                remedy="Reserve more lanes.",
            )
        place = self._lanes[lane]
        if place.starting or (place.program is not None and place.program.running):
            raise InputError(
                f"lane {lane} of the lease runs a program, and runs one at a time.",
                remedy="Wait for it or end it, or reserve more lanes.",
            )
        return place

    def lose(self, loss: Loss) -> None:
        """It is over; its programs are ended, and what it had is given back."""
        if not self._loss.done():
            self._loss.set_result(loss)
        if self._releasing is None:
            self._deadline.cancel()
            self._releasing = asyncio.create_task(self._release(), name="release of a lease")

    async def release(self) -> None:
        """End all that it started and give it back. A second call waits for the first."""
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
        self.lose(Loss(f"the lease ended after {after}, as long as it was made for.", "deadline"))

    def _silent(self, lane: int) -> None:
        host = self.hosts[lane]
        self.lose(Loss(f"host {host} has given no sign of life for {self._silent_s:g} s.", "host"))
