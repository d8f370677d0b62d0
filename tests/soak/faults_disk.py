# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks without room, and a power cut."""

from __future__ import annotations

import asyncio
import shutil
import time
from pathlib import Path

from duet.base.errors import DuetError
from duet.bundle import open_bundle
from tests.soak.fault import Fault, Round, refused
from tests.soak.people import ARMS

NO_ROOM = r"space|room|disk|directory|written|made|saved"
SAVED_S = 20.0
NO_COPY = r"duet\.clones: "
"""A guest could not be parked or copied, so its lane boots."""


class FullRuns(Fault):
    """No room where runs are saved: the run itself is whole, and the next one is saved again."""

    needs_root = True
    logs = r"is not saved"

    async def happen(self, at: Round) -> list[str]:
        before = len(at.server.log())
        with at.world.full(at.world.runs):
            found = await at.proves()
            deadline = time.monotonic() + SAVED_S
            while "No space left" not in at.server.log()[before:]:
                if time.monotonic() > deadline:
                    found.append("nobody said that the run was not saved")
                    break
                await asyncio.sleep(0.25)
        return found + await at.proves()


class FullTemporary(Fault):
    """No room for temporary files and sockets: a copy fails, its lane boots, and that says so."""

    needs_root = True
    logs = rf"is not saved|{NO_COPY}"
    within_s = 150.0

    async def happen(self, at: Round) -> list[str]:
        world = at.world
        with world.full(world.tmp), world.full(world.sockets):
            run = await at.person.start(**at.params, vcpus=1)  # needs new guests
            await at.person.end(run, 90)
            found = []
            for arm in ARMS:
                if at.person.phase(run, arm) == "failed":
                    found += refused(at.person.lanes.get((run, arm)), NO_ROOM)
        return found + await at.proves()


class FullCache(Fault):
    """No room in the cache, and the guests' root has gone: a sentence, and then it is made anew."""

    needs_root = True
    logs = NO_COPY
    within_s = 150.0

    async def happen(self, at: Round) -> list[str]:
        world, person = at.world, at.person
        shutil.rmtree(world.cache / "roots", ignore_errors=True)
        seen = len(person.errors)
        found = []
        with world.full(world.cache):
            run = await person.start(**at.params)
            await person.end(run, 90)
            await asyncio.sleep(1)  # the sentence may come behind the phase
            lanes = [lane for arm in ARMS if (lane := person.lanes.get((run, arm)))]
            failed = [lane for lane in lanes if lane["phase"] == "failed"]
            if person.runs[run]["phase"] == "failed" or failed:
                found += refused(next(iter([*failed, *person.errors[seen:]]), None), NO_ROOM)
        return found + await at.proves()


class PowerCut(Fault):
    """The power goes at any moment: what has a name is whole, what is listed as saved is there."""

    needs_root = True

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        found = await at.whole(run)
        for _ in range(at.rng.randint(0, 40)):
            await asyncio.sleep(0.05)
        named = {entry["name"] for entry in at.server.ask("/api/kept")}
        with at.world.after_power_cut() as folder:
            found += broken_in(folder)
            # A file that was listed may have been taken away since to make room.
            there = {path.stem for path in folder.glob("*.duet")}
            still = {entry["name"] for entry in at.server.ask("/api/kept")}
            found += [f"{name} was listed as saved, and is lost" for name in named & still - there]
        return found


def broken_in(folder: Path) -> list[str]:
    """Saved runs that cannot be opened."""
    found = []
    for path in folder.glob("run-*.duet"):
        try:
            open_bundle(path)
        except DuetError as error:
            if "hostile" not in path.stem:
                found.append(f"after a power cut: {error.sentence}")
    return found
