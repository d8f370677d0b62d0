# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows that come in one pass of the loop are queued as one, and lose nothing by it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np

from duet import messages as m
from duet.messages.codec import Packet, batch, pack
from duet.stream.hub import TOGETHER, Hub, RunLog, Viewer
from duet.stream.outbox import Outbox
from duet.stream.packets import together

Run = Callable[..., Any]


class Counting(Outbox):
    """Counts what is put."""

    puts = 0

    def put(self, packet: Packet) -> None:
        self.puts += 1
        super().put(packet)


def rows(table: str, seq: int) -> Packet:
    return pack(batch("r", "a", table, seq, 0.0, {"t_ns": np.zeros(2)}))


def lane(phase: m.LanePhase) -> Packet:
    return pack(m.Lane(run_id="r", arm="a", phase=phase))


def seen(outbox: Outbox) -> list[tuple[str, Any]]:
    found = []
    while (packet := outbox.pop()) is not None:
        tree = msgpack.unpackb(packet.body)
        found.append((tree.get("table", tree["type"]), tree.get("seq", tree.get("phase"))))
    return found


def watching(hub: Hub, log: RunLog) -> tuple[Viewer, Counting]:
    viewer = hub.join()
    viewer.watch(log)
    assert isinstance(viewer.outbox, Counting)
    return viewer, viewer.outbox


def test_tables_of_a_frame_are_put_once_and_come_in_order(run_async: Run) -> None:
    async def frame() -> None:
        hub, log = Hub(Counting), RunLog("r", "lesson")
        _, outbox = watching(hub, log)
        hub.publish(log, lane("running"))
        for table in ("spans", "links", "ticks"):
            hub.publish(log, rows(table, 0))
        await asyncio.sleep(0)
        assert outbox.puts == 2
        assert seen(outbox) == [("lane", "running"), ("spans", 0), ("links", 0), ("ticks", 0)]
        hub.publish(log, rows("spans", 1))
        hub.publish(log, lane("done"))
        assert seen(outbox) == [("spans", 1), ("lane", "done")], "nothing comes after done"
        for seq in range(2, 3 + TOGETHER):
            hub.publish(log, rows("spans", seq))
        await asyncio.sleep(0)
        assert [seq for _, seq in seen(outbox)] == list(range(2, 3 + TOGETHER))

    run_async(frame())


def test_who_comes_in_the_same_pass_gets_each_row_once(run_async: Run) -> None:
    async def joins() -> None:
        hub, log = Hub(Counting), RunLog("r", "lesson")
        hub.publish(log, rows("spans", 0))
        early = watching(hub, log)[1]
        hub.publish(log, rows("spans", 1))
        middle = watching(hub, log)[1]
        other = watching(hub, RunLog("q", "lesson"))[1]
        hub.publish(log, rows("spans", 2))
        late = watching(hub, log)[1]
        await asyncio.sleep(0)
        hub.publish(log, rows("spans", 3))
        await asyncio.sleep(0)
        for outbox in (early, middle, late):
            assert seen(outbox) == [("spans", seq) for seq in range(4)]
        assert seen(other) == []

    run_async(joins())


def test_rows_of_two_runs_stay_apart(run_async: Run) -> None:
    async def two() -> None:
        hub = Hub(Counting)
        logs = [RunLog("r", "lesson"), RunLog("q", "lesson")]
        boxes = [watching(hub, log)[1] for log in logs]
        for seq in range(3):
            for log in logs:
                hub.publish(log, rows(log.run_id, seq))
        await asyncio.sleep(0)
        for log, outbox in zip(logs, boxes, strict=True):
            assert seen(outbox) == [(log.run_id, seq) for seq in range(3)]

    run_async(two())


def test_of_dropped_rows_each_table_has_its_gap() -> None:
    outbox = Outbox(max_packets=4)
    for seq in range(3):
        outbox.put(together([rows("spans", seq), rows("links", seq)]))
    assert outbox.rows_dropped == 4
    found = []
    while (packet := outbox.pop()) is not None:
        tree = msgpack.unpackb(packet.body)
        found.append((tree["type"], tree["table"], tree.get("seq", tree.get("to_seq"))))
    assert found == [
        *(("gap", "spans", 0), ("batch", "spans", 1)),
        *(("gap", "links", 0), ("batch", "links", 1)),
        *(("batch", "spans", 2), ("batch", "links", 2)),
    ]
    assert outbox._bytes == 0
