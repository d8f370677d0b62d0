# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies and budgets in the soak: how lanes came up, parked guests' memory, control groups."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from prometheus_client.parser import text_string_to_metric_families

from duet.confine.control_groups import Budget, Group, groups_of, groups_without_maker
from duet.guests.boot import kvm_refusal
from duet.host.guests import template_bytes
from tests.soak.people import ARMS, SLUG, Message, Person
from tests.soak.world import Server

PARK_S = 120.0
"""Until all guests that are wanted are parked, while nothing runs. Usual: 5 s each, alone."""
FDS_A_TEMPLATE = 3
"""Memory, state, and the disk; a copy has the same three once more."""
LANES_COPIED_MINUTES = 3.0
"""In a run of this length at least one lane must have been a copy."""
LANE_GROUP = re.compile(r"^duet-lane-")


@dataclass(slots=True)
class Starts:
    """How the lanes of some runs came up, by what their messages say."""

    ways: Counter[str] = field(default_factory=Counter)
    """copied, booted, reused: lanes."""
    emulated: bool = False
    """A guest ran under TCG, where lanes can be copies."""
    _began: set[tuple[str, str]] = field(default_factory=set)
    _counted: set[tuple[str, str]] = field(default_factory=set)

    def take(self, message: Message) -> None:
        """A lane's message; a lane counts once its guest is up."""
        lane = message.get("run_id", ""), message["arm"]
        if message["phase"] == "booting":
            self._began.add(lane)
        if message.get("boot_s") is None or lane in self._counted:
            return
        self._counted.add(lane)
        self.emulated = self.emulated or message.get("accel") == "tcg"
        new = "copied" if message.get("cloned") else "booted"
        self.ways[new if lane in self._began else "reused"] += 1

    def add(self, other: Starts) -> None:
        """Those of another page as well."""
        self.ways += other.ways
        self.emulated = self.emulated or other.emulated

    def missing_copies(self, minutes: float) -> list[str]:
        """A fault, if copies could have been made and none was."""
        if not self.emulated or not template_bytes() or minutes < LANES_COPIED_MINUTES:
            return []
        booted = self.ways["booted"]
        return [] if self.ways["copied"] else [f"no lane was a copy, and {booted} booted"]


def metrics(server: Server) -> dict[str, float]:
    """What /metrics says of parked guests; blocking.

    Raises:
        OSError: no answer in time.
    """
    families = text_string_to_metric_families(server.text("/metrics"))
    return {
        sample.name.removeprefix("duet_templates_"): sample.value
        for family in families
        for sample in family.samples
        if sample.name.startswith("duet_templates_")
    }


async def until_parked(server: Server, person: Person, first: bool) -> list[str]:
    """Leave the server alone until all guests that are wanted are parked; what is wrong.

    Args:
        first: nobody has asked this server for anything yet, so a page opens the lesson.
    """
    if not template_bytes() or not kvm_refusal():  # under KVM each lane boots
        return []
    if first:
        await person.say(type="open", lesson=SLUG, run="none")
    deadline = time.monotonic() + PARK_S
    while time.monotonic() < deadline:
        now = await asyncio.to_thread(metrics, server)
        if not now["waiting"] and (now["held"] >= len(ARMS) or not first):
            return []
        await asyncio.sleep(0.5)
    return [f"guests were not parked within {PARK_S:.0f} s: {now}"]


@dataclass(slots=True)
class Memory:
    """Files in memory of parked guests that a server holds.

    Args:
        unused: guests' memory that no copy maps.
        descriptors: of all these files.
        bytes: of all these files.
    """

    unused: int
    descriptors: int
    bytes: int


def host_process(server: int) -> psutil.Process | None:
    """The process beside the guests of a server."""
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(server).children():
            with contextlib.suppress(psutil.Error):
                if "duet.host" in child.cmdline():
                    return child
    return None


def template_memory(pid: int | None, guests: list[int]) -> Memory:
    """Of a host process and the guests below it."""
    if pid is None:
        return Memory(0, 0, 0)
    mapped: set[int] = set()
    for guest in guests:
        with contextlib.suppress(OSError):
            mapped |= mapped_files(Path(f"/proc/{guest}/maps").read_text())
    sizes: dict[int, int] = {}
    memories: set[int] = set()
    descriptors = 0
    links: list[Path] = []
    with contextlib.suppress(OSError):  # it may have ended by now
        links = list(Path(f"/proc/{pid}/fd").iterdir())
    for link in links:
        with contextlib.suppress(OSError):
            name = str(link.readlink())
            if not name.startswith("/memfd:duet-"):
                continue
            found = link.stat()
            descriptors += 1
            sizes[found.st_ino] = found.st_blocks * 512
            if name.startswith("/memfd:duet-memory"):
                memories.add(found.st_ino)
    return Memory(len(memories - mapped), descriptors, sum(sizes.values()))


def mapped_files(maps: str) -> set[int]:
    """Inodes of parked guests' memory in /proc/PID/maps; proc(5)."""
    lines = [line.split(maxsplit=5) for line in maps.splitlines()]
    return {int(w[4]) for w in lines if len(w) == 6 and w[5].startswith("/memfd:duet-memory")}


def memory_faults(memory: Memory, now: dict[str, float], guests: int) -> list[str]:
    """Memory of parked guests that nobody can use any more."""
    parked = int(now["held"] + now["making"])
    found = []
    if memory.unused > parked:
        found.append(f"memory of {memory.unused} parked guests is held, and {parked} are parked")
    if memory.descriptors > FDS_A_TEMPLATE * (parked + guests):
        found.append(
            f"{memory.descriptors} descriptors of parked guests, with {parked} of these and "
            f"{guests} guests"
        )
    if now["held"] > 1 and now["held_bytes"] > template_bytes():
        found.append(f"parked guests take {now['held_bytes'] / 2**20:.0f} MiB, beyond the budget")
    return found


def can_group() -> bool:
    """Whether lanes get control groups here."""
    with Group(Budget(64 << 20, 8), "soak") as group:
        return bool(group.folders)


def lane_groups(pid: int) -> set[str]:
    """Names of the control groups that a server has made for lanes, and that are there."""
    return {path.name for path in groups_of(pid) if LANE_GROUP.match(path.name)}


def group_faults(pid: int | None, guests: int, former: list[int]) -> list[str]:
    """Lanes without a budget, and groups without a lane.

    Args:
        former: servers that have ended.
    """
    groups = lane_groups(pid) if pid is not None else set()
    found = []
    if len(groups) != guests:
        found.append(f"{len(groups)} control groups for {guests} guests: {sorted(groups)}")
    return found + [one for ended in former for one in groups_left(ended)]


def groups_left(pid: int) -> list[str]:
    """Control groups of a server that has ended, and of any process that is not there any more."""
    left = {*groups_of(pid), *groups_without_maker()}
    return [f"left by an ended process: control group {path.name}" for path in sorted(left)]
