# SPDX-License-Identifier: GPL-2.0-or-later
"""Segments: cut, packed and announced; each viewer gets every message once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import msgpack
import numpy as np
import pytest

from duet import messages as m
from duet.base.budgets import CACHE_PROBES, PROBE_SEGMENTS, SEGMENT_RAW_BYTES
from duet.base.errors import InputError
from duet.messages.codec import Packet, batch, pack
from duet.stream.cutting import CacheProbe, Cutting
from duet.stream.hub import Hub, RunLog, Viewer
from duet.stream.segments import SegmentLog, SegmentStore, conflated, pack_cut
from tests.support.segments import Message, messages_of

Run = Callable[..., Any]
DIRECT = 2


def rows(seq: int, n: int = 4, run_id: str = "r") -> Packet:
    columns = {"t_ns": np.arange(n) * 1e3 + seq * 1e6, "row": np.arange(n, dtype="<i4") - 2}
    return pack(batch(run_id, "a", "spans", seq, seq * 1e6, columns))


def counts(ops: int) -> Packet:
    waits = m.Waits(p50=None, p95=None, max=None, n=0)
    body = {"run_id": "r", "arm": "a", "watermark_ns": 0.0, "ops": ops, "spans": {}}
    return pack(m.Metrics(**body, events_read=0, events_lost=0, cycles=0, wait_ns=waits))


def state(phase: m.RunPhase, source: m.Source = "live") -> Packet:
    fields: Message = {"run_id": "r", "lesson": "x", "params": {}, "workload": "w", "arms": ["a"]}
    return pack(m.Run(**fields, source=source, clock="wall", phase=phase))


def plain(packets: Iterable[Packet]) -> list[Message]:
    return [msgpack.unpackb(packet.body) for packet in packets]


def cut(log: SegmentLog, *packets: Packet) -> Any:
    for packet in packets:
        log.add(packet)
    return log.packed(*pack_cut(log.cut().packets))


def test_a_segment_holds_its_messages_bit_by_bit_in_their_order() -> None:
    sent = [state("running"), rows(0), rows(1), counts(3)]
    log = SegmentLog("r")
    segment = cut(log, *sent)
    assert messages_of(segment.body) == plain(sent)
    assert (segment.line.n, segment.line.bytes) == (0, len(segment.body))
    assert segment.line.through_ns == 1e6
    assert list(log.tail()) == []


def test_equal_messages_pack_to_equal_bytes_and_the_address_cannot_be_guessed() -> None:
    sent = [state("running"), rows(0)]
    one, other = cut(SegmentLog("r"), *sent), cut(SegmentLog("r"), *sent)
    assert one.body == other.body
    assert one.name != other.name, "each run has a key of its own"


def test_of_counts_in_one_segment_the_latest_is_enough() -> None:
    kept = conflated([counts(1), rows(0), counts(2), state("running"), rows(1), state("done")])
    assert [(x.get("ops"), x.get("phase")) for x in plain(kept) if x["type"] != "batch"] == [
        (2, None), (None, "running"), (None, "done"),
    ]  # fmt: skip


def test_what_is_cut_but_not_packed_yet_is_in_the_tail() -> None:
    log = SegmentLog("r")
    sent = [rows(0), rows(1), rows(2)]
    log.add(sent[0])
    packing = log.cut()
    log.add(sent[1])
    log.cut()
    log.add(sent[2])
    assert plain(log.tail()) == plain(sent)
    log.packed(*pack_cut(packing.packets))
    assert plain(log.tail()) == plain(sent[1:])


def test_the_oldest_segments_go_and_are_reported_as_gaps() -> None:
    log = SegmentLog("r", max_bytes=1)
    for seq in range(3):
        cut(log, rows(seq))
    assert [line.n for line in log.listing().segments] == [2]
    (gap,) = plain(log.gone())
    assert (gap["from_seq"], gap["to_seq"], gap["rows"]) == (0, 1, 8)


def test_a_store_forgets_what_was_asked_for_longest_ago() -> None:
    log = SegmentLog("r")
    made = [cut(log, rows(seq)) for seq in range(3)]
    store = SegmentStore(max_bytes=sum(len(one.body) for one in made[:2]) + 8)
    store.add(made[0])
    store.add(made[1])
    store.find("r", made[0].name)
    store.add(made[2])
    assert store.find("r", made[0].name) is made[0]
    with pytest.raises(InputError, match="has no segment"):
        store.find("r", made[1].name)


@pytest.mark.parametrize(
    "name", ["", "1", "../../etc/passwd", f"01-{'a' * 32}", f"1-{'A' * 32}", f"-1-{'a' * 32}"]
)
def test_what_is_no_name_of_a_segment_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="not a segment name"):
        SegmentStore().find("r", name)


def test_a_cache_shows_by_the_requests_that_do_not_come() -> None:
    with_cache, without = CacheProbe(), CacheProbe()
    assert with_cache.cached is None
    for _ in range(PROBE_SEGMENTS):
        for reach in (with_cache, without):
            reach.led(10)
        with_cache.came()
        for _ in range(10):
            without.came()
    assert (with_cache.cached, without.cached) == (True, False)


class Desk:
    """A hub with viewers, of whom all can fetch."""

    def __init__(self, viewers: int, recorded: bool = False) -> None:
        self.hub = Hub()
        self.cutting = Cutting(self.hub, DIRECT)
        self.log = RunLog("r", "x", recorded=recorded)
        self.count = viewers
        self.viewers: list[Viewer] = []
        self.next: dict[Viewer, int] = {}

    async def __aenter__(self) -> Desk:
        await self.cutting.__aenter__()
        self.viewers = [self.join() for _ in range(self.count)]
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.cutting.__aexit__()

    def join(self, takes: bool = True) -> Viewer:
        viewer = self.hub.join()
        viewer.takes_segments = takes
        viewer.watch(self.log)
        return viewer

    def publish(self, *packets: Packet) -> None:
        for packet in packets:
            self.hub.publish(self.log, packet)

    async def settle(self) -> None:
        """Until all that was published is in segments that are announced."""
        self.cutting._cut(self.log)
        await self.cutting.listing(self.log)
        await asyncio.sleep(0.01)
        self.cutting.announcer._release(self.log)

    def seen(self, viewer: Viewer) -> list[Message]:
        """What a page has in the end: messages, and those of segments in their place.

        A number that was not announced is taken from the list, as the page does.
        """
        found: list[Message] = []
        assert self.log.segments is not None
        names = {one.line.n: one for one in self.log.segments.there}
        for packet in iter(viewer.outbox.pop, None):
            tree = msgpack.unpackb(packet.body)
            if tree["type"] != "segments":
                found.append(tree)
                continue
            last = tree["segments"][-1]
            assert names[last["n"]].line.digest == last["digest"]
            first = self.next.get(viewer, tree["segments"][0]["n"])
            for n in range(first, last["n"] + 1):
                found += messages_of(self.cutting.store.find("r", names[n].name).body)
            self.next[viewer] = last["n"] + 1
        return found


def seqs(messages: list[Message]) -> list[int]:
    return [x["seq"] for x in messages if x["type"] == "batch"]


def test_the_first_viewers_get_messages_and_those_beyond_move_to_segments(run_async: Run) -> None:
    async def watch() -> None:
        async with Desk(6) as desk:
            desk.publish(state("running"), *map(rows, range(3)))
            await desk.settle()  # the cut at which the others move
            assert [v.segments_from is None for v in desk.viewers] == [True] * DIRECT + [False] * 4
            desk.publish(*map(rows, range(3, 6)))
            await desk.settle()
            desk.publish(*map(rows, range(6, 9)), state("done"))
            await desk.settle()
            for viewer in desk.viewers:
                seen = desk.seen(viewer)
                assert seqs(seen) == list(range(9)), "each once, in order"
                assert seen[-1]["phase"] == "done"

    run_async(watch())


def test_without_a_cache_only_the_probes_get_segments(run_async: Run) -> None:
    async def watch(came: int) -> int:
        async with Desk(DIRECT + CACHE_PROBES + 9) as desk:
            for seq in range(PROBE_SEGMENTS // CACHE_PROBES + 4):
                desk.publish(rows(seq))
                await desk.settle()
                led = sum(v.segments_from is not None for v in desk.viewers)
                for _ in range(min(led, came)):
                    desk.cutting.announcer.reach.came()
            return led

    assert run_async(watch(came=10_000)) == CACHE_PROBES
    assert run_async(watch(came=1)) == CACHE_PROBES + 9


def test_a_live_segment_is_announced_to_one_and_to_all_once_it_was_fetched(run_async: Run) -> None:
    async def watch() -> None:
        async with Desk(DIRECT + 5) as desk:
            desk.publish(state("running"))
            await desk.settle()
            led = desk.viewers[DIRECT:]
            for viewer in led:
                desk.seen(viewer)

            def informed() -> int:
                return sum(any(map(is_list, iter(v.outbox.pop, None))) for v in led)

            desk.publish(rows(0), state("running"))
            await desk.cutting.listing(desk.log)
            await asyncio.sleep(0.01)
            assert informed() == 1
            assert desk.log.segments is not None
            desk.cutting.announcer.answered(desk.log.segments.there[-1])
            await asyncio.sleep(0.05)
            assert informed() == 4
            desk.publish(rows(1), state("running"))
            await desk.cutting.listing(desk.log)
            async with asyncio.timeout(60):  # nobody fetches it: the others are not kept waiting
                while informed() < 3:  # noqa: ASYNC110
                    await asyncio.sleep(0.2)

    run_async(watch())


def is_list(packet: Packet) -> bool:
    return packet.type == "segments"


def test_a_recording_is_cut_once_it_is_whole_and_all_get_the_same_bytes(run_async: Run) -> None:
    async def watch() -> None:
        async with Desk(1, recorded=True) as desk:
            sent = [state("running", "recorded"), *map(rows, range(5)), counts(1)]
            desk.publish(*sent, pack(m.Reading(run_id="r", read=1, total=1, whole=True)))
            await desk.settle()
            late = [desk.join() for _ in range(3)]
            lists = [msgpack.unpackb(viewer.outbox.pop().body) for viewer in late]
            assert lists[0] == lists[1] == lists[2]
            assert lists[0] == (await desk.cutting.listing(desk.log)).model_dump()
            seen = desk.seen(desk.join())
            assert seqs(seen) == seqs(desk.seen(desk.viewers[0])) == list(range(5))
            assert seen[0]["type"] == "run" and seen[-1]["whole"]
            old = desk.seen(desk.join(takes=False))
            assert seqs(old) == list(range(5)), "a page that cannot fetch is sent messages"

    run_async(watch())


def test_a_late_viewer_gets_the_list_and_then_what_no_segment_has(run_async: Run) -> None:
    async def watch() -> None:
        async with Desk(DIRECT + 1) as desk:
            desk.publish(state("running"), rows(0))
            await desk.settle()
            desk.publish(rows(1))
            late = desk.join()
            first = desk.join(takes=False)
            assert late.segments_from is None, "a cache has not shown itself yet"
            desk.publish(rows(2))
            await asyncio.sleep(0)
            assert seqs(desk.seen(late)) == seqs(desk.seen(first)) == [0, 1, 2]

    run_async(watch())


def test_a_viewer_that_reads_nothing_delays_no_one_and_finds_the_rest_in_the_list(
    run_async: Run,
) -> None:
    async def watch() -> None:
        async with Desk(DIRECT + 2) as desk:
            desk.publish(state("running"))
            await desk.settle()
            slow, quick = desk.viewers[-2:]
            for viewer in (slow, quick):
                desk.seen(viewer)
            got: list[Message] = []
            for seq in range(300):
                desk.publish(rows(seq))
                if seq % 10 == 9:
                    await desk.settle()
                    got += desk.seen(quick)
            assert seqs(got) == list(range(300))
            assert not slow.overrun
            waiting = [msgpack.unpackb(p.body) for p in iter(slow.outbox.pop, None)]
            assert len(waiting) == 2, "the oldest and the newest announcement"
            for one in waiting:
                slow.put(pack(m.Segments.model_validate(one)))
            assert seqs(desk.seen(slow)) == list(range(300))

    run_async(watch())


def test_segments_close_by_time_and_by_size(run_async: Run) -> None:
    async def watch() -> list[int]:
        async with Desk(DIRECT + 1) as desk:
            desk.publish(state("running"))
            await desk.settle()
            began = asyncio.get_running_loop().time()
            desk.publish(rows(0))
            async with asyncio.timeout(60):
                while desk.log.segments is None or desk.log.segments.cuts < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            assert asyncio.get_running_loop().time() - began > 0.2
            each = SEGMENT_RAW_BYTES // 24
            desk.publish(*(rows(seq, each) for seq in range(1, 7)))
            await desk.settle()
            return [x.bytes for x in (await desk.cutting.listing(desk.log)).segments]

    sizes = run_async(watch())
    assert len(sizes) == 5, "by time, and three by size: two batches of half a segment each"


def test_who_watches_another_run_is_not_led_to_this_ones_segments(run_async: Run) -> None:
    async def watch() -> None:
        async with Desk(DIRECT + 1) as desk:
            desk.publish(state("running"))
            await desk.settle()
            gone = desk.viewers[-1]
            gone.watch(RunLog("q", "x"))
            desk.publish(rows(0))
            await desk.settle()
            assert desk.seen(gone) == [] and gone.segments_from is None

    run_async(watch())
