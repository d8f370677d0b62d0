# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server holds, counted after each round: what grows is a leak."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from duet.base.budgets import IDLE_CHILDREN
from duet.guests.clones.ready import MOST_READY
from duet.server.backup import FORMAT_FILE
from duet.server.recordings import MAX_OPEN_RUNS, READERS
from tests.soak.parked import (
    Memory,
    can_group,
    group_faults,
    host_process,
    memory_faults,
    metrics,
    template_memory,
)
from tests.soak.world import Server, World

SETTLE_S = 12.0
"""Until processes, descriptors and files of a round have gone. Usual: under 1 s."""
SPARE_FDS = 3
SPARE_HELPERS = 8
FDS_A_HELPER = 3
"""Data, status, and a file that is read."""
NAMELESS = re.compile(r"/#\d+ \(deleted\)$")
MOST_BUNDLES = 2 * (MAX_OPEN_RUNS + READERS)
"""Recordings and saved runs that are open at once: which ones depends on what was asked for."""
MOST_GUESTS = 6 + MOST_READY + 1
"""One rehearses before it takes the place of one that stands ready."""
WARM_ROUNDS = 6
"""The program is loaded in these."""
PLATEAU_ROUNDS = 36
"""Until each kind of fault has come and the allocator has its size. Measured: five servers of 60
rounds went from 120 to 165-176 MB, some by 2 MB a round, and stayed there from about here on."""
SLOPE_MB = 1.5
"""A round; a saved run of this size would show as 3."""
GROWTH_MB = 120


@dataclass(slots=True)
class Held:
    """What a server holds at one moment.

    Args:
        host: the process beside the guests; None: there is none.
        fds: of server and host, kind (socket, pipe, file, ...) -> how many.
        stray: files that nobody should have left.
        memory: of parked guests.
    """

    host: int | None
    guests: int
    helpers: list[str]
    zombies: int
    fds: Counter[str]
    rss_mb: float
    threads: int
    stray: list[str]
    memory: Memory


def held(world: World, server: Server) -> Held:
    """Count it."""
    process = psutil.Process(server.pid)
    host = host_process(server.pid)
    both = [process] if host is None else [process, host]
    guests: list[int] = []
    helpers, zombies = [], 0
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if child.status() == psutil.STATUS_ZOMBIE:
                zombies += 1
            elif child.name().startswith("qemu"):
                guests.append(child.pid)
            else:
                helpers.append(" ".join(child.cmdline())[:120])
    fds: Counter[str] = Counter()
    rss_bytes = threads = 0
    for one in both:
        with contextlib.suppress(psutil.Error, OSError):  # the host may have been killed
            fds += descriptors(one.pid)
            rss_bytes += one.memory_info().rss
            threads += one.num_threads()
    pid = None if host is None else host.pid
    return Held(
        pid, len(guests), helpers, zombies, fds, rss_bytes / 2**20, threads,
        strays(world, len(guests)), template_memory(pid, guests),
    )  # fmt: skip


def descriptors(pid: int) -> Counter[str]:
    """Open descriptors of a process by kind; parked guests' files are counted by themselves."""
    found: Counter[str] = Counter()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if not (name := str(link.readlink())).startswith("/memfd:duet-"):
                found[kind_of(name)] += 1
    return found


def kind_of(name: str) -> str:
    """socket, pipe, file, ..., by the link in /proc/PID/fd; `bundle`: a file without a name, into
    which a recording or a saved run is unpacked while it is open (bundle/reader.py).
    """
    return "bundle" if NAMELESS.search(name) else re.sub(r":.*|/.*", "", name) or "file"


def strays(world: World, guests: int) -> list[str]:
    """Files and folders in places that should be empty."""
    runs = {path.name for path in world.runs.iterdir()}
    beside = {f"{Path(name).stem}.owner" for name in runs if name.endswith(".duet")}
    beside.add(FORMAT_FILE)
    found = [f"runs/{name}" for name in runs - beside if not name.endswith(".duet")]
    folders = list((world.sockets / "kernel-duet").glob("*"))
    found += [f"sockets/{path.name}" for path in folders if not path.name.startswith("g-")]
    made = [path for path in folders if path.name.startswith("g-")]
    if len(made) > guests + 1:  # the host process has one
        found.append(f"sockets: {len(made)} guest folders for {guests} guests")
    return found + [f"tmp/{path.name}" for path in world.tmp.iterdir() if _is_ours(path)]


def _is_ours(path: Path) -> bool:
    return path.name not in ("filler",)


@dataclass(slots=True)
class Ledger:
    """What one server and its host process held after each round, since both were there."""

    rss: list[float] = field(default_factory=list)
    host: int | None = None
    fds: dict[int, Counter[str]] = field(default_factory=dict)
    helpers: dict[int, int] = field(default_factory=dict)
    most_helpers: int = 0
    rounds: int = 0
    template_mb: float = 0
    """Memory of parked guests after the last round."""
    grouped: bool = field(default_factory=can_group)
    """Lanes get control groups here."""

    async def check(self, world: World, server: Server) -> list[str]:
        """Faults, once what a round used has had its time to go."""
        deadline = time.monotonic() + SETTLE_S
        while True:
            now = held(world, server)
            parked: dict[str, float] = {}
            found = []
            try:
                parked = await asyncio.to_thread(metrics, server)
                found += memory_faults(now.memory, parked, now.guests)
            except OSError as error:
                found.append(f"no answer from /metrics: {error}")
            # What a guest that is being parked has open depends on how far it is.
            quiet = not parked.get("making")
            found += self._faults(now, quiet)
            if self.grouped:
                found += group_faults(now.host, now.guests, world.ended)
            if not found or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.3)
        self.template_mb = now.memory.bytes / 2**20
        if now.host != self.host:
            self.host = now.host
            self.rss.clear()  # another one begins small
        if not found:
            self.rss.append(now.rss_mb)
            if quiet:
                self.fds.setdefault(now.guests, now.fds)
                self.helpers.setdefault(now.guests, len(now.helpers))
        return found + self._growth()

    def _faults(self, now: Held, quiet: bool) -> list[str]:
        found = [f"left behind: {name}" for name in now.stray]
        if now.zombies:
            found.append(f"{now.zombies} zombies")
        if now.guests > MOST_GUESTS:
            found.append(f"{now.guests} guests")
        if quiet and now.guests in self.fds:
            before = self.fds[now.guests]
            more = {kind: n - before[kind] for kind, n in now.fds.items() if kind != "bundle"}
            # Of children that were killed the server's ends stay, as those of others do.
            self.most_helpers = max(self.most_helpers, len(now.helpers))
            children = max(0, self.most_helpers - self.helpers[now.guests])
            if sum(max(0, n) for n in more.values()) > SPARE_FDS + FDS_A_HELPER * children:
                found.append(
                    f"descriptors grew from {dict(before)} to {dict(now.fds)}, "
                    f"and helpers by {children}"
                )
        if now.fds["bundle"] > MOST_BUNDLES:
            found.append(f"{now.fds['bundle']} recordings are open, and {MOST_BUNDLES} may be")
        if len(now.helpers) > IDLE_CHILDREN + SPARE_HELPERS:
            found.append(f"{len(now.helpers)} helpers: {now.helpers[-SPARE_HELPERS:]}")
        return found

    def _growth(self) -> list[str]:
        rss = self.rss[WARM_ROUNDS:]
        if len(rss) < WARM_ROUNDS:
            return []
        found = []
        later = self.rss[PLATEAU_ROUNDS:]
        if len(later) >= 2 * WARM_ROUNDS and (slope := slope_of(later)) > SLOPE_MB:
            found.append(f"memory grows by {slope:.1f} MB a round: {[round(x) for x in later]}")
        if rss[-1] - rss[0] > GROWTH_MB:
            found.append(f"memory grew from {rss[0]:.0f} to {rss[-1]:.0f} MB")
        return found


def slope_of(values: list[float]) -> float:
    """Theil-Sen: the median of the slopes of all pairs, which a peak does not move."""
    slopes = sorted(
        (values[j] - values[i]) / (j - i)
        for i in range(len(values))
        for j in range(i + 1, len(values))
    )
    return slopes[len(slopes) // 2]


async def after_end(world: World, within_s: float) -> list[str]:
    """What is left of a server that has ended: nothing may be."""
    deadline = time.monotonic() + within_s
    while True:
        left = world.processes()
        if not left or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.1)
    found = []
    for process in left:
        with contextlib.suppress(psutil.Error):
            found.append(f"outlives its server: {' '.join(process.cmdline())[:160]}")
    return found
