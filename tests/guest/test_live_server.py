# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet serve` as a person meets it: real kernels, a real socket, and things that go wrong."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import urllib.request
from typing import Any

import numpy as np
import psutil
import pytest

from tests.support.processes import guests_below
from tests.support.toy_server import SLUG, Message, Page, page, reported

pytestmark = pytest.mark.guest


def until_gone(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return alive


def lane_pids(address: str) -> dict[str, int]:
    health = json.load(urllib.request.urlopen(f"http://{address}/api/health"))
    return {lane["arm"]: lane["pid"] for lane in health["lanes"]}


def moves(seen: list[Message], run_id: str, arm: str) -> list[float]:
    return [
        m["watermark_ns"]
        for m in seen
        if m["type"] == "batch" and m.get("run_id") == run_id and m["arm"] == arm
    ]


def lane_of(seen: list[Message], run_id: str, arm: str) -> Message:
    of = [m for m in seen if m["type"] == "lane" and (m["run_id"], m["arm"]) == (run_id, arm)]
    return of[-1]


async def run_over(one: Page, run_id: str) -> Message:
    over = ("done", "stopped", "failed")
    return await one.until(
        lambda m: m["type"] == "run" and m["run_id"] == run_id and m["phase"] in over, 240
    )


@pytest.mark.alone
def test_two_arms_live_then_other_hogs_then_a_killed_guest(
    server: tuple[subprocess.Popen[str], str], run_async: Any
) -> None:
    process, address = server

    async def lesson() -> str:
        async with page(address) as one:
            await one.open()
            await one.start("rwsem", "srcu", hogs=3, seconds=2)
            run_id = await one.begun()
            assert (await run_over(one, run_id))["phase"] == "done"
            for arm in ("rwsem", "srcu"):
                seen = moves(one.seen, run_id, arm)
                assert len(seen) > 10 and seen == sorted(seen) and seen[-1] > 1.5e9
                parts = reported(one.seen, run_id)[arm, "spans"]
                assert [first for first, _, _ in parts] == list(range(len(parts)))
            last = {m["arm"]: m for m in one.of_run(run_id, "metrics")}
            assert last["srcu"]["ops"] < last["rwsem"]["ops"]
            assert last["srcu"]["cycles"] > 10
            assert [last[arm]["events_lost"] for arm in last] == [0, 0]
            pids = [lane_of(one.seen, run_id, arm)["pid"] for arm in ("rwsem", "srcu")]

            await one.start("rwsem", "srcu", hogs=9, seconds=2)
            run_id = await one.begun()
            assert (await run_over(one, run_id))["params"]["hogs"] == 9
            rows = [m for m in one.seen if m["type"] == "rows" and m["run_id"] == run_id][-1]
            assert sum(row["role"] == "thread" for row in rows["rows"]) == 9
            again = [lane_of(one.seen, run_id, arm)["pid"] for arm in ("rwsem", "srcu")]
            assert again == pids, "a run knob needs no new guest"

            await one.start("rwsem", "srcu", hogs=3, seconds=6)
            run_id = await one.begun()
            await one.until_type("batch", run_id=run_id)
            alive = await asyncio.to_thread(lane_pids, address)
            assert alive == {"rwsem": pids[0], "srcu": pids[1]}
            os.kill(pids[1], signal.SIGKILL)
            failed = await one.until_type("lane", run_id=run_id, arm="srcu", phase="failed")
            assert failed["message"] and failed["remedy"]
            reached = max(moves(one.seen, run_id, "rwsem"), default=0.0)
            assert (await run_over(one, run_id))["phase"] == "done"
            assert max(moves(one.seen, run_id, "rwsem")) > max(reached, 5e9)

            await one.start("rwsem", "srcu", hogs=2, seconds=1)
            run_id = await one.begun()
            assert (await run_over(one, run_id))["phase"] == "done"
            assert lane_of(one.seen, run_id, "srcu")["pid"] not in (None, pids[1])
            assert lane_of(one.seen, run_id, "srcu")["phase"] == "done"
            return run_id

    run_id = run_async(lesson())
    url = f"http://{address}/api/runs/{run_id}/lanes/srcu/events?around_ns=5e8&n=20"
    rows = json.load(urllib.request.urlopen(url))
    assert len(rows) == 20 and all("event" in row for row in rows)
    bundle = urllib.request.urlopen(f"http://{address}/api/runs/{run_id}/bundle").read()
    assert bundle[:2] == b"PK"
    children = guests_below(process.pid)
    assert len(children) == 2
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 0
    assert not until_gone(children, 60)


def host_process(server: int) -> psutil.Process:
    children = psutil.Process(server).children()
    return next(one for one in children if "duet.host" in one.cmdline())


def test_kill_9_of_the_host_process_and_of_the_server_leaves_no_guest(
    server: tuple[subprocess.Popen[str], str], run_async: Any
) -> None:
    process, address = server

    async def begin() -> None:
        async with page(address) as one:
            await one.open()
            await one.start("rwsem", "srcu", hogs=3, seconds=30)
            run_id = await one.begun()
            await one.until_type("batch", run_id=run_id)
            guests = guests_below(process.pid)
            host_process(process.pid).kill()
            failed = await one.until_type("run", run_id=run_id, phase="failed")
            assert "the host process is gone" in failed["message"]
            assert lane_of(one.seen, run_id, "srcu")["phase"] == "failed"
            assert not await asyncio.to_thread(until_gone, guests, 60)
            await one.start("rwsem", "srcu", hogs=3, seconds=30)
            await one.until_type("batch", run_id=await one.begun())

    run_async(begin())
    children = guests_below(process.pid)
    assert len(children) == 2
    process.kill()
    process.wait(5)
    assert not until_gone(children, 60)


@pytest.mark.alone
def test_measured_table_from_the_page(
    server: tuple[subprocess.Popen[str], str], run_async: Any
) -> None:
    process, address = server

    async def measure() -> Message:
        most = 0
        async with page(address) as one:
            await one.open()
            await one.say(
                type="measure", lesson=SLUG, arms=["rwsem", "srcu"],
                params={"hogs": 9, "seconds": 1}, repeats=2,
            )  # fmt: skip
            async with asyncio.timeout(120):
                while True:
                    message = await one.next(90)
                    assert message["type"] != "error", message
                    most = max(most, len(guests_below(process.pid)))
                    if message["type"] != "measured" or message["source"] != "live":
                        continue  # the recorded table comes first
                    if message["done"] == message["total"]:
                        assert most <= 1, "one guest at a time"
                        return message

    table = run_async(measure())
    rates = {row["arm"]: row["ops_per_s_median"] for row in table["rows"]}
    assert [row["n"] for row in table["rows"]] == [2, 2]
    assert rates["srcu"] < rates["rwsem"]
    assert "No verdict" in table["verdict"]


def test_stop_ends_a_run_and_a_browser_that_vanishes_does_not(address: str, run_async: Any) -> None:
    async def vanish() -> None:
        async with page(address) as first:
            await first.open()
            await first.start("srcu", hogs=3, seconds=30)
            run_id = await first.begun()
            await first.until_type("batch", run_id=run_id)
            first.socket.transport.abort()
        async with page(address) as second:
            await second.open(run_id)
            await second.until(
                lambda m: m["type"] == "batch" and m["watermark_ns"] > 2e9 and m["seq"] > 0, 60
            )
            await second.say(type="stop")
            assert (await run_over(second, run_id))["phase"] == "stopped"

    run_async(vanish())


def test_boot_knob_reboots_and_count_clock_runs(address: str, run_async: Any) -> None:
    async def knobs() -> None:
        async with page(address) as one:
            await one.open()
            await one.start("srcu", hogs=2, seconds=1, vcpus=1)
            former = await one.begun()
            await run_over(one, former)
            await one.start("srcu", hogs=2, seconds=1, vcpus=2, exp_holdoff=0)
            latter = await one.begun()
            await run_over(one, latter)
            first, second = (lane_of(one.seen, run, "srcu") for run in (former, latter))
            assert first["phase"] == second["phase"] == "done"
            assert first["pid"] != second["pid"]
            await one.say(
                type="start", lesson=SLUG, arms=["srcu"], clock="count",
                params={"hogs": 2, "seconds": 1},
            )  # fmt: skip
            run_id = await one.begun()
            over = await run_over(one, run_id)
            assert (over["phase"], over["clock"]) == ("done", "count")
            assert moves(one.seen, run_id, "srcu")

    run_async(knobs())


def test_state_spans_of_a_hog_never_overlap_on_the_wire(
    address: str, run_async: Any, lesson02: Any
) -> None:
    states = [i for i, kind in enumerate(lesson02.lesson.kinds) if kind.layer == "state"]

    async def watch() -> list[Message]:
        async with page(address) as one:
            await one.open()
            await one.start("srcu", hogs=3, seconds=2)
            run_id = await one.begun()
            await run_over(one, run_id)
            return [m for m in one.of_run(run_id, "batch") if m["table"] == "spans"]

    batches = run_async(watch())
    columns = {
        name: np.concatenate(
            [np.frombuffer(b["columns"][name], f"<{b['dtypes'][name]}") for b in batches]
        )
        for name in ("t0_ns", "t1_ns", "row", "kind")
    }
    for row in range(3):
        mine = (columns["row"] == row) & np.isin(columns["kind"], states)
        order = np.argsort(columns["t0_ns"][mine])
        t0, t1 = columns["t0_ns"][mine][order], columns["t1_ns"][mine][order]
        assert len(t0) > 100
        assert (t0[1:] >= t1[:-1] - 1).all()
