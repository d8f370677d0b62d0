# SPDX-License-Identifier: GPL-2.0-or-later
"""A host process dies: what is asked for from then on gets the next one, however long it takes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duet.host.protocol import Begin
from duet.rpc import limits
from duet.rpc.peer import Events, Peer
from duet.server.hosts.processes import Supervisor
from tests.support.peers import connected, ends

LEAVES_S = 0.2
"""As long as what has died takes to be cleared away."""


async def _begin(body: bytes, event: Events) -> bytes:
    return b""


@contextlib.asynccontextmanager
async def _started(peer: Peer) -> AsyncIterator[None]:
    """A host process without a process: the other end of a real socket pair."""
    there = Peer({"begin": _begin}, {}, "the server")
    await connected(peer, there, ends)
    beats = [asyncio.create_task(one.connection.run_heartbeat()) for one in (peer, there)]
    try:
        yield
    finally:
        await asyncio.sleep(LEAVES_S)
        there.connection.end("it leaves")
        await asyncio.gather(*beats)


def test_nothing_begins_on_a_host_process_that_is_gone(
    monkeypatch: pytest.MonkeyPatch, run_async: Any
) -> None:
    monkeypatch.setattr(limits, "RESTART_S", 0.05)

    async def play() -> None:
        supervisor = Supervisor(_started, lambda: Peer({}), Begin(slots=1), early=False)
        running = asyncio.create_task(supervisor.run())
        try:
            async with asyncio.timeout(10):
                first = await supervisor.ready()
                waiting = asyncio.create_task(first.connection.over.wait())
                await asyncio.sleep(0)
                first.connection.end("it has died")
                await waiting  # as a run that went on there learns of it
                second = await supervisor.ready()
            assert second is not first
            assert not second.connection.over.is_set()
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    run_async(play())
