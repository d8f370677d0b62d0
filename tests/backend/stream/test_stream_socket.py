# SPDX-License-Identifier: GPL-2.0-or-later
"""Real sockets on a real server; only the guests behind it are synthetic."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import time
import urllib.request
from pathlib import Path
from typing import Any

import msgpack
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from duet.stream import viewer as endpoint
from duet.stream.hub import Hub
from duet.stream.outbox import Outbox
from tests.support.toy_server import SLUG, Page, page, reported, serving
from tests.support.toy_stage import toy_app

NOWHERE = Path("/nonexistent")


def health(address: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://{address}/api/health") as answer:
        return json.load(answer)


def until_alone(address: str, left: int = 1) -> None:
    """Until so many viewers are left."""
    deadline = time.monotonic() + 120
    while health(address)["viewers"] != left:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_page_that_opens_the_lesson_gets_it_and_the_whole_recording(run_async: Any) -> None:
    async def look(address: str) -> Page:
        async with page(address) as one:
            await one.open()
            await one.until(lambda x: x["type"] == "reading" and x["whole"])
            return one

    with serving(toy_app(NOWHERE)) as address:
        seen = run_async(look(address)).seen
    kinds = [x["type"] for x in seen]
    assert kinds[:4] == ["hello", "runs", "lesson", "run"]
    lesson = seen[2]["lesson"]
    assert lesson["slug"] == SLUG
    assert set(lesson["content"]) == {scene["id"] for scene in lesson["scenes"]}
    assert lesson["arms"][1]["patch_texts"][0]["text"].startswith("diff --git")
    assert seen[3]["source"] == "recorded"
    ranges = reported(seen, seen[3]["run_id"])
    assert {arm for arm, _ in ranges} == {arm["name"] for arm in lesson["arms"]}
    for parts in ranges.values():
        assert [first for first, _, _ in parts] == list(range(len(parts)))


def test_late_joiner_gets_exactly_what_the_first_viewer_got(run_async: Any) -> None:
    async def watch(address: str) -> tuple[Page, Page, str]:
        async with page(address) as first, page(address) as late:
            await first.open()
            await first.start("rwsem", "srcu", seconds=2)
            run_id = await first.begun()
            await first.until(lambda x: x["type"] == "batch" and x["seq"] == 10)
            await late.open(run_id)
            await asyncio.gather(first.until_over(), late.until_over())
            return first, late, run_id

    with serving(toy_app(NOWHERE, speed=2.0)) as address:
        first, late, run_id = run_async(watch(address))
    assert reported(first.seen, run_id) == reported(late.seen, run_id)
    for kind in ("batch",):
        one = [x for x in first.of_run(run_id, kind) if x["table"] != "open"]
        two = [x for x in late.of_run(run_id, kind) if x["table"] != "open"]
        key = lambda x: (x["arm"], x["table"], x["seq"])  # noqa: E731
        assert sorted(one, key=key) == sorted(two, key=key)
    assert first.of_run(run_id, "metrics")[-1] == late.of_run(run_id, "metrics")[-1]
    assert first.of_run(run_id, "line") == late.of_run(run_id, "line")


def test_slow_reader_gets_exact_gaps_and_the_other_viewer_everything(run_async: Any) -> None:
    async def watch(address: str) -> tuple[Page, Page, str]:
        narrow = socket.socket()
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        narrow.setblocking(False)
        host, port = address.split(":")
        await asyncio.get_running_loop().sock_connect(narrow, (host, int(port)))
        async with page(address) as fast, page(address, sock=narrow, max_queue=1) as slow:
            await slow.open("recorded")
            await slow.until(lambda x: x["type"] == "batch")
            await fast.open("recorded")
            await fast.start("rwsem", "srcu-expedited", hogs=9, seconds=4)
            run_id = await fast.begun()
            await slow.open(run_id)
            await fast.until_over()
            await slow.until_over()
            return fast, slow, run_id

    boxes = iter([Outbox(), Outbox(max_packets=40, max_bytes=200_000)])
    hub = Hub(lambda: next(boxes))
    with serving(toy_app(NOWHERE, speed=8.0, hub=hub), send_buffer=16384) as address:
        fast, slow, run_id = run_async(watch(address))
    assert not fast.of_run(run_id, "gap")
    assert slow.of_run(run_id, "gap")
    whole, partial = reported(fast.seen, run_id), reported(slow.seen, run_id)
    for table, parts in whole.items():
        got = partial[table]
        assert [p[0] for p in got[1:]] == [p[1] + 1 for p in got[:-1]]
        assert (got[0][0], got[-1][1]) == (0, parts[-1][1])
        rows = {seq: n for seq, _, n in parts}
        for first, last, n in got:
            assert n == sum(rows[seq] for seq in range(first, last + 1))


def test_viewer_that_never_reads_is_cut_off_and_leaves(run_async: Any) -> None:
    async def stall(address: str) -> None:
        narrow = socket.socket()
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        narrow.setblocking(False)
        host, port = address.split(":")
        await asyncio.get_running_loop().sock_connect(narrow, (host, int(port)))
        async with page(address) as fast, page(address, sock=narrow, max_queue=1) as dead:
            await dead.open("recorded")
            await dead.next()
            dead.socket.transport.pause_reading()
            assert health(address)["viewers"] == 2
            await fast.open("recorded")
            await fast.start("rwsem", hogs=9, seconds=2)
            await dead.open(await fast.begun())
            await fast.until_over()
            await asyncio.to_thread(until_alone, address)
            dead.socket.transport.abort()

    with serving(toy_app(NOWHERE, speed=4.0, stall_s=0.5), send_buffer=8192) as address:
        run_async(stall(address))


def test_a_page_that_vanishes_in_the_middle_is_not_written_to_for_long(
    run_async: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def vanish(address: str) -> None:
        for _ in range(5):
            async with page(address) as one:
                await one.open("recorded")
                await one.until_type("batch")
                one.socket.transport.abort()
        await asyncio.to_thread(until_alone, address, 0)

    with serving(toy_app(NOWHERE)) as address:
        run_async(vanish(address))
    assert not [record for record in caplog.records if "socket.send()" in record.message]


@pytest.mark.parametrize(
    "frame", [b"\x8f\x80\0\0\0\0", b"\x82\xff" + b"\x7f" * 8, b"\x82\x00", b"\xf2\x81\0\0\0\0\0"]
)
def test_a_malformed_frame_in_the_middle_of_a_recording_is_no_error_of_ours(
    frame: bytes, run_async: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def look(address: str) -> None:
        async with page(address) as one:
            await one.open("recorded")
            await one.until(lambda x: x["type"] == "batch")
            one.socket.transport.write(frame)
            with pytest.raises(ConnectionClosed):
                while True:
                    await one.next()

    with serving(toy_app(NOWHERE), send_buffer=16384) as address:
        run_async(look(address))
        until_alone(address, left=0)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_guests_go_on_when_the_page_that_holds_them_is_gone(run_async: Any) -> None:
    async def phases(address: str) -> list[str]:
        async with page(address) as other:
            async with page(address) as holder:
                await holder.open()
                await holder.start("rwsem", "srcu", hogs=2, seconds=40)
                await other.open(await holder.begun())
                await holder.until_type("metrics")
                await holder.say(type="hold", on=True, after=0)
                await holder.until_type("held")
            await other.until(lambda x: x["type"] == "held" and x["phase"] == "going")
            return [x["phase"] for x in other.seen if x["type"] == "held" and x["arm"] == "rwsem"]

    with serving(toy_app(NOWHERE)) as address:
        assert run_async(phases(address)) == ["held", "going"]


def test_page_that_acknowledges_and_stops_is_not_sent_on(run_async: Any) -> None:
    async def stuck(address: str) -> tuple[Page, int | None]:
        async with page(address) as one:
            await one.say(type="ack", n=1)
            await one.open("recorded")
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await one.next()
                    if len(one.seen) == 5:
                        await one.start("rwsem", "srcu", hogs=2, seconds=40)
            return one, closed.value.rcvd.code if closed.value.rcvd else None

    with serving(toy_app(NOWHERE, speed=40.0, stall_s=1.0)) as address:
        one, code = run_async(stuck(address))
    assert code == 4408
    assert 1000 <= len(one.seen) <= 1100


def test_an_idle_page_gets_a_sign_of_life(run_async: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "HEARTBEAT_S", 0.1)

    async def go(address: str) -> None:
        async with page(address) as one:
            for _ in range(3):
                await one.until_type("heartbeat")
            await one.open()
            await one.until_type("reading", whole=True)
            await one.until_type("heartbeat")

    with serving(toy_app(NOWHERE)) as address:
        run_async(go(address))


def test_200_malformed_messages_never_hurt_the_server(run_async: Any) -> None:
    rng = random.Random(2)
    good = msgpack.packb({"type": "open", "lesson": SLUG})

    def bad() -> bytes:
        kind = rng.randrange(4)
        if kind == 0:
            return rng.randbytes(rng.randrange(200))
        if kind == 1:
            cut = bytearray(good)
            cut[rng.randrange(len(cut))] ^= 1 << rng.randrange(8)
            return bytes(cut[: rng.randrange(1, len(cut))])
        if kind == 2:
            return b"\x00" * 70_000
        return msgpack.packb({"type": "start", "lesson": "x" * rng.randrange(65, 200), "arms": [1]})

    async def annoy(address: str) -> list[int]:
        codes: list[int] = []
        sent = 0
        while sent < 200:
            # A page takes what comes: behind a full queue it would not see the close frame.
            url = f"ws://{address}/ws"
            async with connect(url, compression=None, max_queue=None) as ws:
                try:
                    while sent < 200:
                        await ws.send(bad())
                        sent += 1
                        await asyncio.sleep(0)
                    await ws.close()
                except ConnectionClosed:
                    pass
                await ws.wait_closed()
                codes.append(ws.close_code or 0)
        async with page(address) as after:
            await after.open()
            await after.until_type("lesson")
        return codes

    with serving(toy_app(NOWHERE)) as address:
        codes = run_async(annoy(address))
        assert health(address)["status"] == "ok"
    # While more is being sent, the reset of a closed connection may overtake the close frame.
    assert {1008, 1006} & set(codes)


def test_a_malformed_message_is_answered_and_the_twentieth_closes(run_async: Any) -> None:
    async def strike(address: str) -> tuple[list[dict], int | None]:
        async with page(address) as one:
            await one.until_type("runs")
            for _ in range(20):
                await one.socket.send(b"\xc1")
            errors = []
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    errors.append(await one.next())
            return errors, closed.value.rcvd.code if closed.value.rcvd else None

    with serving(toy_app(NOWHERE)) as address:
        errors, code = run_async(strike(address))
    assert {e["code"] for e in errors} == {"malformed"}
    assert code == 1008


def test_text_frames_and_huge_frames(run_async: Any) -> None:
    async def send(address: str) -> int | None:
        async with page(address) as one:
            await one.socket.send("hello")
            assert (await one.until_type("error"))["code"] == "malformed"
            await one.socket.send(b"\x00" * (1 << 20 | 1))
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await one.next()
            return closed.value.rcvd.code if closed.value.rcvd else None

    with serving(toy_app(NOWHERE)) as address:
        assert run_async(send(address)) == 1009


def test_control_is_the_starters_and_an_instructor_may_take_it(run_async: Any) -> None:
    """Without tokens every visitor is the operator, who may do what an instructor may."""

    async def share(address: str) -> None:
        async with page(address) as second:
            async with page(address) as first:
                await first.open()
                await first.start("rwsem", seconds=3)
                run_id = await first.begun()
                mine = await first.until_type("control", run_id=run_id)
                assert (mine["by"], mine["yours"]) == ("you", True)
                await second.open(run_id)
                his = await second.until_type("control", run_id=run_id)
                assert (his["by"], his["yours"], his["may_take"]) == ("other", False, True)
                await second.say(type="stop", run=run_id)
                assert (await second.until_type("error"))["code"] == "not-controller"
                await second.say(type="control", take=True)
                await second.until_type("control", by="you")
                await first.until_type("control", by="other")
                await first.say(type="hold", on=True)
                assert (await first.until_type("error"))["code"] == "not-controller"
                await second.say(type="control", take=False)
                await first.until_type("control", by="nobody")
                await first.say(type="hold", on=True)
                await first.until_type("held")
                await second.until_type("control", by="other")
            await second.until_type("control", by="nobody")
            await second.say(type="stop")
            over = await second.until_over()
            assert over["phase"] == "stopped"

    with serving(toy_app(NOWHERE, speed=0.1)) as address:
        run_async(share(address))


def test_start_while_ones_own_run_goes_on_stops_that_first(run_async: Any) -> None:
    async def twice(address: str) -> Page:
        async with page(address) as one:
            await one.open()
            await one.start("rwsem", seconds=6)
            former = await one.begun()
            await one.until_type("run", source="live", phase="running")
            await one.start("srcu", seconds=1)
            latter = await one.begun()
            assert latter != former
            await one.until_type("run", run_id=latter, phase="done")
            # Asked anew: a page that was sent on to the next run may miss the former one's end.
            await one.open(former)
            assert (await one.until_type("run", run_id=former))["phase"] == "stopped"
            return one

    with serving(toy_app(NOWHERE, speed=4.0)) as address:
        seen = run_async(twice(address)).seen
    running = [len(x["live"]) for x in seen if x["type"] == "runs"]
    assert max(running) == 1


def test_again_repeats_and_says_when_it_cannot(run_async: Any) -> None:
    async def again(address: str) -> None:
        async with page(address) as one:
            await one.open()
            await one.say(type="again")
            assert "nothing has run" in (await one.until_type("error"))["sentence"]
            await one.start("srcu", hogs=2, seconds=1)
            first = await one.begun()
            await one.until_type("run", run_id=first, phase="done")
            await one.say(type="again")
            second = await one.begun()
            assert second != first
            run = await one.until_type("run", run_id=second, phase="done")
            assert (run["arms"], run["params"]["hogs"]) == (["srcu"], 2)

    with serving(toy_app(NOWHERE, speed=10.0)) as address:
        run_async(again(address))


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ({"lesson": "02-grace-period", "arms": ["srcu"]}, "did you mean '02-grace-periods'"),
        ({"lesson": SLUG, "arms": ["scru"]}, "did you mean 'srcu'"),
        ({"lesson": SLUG, "arms": ["srcu", "srcu"]}, "twice"),
        ({"lesson": SLUG, "arms": ["srcu"], "params": {"hogs": 0}}, "from 1 to 9"),
        ({"lesson": SLUG, "arms": ["srcu"], "params": {"hogs": 10**6}}, "from 1 to 9"),
        ({"lesson": SLUG, "arms": ["srcu"], "params": {"hog": 3}}, "did you mean 'hogs'"),
        ({"lesson": SLUG, "arms": ["srcu"], "workload": "dd"}, "no workload 'dd'"),
    ],
)
def test_unusable_starts_are_one_sentence(
    run_async: Any, message: dict[str, object], word: str
) -> None:
    async def ask(address: str) -> dict[str, Any]:
        async with page(address) as one:
            await one.say(type="start", **message)
            return await one.until_type("error")

    with serving(toy_app(NOWHERE)) as address:
        error = run_async(ask(address))
        assert health(address)["playing"] == []
    assert word in error["sentence"]
    assert error["remedy"]
    assert error["code"] == "input"


def test_kernels_are_built_in_sight_and_unlock_their_lane(run_async: Any) -> None:
    async def build(address: str) -> None:
        async with page(address) as one:
            await one.open()
            await one.start("srcu")
            assert (await one.until_type("error"))["code"] == "not-built"
            await one.until_type("build", arm="srcu", phase="done")
            await one.start("srcu", seconds=1)
            await one.until_over()

    with serving(toy_app(NOWHERE, speed=10.0, missing=("srcu",), build_step_s=0.1)) as address:
        run_async(build(address))


def test_measured_table_fills_run_by_run(run_async: Any) -> None:
    async def measure(address: str) -> list[dict[str, Any]]:
        async with page(address) as one:
            await one.open()
            await one.say(type="measure", lesson=SLUG, arms=["rwsem", "srcu"], params={}, repeats=2)
            last = await one.until(lambda x: x["type"] == "measured" and x["done"] == x["total"])
            assert [row["n"] for row in last["rows"]] == [2, 2]
        async with page(address) as late:
            await late.open()
            return [await late.until_type("measured"), last]

    with serving(toy_app(NOWHERE, speed=20.0)) as address:
        late, last = run_async(measure(address))
    assert late == last


def test_stopped_measuring_leaves_a_table_that_says_so(run_async: Any) -> None:
    async def measure(address: str) -> dict[str, Any]:
        async with page(address) as one:
            await one.open()
            await one.say(type="measure", lesson=SLUG, arms=["rwsem", "srcu"], repeats=20)
            await one.until(lambda x: x["type"] == "measured" and x["done"] >= 2)
            await one.say(type="stop")
            return await one.until(lambda x: x["type"] == "measured" and x["done"] == x["total"])

    with serving(toy_app(NOWHERE)) as address:
        last = run_async(measure(address))
        assert health(address)["playing"] == []
    assert last["done"] < 40
    assert last["verdict"].startswith("No verdict: measuring ended after")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_foreign_pages_cannot_open_the_socket(
    run_async: Any, headers: dict[str, str], status: int
) -> None:
    async def knock(address: str) -> int:
        with pytest.raises(InvalidStatus) as refused:
            async with connect(f"ws://{address}/ws", additional_headers=headers):
                pass
        return refused.value.response.status_code

    with serving(toy_app(NOWHERE)) as address:
        assert run_async(knock(address)) == status


def test_own_pages_can_open_the_socket_and_frames_are_not_compressed(run_async: Any) -> None:
    async def knock(address: str) -> list[str]:
        headers = {"Origin": f"http://{address}"}
        async with connect(f"ws://{address}/ws", additional_headers=headers) as ws:
            return [extension.name for extension in ws.protocol.extensions]

    with serving(toy_app(NOWHERE)) as address:
        assert run_async(knock(address)) == []
