# SPDX-License-Identifier: GPL-2.0-or-later
"""What a fault of the soak is: something that goes wrong, and what is promised about it."""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import psutil

from tests.soak.people import ARMS, Message, Person
from tests.soak.world import Server, World

SENTENCE = re.compile(r"^[A-Z\w'\"].{10,500}[.)?]$")


@dataclass(slots=True)
class Round:
    """What a fault works with."""

    world: World
    server: Server
    person: Person
    rng: random.Random

    @property
    def params(self) -> dict[str, int]:
        """Knobs of a short run that needs no new guest."""
        return {"hogs": self.rng.randint(1, 3), "seconds": 2}

    def guest(self, run: str, arm: str) -> int | None:
        """Process of a lane's guest, if it is one that our own server has started."""
        pid = self.person.pid(run, arm)
        below = {child.pid for child in psutil.Process(self.server.pid).children(recursive=True)}
        return pid if pid in below else None

    async def running(self, seconds: int = 2) -> str:
        """A run with events of both lanes."""
        run = await self.person.start(**{**self.params, "seconds": seconds})
        await self.person.moving(run)
        return run

    async def whole(self, run: str, arms: tuple[str, ...] = ARMS, seconds: float = 60) -> list[str]:
        """Faults of a run that nothing should have disturbed, once it is over."""
        phase = await self.person.end(run, seconds)
        found = [] if phase == "done" else [f"the run is {phase}: {self.person.runs[run]}"]
        for arm in arms:
            if (now := self.person.phase(run, arm)) != "done":
                found.append(f"lane {arm} is {now}: {self.person.lanes.get((run, arm))}")
        return found

    async def proves(self) -> list[str]:
        """After a fault: the next run is whole again."""
        return await self.whole(await self.running())


class Fault(ABC):
    """One way in which things go wrong.

    Args:
        ends_server: whether the server is gone afterwards.
        needs_root: whether it needs file systems of its own.
        within_s: how long all of it may take, on a busy host.
        logs: lines of the server's log above INFO that it explains.
    """

    ends_server: ClassVar[bool] = False
    ends_host: ClassVar[bool] = False
    """Whether the host process is gone afterwards, and with it what it had grown to."""
    needs_root: ClassVar[bool] = False
    within_s: ClassVar[float] = 90.0
    logs: ClassVar[str] = r"$^"
    probe: ClassVar[bool] = True
    """Whether another viewer is answered all the time."""

    @property
    def name(self) -> str:
        """As in the report: KillGuest is kill-guest."""
        return re.sub(r"(?<=.)([A-Z])", r"-\1", type(self).__name__).lower()

    @abstractmethod
    async def happen(self, at: Round) -> list[str]:
        """Let it happen and look; what should not have been, a sentence each."""


def refused(message: Message | None, pattern: str) -> list[str]:
    """Faults of an error or failed lane that was shown: sentence, remedy, and what it is about."""
    if message is None:
        return [f"nothing was said of {pattern!r}"]
    sentence = str(message.get("sentence") or message.get("message") or "")
    found = []
    if not SENTENCE.match(sentence) or "unexpected" in sentence or "Traceback" in sentence:
        found.append(f"no sentence: {sentence!r}")
    if not message.get("remedy"):
        found.append(f"no remedy beside {sentence!r}")
    if not re.search(pattern, sentence, re.IGNORECASE):
        found.append(f"{sentence!r} does not say {pattern!r}")
    return found
