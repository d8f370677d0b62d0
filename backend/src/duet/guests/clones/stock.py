# SPDX-License-Identifier: GPL-2.0-or-later
"""Templates that are there and copies that stand ready, within one budget of memory.

A template saves more time than a ready copy, so these take what templates leave.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from duet.guests.clones.machines import CloneMachine
from duet.guests.clones.prepared import Prepare
from duet.guests.clones.ready import ReadyCopies
from duet.guests.clones.template import Template
from duet.guests.types import GuestSpec

USUAL_BYTES = 130 << 20
"""Of one template, before any has been made. Usual: 110-125 MiB."""


class Stock:
    """Owns them; those that were used longest ago come first.

    Args:
        budget_bytes: of memory for all; beyond it ready copies go, then the template that was
            used longest ago.
        prepare: makes a copy that stands ready; None: there are none.
    """

    def __init__(self, budget_bytes: int, prepare: Prepare | None) -> None:
        self._budget_bytes = budget_bytes
        self._held: OrderedDict[str, Template] = OrderedDict()
        self.ready = ReadyCopies(prepare)

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def __len__(self) -> int:
        return len(self._held)

    @property
    def held_bytes(self) -> int:
        """Memory of all templates."""
        return sum(template.held_bytes for template in self._held.values())

    def use(self, key: str) -> Template:
        """The template of a key that is there; it goes last."""
        self._held.move_to_end(key)
        return self._held[key]

    def take_ready(self, key: str, spec: GuestSpec) -> CloneMachine | None:
        """See ReadyCopies.take()."""
        return self.ready.take(key, spec) if key in self._held else None

    def add(self, template: Template, spec: GuestSpec, later: bool) -> None:
        """A new one.

        Args:
            later: nobody has asked for it: it goes first, and no copy of it stands ready.
        """
        self._held[template.key] = template
        if later:
            self._held.move_to_end(template.key, last=False)
        else:
            self.ready.expect(template.key, spec)
        while not self._has_room(0) and self.ready.give_up_one():
            pass
        while len(self._held) > 1 and self.held_bytes > self._budget_bytes:
            self.give_up(next(iter(self._held)))  # the newest stays

    def give_up(self, key: str) -> None:
        """End it and its ready copy, if they are there."""
        self.ready.forget(key)
        template = self._held.pop(key, None)
        if template is not None:
            give_back(template)

    def room_for_one(self) -> bool:
        """For a further template that nobody waits for; ready copies would go for it."""
        most = max((one.held_bytes for one in self._held.values()), default=USUAL_BYTES)
        return self.held_bytes + most <= self._budget_bytes

    def next_ready(self) -> Template | None:
        """The template of which a ready copy is made now, if one is to be and there is room."""
        key = self.ready.next()
        return self._held[key] if key and self._has_room(self.ready.most_bytes(key)) else None

    async def close(self) -> None:
        """Give all memory back."""
        await self.ready.close()
        given = [give_back(template) for template in self._held.values()]
        self._held.clear()
        await asyncio.gather(*given)

    def _has_room(self, more_bytes: int) -> bool:
        return self.held_bytes + self.ready.held_bytes + more_bytes <= self._budget_bytes


def give_back(template: Template) -> asyncio.Future[None]:
    """Close a template in a thread: the kernel frees its memory meanwhile, in up to 70 ms."""
    return asyncio.get_running_loop().run_in_executor(None, template.close)
