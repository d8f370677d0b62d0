# SPDX-License-Identifier: GPL-2.0-or-later
"""The salloc that holds a lease's allocation, as long as this process wants it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from duet.pools.limits import SALLOC_CPU_S, TERM_S
from duet.pools.program import Tail
from duet.pools.slurm.words import HOLD
from duet.processes.owned import OwnedProcess

# salloc 22.05 may wait for ever, and busily, when SIGTERM comes while its command ends: it looks
# for a child that is gone. SIGXCPU ends that.
BOUNDED = ("prlimit", f"--cpu={SALLOC_CPU_S}")
SAID_BYTES = 64 << 10
"""Of what salloc says. Usual: under 1 KB."""


class Allocation:
    """One salloc.

    It gets SIGTERM when this process dies, and then gives the allocation back.
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
        """What salloc wrote to standard error."""
        return self._err.held.decode(errors="replace")

    def feed(self, text: bytes) -> None:
        """What its command wrote (an Outlet)."""
        self._out.feed(text)
        if b"\n" in self._out.held:
            self._line.set()

    async def begin(self, within_s: float) -> tuple[str, str, str] | None:
        """Job, hosts and tasks of each, as Slurm writes them; None: salloc ended, or took too long.

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
        """Give it back.

        Raises:
            InfraError: salloc does not end.
        """
        self._process.end_input()
        await self._process.__aexit__()
