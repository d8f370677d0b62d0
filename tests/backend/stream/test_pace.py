# SPDX-License-Identifier: GPL-2.0-or-later
"""One socket that asks without end: it is refused in a sentence, and nobody else waits for it."""

from __future__ import annotations

import asyncio
import http.client
import time
from pathlib import Path
from typing import Any

import msgpack
import pytest
from websockets.exceptions import ConnectionClosed

from duet.base import budgets
from duet.stream.viewer import Bucket, Turns
from tests.support.toy_server import SLUG, page, serving
from tests.support.toy_stage import toy_app

OPEN = msgpack.packb({"type": "open", "lesson": SLUG, "run": "none"})


def test_a_bucket_gives_its_burst_then_its_rate() -> None:
    now = [0.0]
    bucket = Bucket(10, 3, lambda: now[0])
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    assert bucket.wait_s == pytest.approx(0.1)
    now[0] = 0.1
    assert [bucket.take(), bucket.take()] == [True, False]
    now[0] = 60.0
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


def test_2000_opens_of_one_socket_are_refused_and_another_page_is_answered(
    run_async: Any, tmp_path: Path
) -> None:
    def fetch(address: str) -> float:
        began = time.monotonic()
        connection = http.client.HTTPConnection(address, timeout=120)
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"built"
        connection.close()
        return time.monotonic() - began

    async def one_open(address: str) -> float:
        """What an open takes that nobody refuses, on this host as it is now."""
        async with page(address) as one:
            began = time.monotonic()
            for _ in range(4):
                await one.open("none")
                await one.until_type("lesson")
                one.seen.clear()
            return (time.monotonic() - began) / 4

    async def flood(address: str) -> tuple[list[dict[str, Any]], int | None, float]:
        async with page(address) as one:
            protocol = one.socket.protocol
            for _ in range(2000):
                protocol.send_binary(OPEN)
            one.socket.transport.write(b"".join(protocol.data_to_send()))
            waited = await asyncio.to_thread(fetch, address)
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await one.next()
            return one.seen, closed.value.rcvd.code if closed.value.rcvd else None, waited

    (tmp_path / "index.html").write_text("built")
    with serving(toy_app(tmp_path)) as address:
        each = run_async(one_open(address))
        seen, code, waited = run_async(flood(address))
    lessons = [x for x in seen if x["type"] == "lesson"]
    errors = [x for x in seen if x["type"] == "error"]
    assert 1 <= len(lessons) <= budgets.OPENS_BURST + 10
    assert 1 <= len(errors) <= 3
    assert errors[0]["code"] == "too-many"
    assert code in (1008, None)  # a reset may overtake the close frame
    assert waited < 2000 * each / 4  # without the bucket 2,000 opens go first


def test_acknowledgements_are_counted_apart_from_commands(run_async: Any) -> None:
    async def ask(address: str) -> None:
        async with page(address) as one:
            for n in range(200):
                await one.say(type="ack", n=n)
            await one.open("none")
            await one.until_type("lesson")
            assert not [x for x in one.seen if x["type"] == "error"]

    with serving(toy_app(Path("/nonexistent"))) as address:
        run_async(ask(address))


def test_a_few_go_on_in_each_turn_of_the_loop_in_the_order_they_came(run_async: Any) -> None:
    async def go() -> list[list[int]]:
        turns, went, seen = Turns(3), [], []

        async def work(number: int) -> None:
            await turns.wait()
            went.append(number)

        tasks = [asyncio.create_task(work(number)) for number in range(8)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0)
            seen.append(list(went))
            went.clear()
        return [each for each in seen if each]

    assert run_async(go()) == [[0, 2, 3], [4, 5, 6], [7]]
