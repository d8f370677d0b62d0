# SPDX-License-Identifier: GPL-2.0-or-later
"""The server itself is killed, stopped, ended, doubled, or its clock is stepped."""

from __future__ import annotations

import asyncio
import os
import signal

from tests.soak.fault import Fault, Round
from tests.soak.leaks import after_end
from tests.soak.parked import groups_left
from tests.soak.people import ARMS, Person
from tests.soak.world import Server

END_S = 5.0
"""What `duet serve` promises from SIGTERM on (cli/serve.py)."""
BUSY_S = 1.5
"""More, for a process that only waits for a CPU."""
GONE_S = 10.0
"""From the death of the server to that of all it started; guests hang up after 5 s."""


class KillServer(Fault):
    """SIGKILL in a run: guests and helpers go with it, and the next server sweeps."""

    ends_server = True
    probe = False

    async def happen(self, at: Round) -> list[str]:
        await at.running(seconds=10)
        at.server.end(signal.SIGKILL)
        return await after_end(at.world, GONE_S)


class EndServer(Fault):
    """SIGTERM in a run: it ends in time, and leaves nothing."""

    ends_server = True
    probe = False

    async def happen(self, at: Round) -> list[str]:
        await at.running(seconds=10)
        took = await asyncio.to_thread(at.server.end)
        found = await after_end(at.world, 1.0)
        if took > END_S + BUSY_S:
            found.append(f"SIGTERM took {took:.1f} s, and {END_S:.0f} are promised")
        if at.server.process.returncode:
            found.append(f"it ended with {at.server.process.returncode}")
        found += groups_left(at.server.pid)
        found += [f"sockets/{path.name}" for path in (at.world.sockets).glob("kernel-duet/*")]
        return found + [f"tmp/{path.name}" for path in at.world.tmp.iterdir()]


class PauseServer(Fault):
    """The server is stopped for three seconds in a run; guests and pages wait."""

    probe = False

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        os.kill(at.server.pid, signal.SIGSTOP)
        await asyncio.sleep(3)
        os.kill(at.server.pid, signal.SIGCONT)
        return await at.whole(run)


class ClockStep(Fault):
    """The wall clock is stepped back by a day in a run, and forth again after it."""

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        before = {entry["name"] for entry in at.server.ask("/api/kept")}
        now = float(at.world.clock.read_text())
        at.world.clock.write_text(str(now + at.rng.choice((-86400, -3600, 86400))))
        found = await at.whole(run)
        for _ in range(60):
            if {entry["name"] for entry in at.server.ask("/api/kept")} - before:
                break
            await asyncio.sleep(0.25)
        else:
            found.append("the run of a stepped clock was not saved")
        at.world.clock.write_text(str(now))
        return found + await at.proves()


class TwoServers(Fault):
    """A second server on the same cache and the same saved runs; both run lanes at once."""

    within_s = 150.0
    needs_root = True

    async def happen(self, at: Round) -> list[str]:
        first = at.server
        second = await asyncio.to_thread(Server, at.world)
        try:
            async with Person(second.address) as other:
                mine, theirs = await asyncio.gather(
                    at.person.start(**at.params), other.start(**at.params)
                )
                found = await at.whole(mine, seconds=90)
                await other.end(theirs, 90)
                lanes = [other.phase(theirs, arm) for arm in ARMS]
                if lanes != ["done", "done"]:
                    found.append(f"lanes of the second server are {lanes}")
        finally:
            took = await asyncio.to_thread(second.end)
        if took > END_S + BUSY_S:
            found.append(f"the second server took {took:.1f} s to end")
        found += groups_left(second.pid)
        if not first.alive:
            found.append("the first server has ended")
        return found
