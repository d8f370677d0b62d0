# SPDX-License-Identifier: GPL-2.0-or-later
"""The checks of `duet doctor --deep`, in order. A failed check does not stop the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

from duet.base.errors import DuetError
from duet.cli.doctor.guests import GuestTrials
from duet.cli.doctor.host import budget_is_enforced, disk_speed, try_box
from duet.cli.doctor.line import Check, Failure, Status
from duet.cli.output import note
from duet.guests.clones import Templates, prepare_copy
from duet.host.guests import template_bytes

Work = Callable[[], Awaitable[str]]
TRIAL_S = 400.0
"""Time limit for one check. Each wait in it has a limit of its own. Usual: 1-8 s."""


def deep_checks() -> Iterator[Check]:
    """Run the checks, and yield their results in order."""
    try:
        trials = GuestTrials()
    except DuetError as error:
        yield Check("a guest", "missing", error.sentence, "live runs", error.remedy)
    else:
        yield from asyncio.run(_collected(_of_guests(trials)))
    yield from asyncio.run(_collected(_of_host()))


async def _collected(checks: AsyncIterator[Check]) -> list[Check]:
    return [check async for check in checks]


async def _of_guests(trials: GuestTrials) -> AsyncIterator[Check]:
    yield await check("a guest", "live runs", "missing", trials.boots)
    budget = template_bytes()
    async with Templates(budget or 1, prepare=prepare_copy) as templates:

        async def copies() -> str:
            return await trials.copies(templates if budget else None)

        yield await check("a copy", "lanes that move at once", "warning", copies)
    yield await check("own namespaces", "what a guest sees of the host", "warning", trials.apart)
    yield await check("own budget", "what a lane takes from others", "warning", trials.bounded)
    yield await check("host CPUs", "figures on the wall clock", "warning", trials.waits)


async def _of_host() -> AsyncIterator[Check]:
    for name, purpose, body in (
        ("enforced budget", "what a lane takes from others", budget_is_enforced),
        ("boxed build", "builds of patches that are not your own", try_box),
        ("disk speed", "building kernels, saving runs", disk_speed),
    ):

        async def work(body: Callable[[], str] = body) -> str:
            return await asyncio.to_thread(body)

        yield await check(name, purpose, "warning", work)


async def check(name: str, purpose: str, without: Status, work: Work) -> Check:
    """Run a check, and return its result.

    Args:
        without: the status for an unexpected error or a timeout. A Failure is always a warning.
    """
    note(name)
    try:
        async with asyncio.timeout(TRIAL_S):
            return Check(name, "ok", await work(), purpose)
    except Failure as failure:
        return Check(name, "warning", failure.found, purpose, failure.remedy)
    except DuetError as error:
        return Check(name, without, error.sentence, purpose, error.remedy)
    except TimeoutError:
        found = f"it took more than {TRIAL_S:g} s"
        return Check(name, without, found, purpose, "Run it again when the host has less to do.")
