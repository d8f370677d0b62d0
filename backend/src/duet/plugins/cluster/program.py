# SPDX-License-Identifier: GPL-2.0-or-later
"""A program on a lane of a lease. This module holds the pool's end of the pipes to the program's
runner."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from duet.base.errors import InfraError
from duet.base.frames import BadFrame, pack_frame
from duet.plugins.cluster.frames import BEAT, ERR, EXIT, OUT, QUIT, START, Start, from_runner
from duet.plugins.cluster.limits import (
    AGAIN_S,
    BEAT_S,
    BEGIN_S,
    END_S,
    OUTPUT_BYTES,
    RETRY_S,
    TERM_S,
)
from duet.plugins.cluster.types import Ended, Watched
from duet.processes.owned import OwnedProcess

PYTHON_WORDS = ("-P", "-s", "-m", "duet.plugins.cluster.runner")


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a runner on its host.

    Args:
        words: a taskset or srun command that precedes the runner's command, or nothing.
        python: the interpreter on the host.
        joins: files of control groups to which the launcher writes its process id.
        again: called with the output of a launcher that failed before the runner began. Returns
            whether to start the launcher again.
    """

    words: Sequence[str] = ()
    python: str = sys.executable
    joins: Sequence[str] = ()
    again: Callable[[str], bool] = lambda said: False


class Tail:
    """The last part of a program's output."""

    def __init__(self, most_bytes: int = OUTPUT_BYTES) -> None:
        self._most = most_bytes
        self.held = bytearray()
        self.cut_bytes = 0

    def feed(self, text: bytes) -> None:
        """Append output, and drop the oldest output if there is too much."""
        self.held += text
        if (over := len(self.held) - self._most) > 0:
            del self.held[:over]
            self.cut_bytes += over


class PipedProgram:
    """A program whose runner is at the other end of two pipes. Implements types.Program."""

    def __init__(self, start: Start, launch: Launch, watched: Watched) -> None:
        self._start, self._launch = start, launch
        self._silent, self._why_over = watched.silent, watched.why_over
        self._piece = watched.said
        self._out, self._err, self._said = Tail(), Tail(), Tail()
        self._frames = from_runner()
        self._code: int | None = None
        self._lost = ""
        self._began = self._quits = self._mute = False
        self._seen_s = time.monotonic()
        self._ended: asyncio.Task[Ended] | None = None
        self._process = self._launcher()

    def _launcher(self) -> OwnedProcess:
        return OwnedProcess(
            [*self._launch.words, self._launch.python, *PYTHON_WORDS],
            console=self,
            errors=self._said,
            on_exit=lambda: None,
            death_signal="TERM",
            grace_s=TERM_S,
            commands=True,
            joins=self._launch.joins,
        )

    async def begin(self) -> None:
        await self._send()
        self._ended = asyncio.create_task(self._follow(), name="program of a lease")

    async def _send(self) -> None:
        await self._process.__aenter__()
        self._process.write(pack_frame(START, self._start.packed()))

    def feed(self, text: bytes) -> None:
        """Process output of the runner. Implements Outlet."""
        self._began = True
        self._seen_s = time.monotonic()
        try:
            for kind, payload in self._frames.feed(text):
                if kind == OUT:
                    self._out.feed(payload)
                elif kind == ERR:
                    self._err.feed(payload)
                    self._piece(payload)
                elif kind == EXIT:
                    self._code = int(payload)
        except (BadFrame, ValueError) as error:
            self._lost = f"the output of the program's host cannot be read ({error})."
            self._process.kill()

    @property
    def running(self) -> bool:
        return self._ended is not None and not self._ended.done()

    async def wait(self) -> Ended:
        assert self._ended is not None, "begin() comes first"
        return await asyncio.shield(self._ended)

    async def end(self, lost: str = "") -> None:
        if not self.running:
            return
        self._lost = self._lost or lost
        self._quits = True
        self._process.write(pack_frame(QUIT))
        if self._mute:  # the runner no longer responds
            await self._process.end()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                await self.wait()
                return
        await self._process.end()
        await self.wait()

    async def _follow(self) -> Ended:
        beating = asyncio.create_task(self._beat(), name="beats of a program")
        until_s = time.monotonic() + AGAIN_S
        try:
            while await self._once() and time.monotonic() < until_s:
                await asyncio.sleep(RETRY_S)
                if self._quits:
                    break
                self._process = self._launcher()
                await self._send()
        except InfraError as error:
            self._lost = self._lost or error.sentence
        finally:
            beating.cancel()
        if self._code is None and not self._lost:
            loss = await self._why_over()
            self._lost = loss.sentence if loss else self._unexplained()
        if self._code == 0:  # the program had already ended successfully
            self._lost = ""
        cut = self._out.cut_bytes + self._err.cut_bytes
        return Ended(self._code, self._lost, bytes(self._out.held), bytes(self._err.held), cut)

    async def _once(self) -> bool:
        """Wait until the launcher has ended, and return whether to start it again."""
        try:
            await self._process.wait_for_output()
        finally:
            await self._process.__aexit__()
        if self._began or self._quits or self._lost:
            return False
        said = self._said.held.decode(errors="replace")
        return self._launch.again(said) and await self._why_over() is None

    async def _beat(self) -> None:
        silent_s = self._start.silent_s
        every_s = min(BEAT_S, silent_s / 4)
        while time.monotonic() - self._seen_s < (silent_s if self._began else BEGIN_S):
            self._process.write(pack_frame(BEAT))
            await asyncio.sleep(every_s)
        self._mute = True
        self._silent()

    def _unexplained(self) -> str:
        said = self._said.held.decode(errors="replace").strip().splitlines()
        why = f": {said[-1][:200]}" if said else "."
        return f"the program's launcher ended before the program was over{why}"


# Environment variables that are passed to this project's programs on a lease. All other variables
# are withheld, because they may contain secrets.

PASSED_ON: Final = (
    *("DUET_ROOT", "DUET_CACHE", "DUET_LESSONS", "DUET_BASE", "DUET_ACCEL", "DUET_GUEST"),
    *("DUET_TEMPLATES_MIB", "DUET_LOG", "PYTHONPATH"),
)
PLACES: Final = ("DUET_ROOT", "DUET_CACHE", "DUET_LESSONS", "PYTHONPATH")
"""The passed variables that are paths on the server. An image has its own paths."""


def environment() -> dict[str, str]:
    """Return the environment variables that are passed to this project's programs on a lease."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ}
