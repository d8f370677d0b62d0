# SPDX-License-Identifier: GPL-2.0-or-later
"""One copy that stands ready, and how it is made: as it was parked, or with a rehearsal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from duet.errors import InfraError
from duet.guests.clones.machines import CloneMachine
from duet.guests.clones.template import Template
from duet.guests.memory import pss_bytes
from duet.guests.types import Accel, GuestSpec

READY_BYTES = 50 << 20
"""Of one, before any has been measured (PSS). Usual: 47 MiB alone, less with others, since they
share QEMU and the template."""
REHEARSED_BYTES = 110 << 20
"""Of one that has rehearsed. Usual: 73-108 MiB alone, by what its lesson sets up."""


@dataclass(frozen=True, slots=True)
class ReadyCopy:
    """A copy that stands.

    Args:
        machine: prepared; whoever has it ends it.
        held_bytes: memory that it takes (PSS).
        rehearsed: see duet.guests.clones.rehearsal.
    """

    machine: CloneMachine
    held_bytes: int
    rehearsed: bool


Prepare = Callable[[Template, GuestSpec, bool], Awaitable[ReadyCopy]]


async def prepare_copy(template: Template, spec: GuestSpec, rehearsed: bool) -> ReadyCopy:
    """Start a copy and load its template. Takes 60 ms, and 1 s where it rehearses.

    Raises:
        DuetError: that failed; nothing is left behind.
    """
    machine = CloneMachine(spec, Accel.TCG, template)
    held_bytes = READY_BYTES
    try:
        await machine.prepare(rehearsed)
        with suppress(InfraError):
            held_bytes = await asyncio.to_thread(pss_bytes, machine.pid)
    except BaseException:
        await machine.close()
        raise
    return ReadyCopy(machine, held_bytes, rehearsed)
