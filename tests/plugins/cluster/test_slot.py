# SPDX-License-Identifier: GPL-2.0-or-later
"""Host processes of a slot: a lease is given back for a run that needs more, not for a page."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from duet.base.errors import InfraError
from duet.host.protocol import Begin
from duet.plugins.cluster.live import Leases, Slot
from duet.plugins.cluster.types import Want
from duet.rpc.peer import Peer


class Pool:
    """Leases whose host processes answer nothing but their beginning."""

    def __init__(self) -> None:
        self.wanted: list[int] = []
        self.given_back = 0
        self.fails = False
        self.lasts_s = 600.0

    @contextlib.asynccontextmanager
    async def lease(self, want: Want) -> AsyncIterator[object]:
        self.wanted.append(want.lanes)
        try:
            yield SimpleNamespace(want=replace(want, ttl_s=self.lasts_s))
        finally:
            self.given_back += 1

    @contextlib.asynccontextmanager
    async def host(self, peer: Peer, lease: object, lane: int) -> AsyncIterator[None]:
        if self.fails and lane == 1:
            raise InfraError("the second one did not come.", remedy="Try again.")

        async def call(*given: Any) -> bytes:
            return b""

        peer.call = call  # type: ignore[method-assign]
        yield


def slot_of(pool: Pool) -> Slot:
    return Slot(cast(Leases, pool), {}, Want(ttl_s=600), Begin(slots=1))


def test_a_page_that_comes_leaves_a_run_alone(run_async: Any) -> None:
    async def play() -> None:
        pool = Pool()
        slot = slot_of(pool)
        (running,) = await slot.ready(1, True)
        assert await slot.ready(2) == (running,)
        assert pool.wanted == [1] and pool.given_back == 0
        two = await slot.ready(2, True)
        assert len(two) == 2 and running.connection.over.is_set()
        two[0].connection.end("it has died")
        assert await slot.ready(2) == two[1:]
        assert len(await slot.ready(2, True)) == 2
        assert pool.wanted == [1, 2, 2]
        await slot.ready(1, True)
        assert pool.wanted == [1, 2, 2]  # it has room for fewer
        assert pool.given_back == 2
        await slot.end()
        assert pool.given_back == 3

    run_async(asyncio.wait_for(play(), 20))


def test_a_run_has_half_of_a_leases_time_before_it(run_async: Any) -> None:
    async def play() -> None:
        pool = Pool()
        pool.lasts_s = 0.4  # shorter than was wanted: the pool gives no more
        slot = slot_of(pool)
        first = await slot.ready(1, True)
        assert await slot.ready(1, True) == first
        await asyncio.sleep(0.25)
        assert await slot.ready(1) == first
        assert await slot.ready(1, True) != first
        assert pool.wanted == [1, 1] and pool.given_back == 1
        await slot.end()
        assert pool.given_back == 2

    run_async(asyncio.wait_for(play(), 20))


def test_a_host_process_that_does_not_come_costs_no_lease(run_async: Any) -> None:
    async def play() -> None:
        pool = Pool()
        pool.fails = True
        slot = slot_of(pool)
        with pytest.raises(InfraError, match="did not come"):
            await slot.ready(2, True)
        assert pool.given_back == 1
        pool.fails = False
        assert len(await slot.ready(2, True)) == 2
        await slot.end()

    run_async(asyncio.wait_for(play(), 20))
