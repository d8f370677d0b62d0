# SPDX-License-Identifier: GPL-2.0-or-later
"""A viewer's act reaches the workload of a live guest, and comes back as the kernel's own event."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from typing import Any

import pytest

from tests.support.toy_server import Message, page

pytestmark = [pytest.mark.guest, pytest.mark.alone]

CHOICE = {
    "lesson": "01-shrinker-bitmaps",
    "arms": ["after"],
    "workload": "containers-live",
    "params": {"n": 8, "seconds": 20},
    "clock": "wall",
}


def records(address: str, run_id: str, around_ns: float) -> list[dict[str, Any]]:
    url = f"http://{address}/api/runs/{run_id}/lanes/after/events"
    url += f"?around_ns={around_ns:.0f}&n=50"
    events: list[dict[str, Any]] = json.load(urllib.request.urlopen(url))
    return events


def test_a_file_touched_from_inside_a_container_sets_its_bit(address: str, run_async: Any) -> None:
    """And an act that cannot be done is refused in a sentence, while the run goes on."""

    async def touch() -> None:
        async with page(address) as one:
            await one.say(type="open", lesson=CHOICE["lesson"])
            await one.say(type="act", name="touch", value=1)
            refused = await one.until(lambda m: m["type"] == "error")
            assert refused["sentence"] == "this command needs a live run, but no run is live."
            await one.say(type="start", **CHOICE)
            run_id = await one.begun()
            await one.until(ran_calls, 90)

            await one.say(type="act", name="touch", value=99)
            refused = await one.until(lambda m: m["type"] == "error")
            assert refused["sentence"] == "touch takes a number from 1 to 8, not 99."
            await one.say(type="act", name="touch", value=5)
            line = await one.until(lambda m: m["type"] == "line" and "said=" in m["text"], 10)
            assert line["text"] == "containers: said=touch 5"
            await one.until(lambda m: m["type"] == "batch" and m["watermark_ns"] > line["t_ns"], 10)
            found = await asyncio.to_thread(records, address, run_id, line["t_ns"])
            set_for = {
                r["fields"]["memcg"] for r in found if r["event"] == "vmscan/shrinker_bit_set"
            }
            assert len(set_for) == 1, "one container's bits, of the filesystem that it touched"
            await one.say(type="stop")
            await one.until(lambda m: m["type"] == "run" and m["phase"] == "stopped", 30)

    run_async(touch())


def ran_calls(message: Message) -> bool:
    """The five calls are over."""
    return bool(message["type"] == "metrics" and message["watermark_ns"] > 0) and bool(
        message["events_read"] > 300
    )
