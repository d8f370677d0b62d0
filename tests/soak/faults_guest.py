# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests and helpers that are killed or stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

import psutil

from tests.soak.fault import Fault, Round, refused
from tests.soak.parked import host_process
from tests.soak.people import ARMS

GUEST = r"guest|QEMU|lane"
HOST = r"host process"


class Nothing(Fault):
    """A run as it should be; it is saved."""

    async def happen(self, at: Round) -> list[str]:
        before = {run["name"] for run in at.server.ask("/api/kept")}
        found = await at.proves()
        for _ in range(60):
            if {run["name"] for run in at.server.ask("/api/kept")} - before:
                return found
            await asyncio.sleep(0.25)
        return [*found, "the run was not saved within 15 s"]


class KillGuest(Fault):
    """One lane's QEMU is killed: that lane says so, the other one comes to its end."""

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        victim, other = at.rng.sample(ARMS, 2)
        pid = at.guest(run, victim)
        if pid is None:
            return [f"lane {victim} has no process"]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        await at.person.end(run, 60)
        lane = at.person.lanes.get((run, victim))
        found = []
        if at.person.phase(run, victim) == "failed":
            found += refused(lane, GUEST)
        elif at.person.phase(run, victim) != "done":  # it may have come to its end before
            found.append(f"lane {victim} is {at.person.phase(run, victim)}")
        if at.person.phase(run, other) != "done":
            found.append(f"the other lane is {at.person.lanes.get((run, other))}")
        return found + await at.proves()


class PauseGuest(Fault):
    """One lane's QEMU is stopped for two seconds: nothing is lost."""

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        pid = at.guest(run, at.rng.choice(ARMS))
        with contextlib.suppress(ProcessLookupError, TypeError):
            os.kill(pid, signal.SIGSTOP)  # type: ignore[arg-type]
            await asyncio.sleep(2)
            os.kill(pid, signal.SIGCONT)  # type: ignore[arg-type]
        return await at.whole(run)


class FrozenGuest(Fault):
    """One lane's QEMU is stopped for good and the run is stopped: all ends in time."""

    within_s = 150.0

    async def happen(self, at: Round) -> list[str]:
        run = await at.running(seconds=20)
        victim, other = at.rng.sample(ARMS, 2)
        pid = at.guest(run, victim)
        if pid is None:
            return [f"lane {victim} has no process"]
        os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(0.5)
        await at.person.say(type="stop")
        await at.person.end(run, 75)
        found = refused(at.person.lanes.get((run, victim)), GUEST)
        if at.person.phase(run, other) not in ("done", "stopped"):
            found.append(f"the other lane is {at.person.lanes.get((run, other))}")
        if psutil.pid_exists(pid) and psutil.Process(pid).status() == psutil.STATUS_STOPPED:
            found.append("the stopped guest is still there")
        return found + await at.proves()


def helpers(pid: int) -> list[psutil.Process]:
    """Processes that a server has started and that are no guests."""
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if not child.name().startswith("qemu") and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child)
    return found


class KillHelper(Fault):
    """A helper (decoding, x-ray) is killed: its lane or lens says so, nothing else ends."""

    logs = r"helper|child|decod|ended|x-ray|zygote|killed"

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        found = helpers(at.server.pid)
        if found:
            with contextlib.suppress(psutil.Error):
                at.rng.choice(found).kill()
        await at.person.end(run, 60)
        wrong = []
        for arm in ARMS:
            if at.person.phase(run, arm) == "failed":
                wrong += refused(at.person.lanes.get((run, arm)), r".")
        return wrong + await at.proves()


class KillHost(Fault):
    """The host process is killed: the run fails with a sentence, and the next one is whole."""

    ends_host = True
    logs = r"host process"

    async def happen(self, at: Round) -> list[str]:
        run = await at.running(seconds=20)
        host = host_process(at.server.pid)
        if host is None:
            return ["no host process"]
        host.kill()
        await at.person.end(run, 60)
        return refused(at.person.lanes.get((run, ARMS[0])), HOST) + await at.proves()


class PauseHelper(Fault):
    """A helper is stopped for two seconds."""

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        found = helpers(at.server.pid)
        if found:
            victim = at.rng.choice(found)
            with contextlib.suppress(psutil.Error):
                victim.suspend()
                await asyncio.sleep(2)
                victim.resume()
        return await at.whole(run)


class StopAndAgain(Fault):
    """A run is stopped as soon as it was asked for, ten times."""

    async def happen(self, at: Round) -> list[str]:
        for _ in range(10):
            run = await at.person.start(**at.params)
            await asyncio.sleep(at.rng.random() * 0.5)
            await at.person.say(type="stop")
            await at.person.end(run, 60)
        return await at.proves()
