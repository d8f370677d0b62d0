# SPDX-License-Identifier: GPL-2.0-or-later
"""`bench segments`: what viewers cost if a real nginx caches the segments of runs.

Server, nginx and viewers are separate processes. The CPU time of server and nginx comes from the
kernel. The benchmark first sends a recording as messages and as segments, and then a live run
through nginx.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from websockets.asyncio.client import connect

from duet.cli.output import emit
from tools.bench.costs import cpu_s, page_bytes
from tools.bench.proxy import free_port, nginx
from tools.bench.results import (
    Delays,
    LiveCost,
    RecordedCost,
    SegmentsResult,
    Target,
    at_least,
    at_most,
    target_lines,
)
from tools.bench.stored import of_segments, store
from tools.bench.viewers import delays, helper, line_of, started

PROCESSES = 2
SETTLE_S = 5.0
"""Pause in which late viewers catch up, and in which the server finds out that a cache answers."""
LIST_S = 120.0
"""Time limit for the server to read a recording and cut it into segments. Usual: 1-5 s."""
NGINX_CONNECTIONS = 8192
DIRECT = 20
"""For viewers who are served without nginx, the number of viewers is divided by this, because each
costs at least ten times as much.
"""
LOOK_S = 0.25
"""Time between two samples of the server's memory."""


def segments(
    lesson: str, recorded: int, messages: int, live: int, fps: float, seconds: float, js: bool
) -> int:
    """Measure, store and print the result; return the exit code."""
    result = asyncio.run(measure(lesson, recorded, messages, live, fps, seconds))
    store(of_segments(result))
    if js:
        emit(result)
    else:
        print(text_of(result))
    return 0


@dataclass(frozen=True, slots=True)
class Setting:
    """The system under test: a server, the nginx in front of it, and a lesson."""

    server: str
    proxy: str
    server_process: psutil.Process
    nginx_process: psutil.Process
    lesson: str

    def cpu_s(self) -> tuple[float, float]:
        """Return (the server's CPU time, the CPU time of nginx and its workers) in s."""
        nginx = (self.nginx_process, *self.nginx_process.children(recursive=True))
        return cpu_s(self.server_process.pid), sum(cpu_s(one.pid) for one in nginx)

    def server_bytes(self) -> int:
        """Return the resident memory of the server process."""
        return int(self.server_process.memory_info().rss)

    def answer(self, path: str) -> bytes:
        """Send a request to the server, not through nginx, and return the answer."""
        with urllib.request.urlopen(f"http://{self.server}{path}", timeout=LIST_S) as answer:
            return bytes(answer.read())

    def asked(self) -> int:
        """Return the number of segment requests that reached the server."""
        name = b"duet_segments_asked_total "
        (line,) = (x for x in self.answer("/metrics").splitlines() if x.startswith(name))
        return int(float(line.removeprefix(name)))


async def measure(
    lesson: str, recorded: int, messages: int, live: int, fps: float, seconds: float
) -> SegmentsResult:
    """Start the server and nginx, then let viewers arrive.

    Raises:
        InfraError: nginx is not installed, or a process failed.
    """
    with (
        tempfile.TemporaryDirectory(prefix="duet-segments-") as folder,
        helper("frames", lesson, str(fps)) as server,
    ):
        address = str(line_of(server)["address"])
        port = free_port()
        with nginx(Path(folder), port, address, connections=NGINX_CONNECTIONS) as proxy:
            setting = Setting(
                server=address,
                proxy=f"127.0.0.1:{port}",
                server_process=psutil.Process(server.pid),
                nginx_process=psutil.Process(proxy.pid),
                lesson=lesson,
            )
            page = await asyncio.to_thread(page_bytes, setting.proxy, "/duet/")
            of_recording = await recorded_cost(setting, recorded, messages)
            of_live = await live_cost(setting, live, seconds)
    return SegmentsResult(
        lesson=lesson,
        recorded=of_recording,
        live=of_live,
        page=page,
        targets=targets_of(of_recording, of_live),
        load=round(os.getloadavg()[0], 1),
    )


async def recorded_cost(setting: Setting, viewers: int, messages: int) -> RecordedCost:
    """Measure what it costs to send the lesson's largest recording as messages and as segments."""
    recordings = json.loads(setting.answer(f"/api/lessons/{setting.lesson}"))["recordings"]
    longest = max(recordings, key=lambda entry: int(entry["bytes"]))["name"]
    run = f"recorded:{setting.lesson}:{longest}"
    lines = json.loads(setting.answer(f"/api/runs/{run}/segments"))["segments"]
    server_bytes = setting.server_bytes()
    paths = [f"/segments/{run}/{line['n']}-{line['digest']}" for line in lines]

    async def cost(
        how: str, count: int, what: str = run, where: str = setting.proxy
    ) -> tuple[float, float, float]:
        """Return per viewer: CPU time of the server in ms, of nginx in ms, and bytes sent."""
        words = [(where, setting.lesson, what, how, str(one)) for one in shares(count)]
        server_s, nginx_s, trees = await through(setting, "recorded_crowd", words)
        sent = sum(int(tree["bytes"]) for tree in trees)
        return server_s * 1e3 / count, nginx_s * 1e3 / count, sent / count

    half = messages // 2
    rounds = [(how, await cost(how, half)) for how in ("list", "messages", "messages", "list")]
    (list_server, list_nginx, list_bytes), (all_server, all_nginx, _) = (
        np.mean([found for how, found in rounds if how == one], axis=0).tolist()
        for one in ("list", "messages")
    )
    before = setting.asked()
    under = json.dumps([f"/duet{path}" for path in paths])
    passed_on, in_nginx, _ = await cost("segments", viewers, under)
    reached = setting.asked() - before
    few = max(2, viewers // DIRECT)
    direct, _, _ = await cost("segments", few, json.dumps(paths), setting.server)
    as_messages = all_server + all_nginx - list_server - list_nginx
    return RecordedCost(
        messages_viewers=2 * half,
        opened_server_ms=round(list_server, 3),
        opened_nginx_ms=round(list_nginx, 3),
        opened_bytes=round(list_bytes),
        messages_server_ms=round(all_server - list_server, 3),
        messages_nginx_ms=round(all_nginx - list_nginx, 3),
        viewers=viewers,
        segments=len(lines),
        bytes=sum(line["bytes"] for line in lines),
        nginx_ms=round(in_nginx, 3),
        server_ms=round(passed_on, 3),
        reached=reached,
        ratio=round(as_messages / (passed_on + in_nginx), 1),
        direct_viewers=few,
        direct_ms=round(direct / len(lines), 3),
        server_bytes=server_bytes,
    )


async def live_cost(setting: Setting, viewers: int, seconds: float) -> LiveCost:
    """Send a live run to many viewers. Sockets and segments go through nginx."""
    async with connect(f"ws://{setting.server}/ws", compression=None, max_size=None) as owner:
        draining, run = await started(owner, setting.lesson)
        words = [
            (setting.proxy, setting.lesson, run, str(count), str(number), str(seconds))
            for number, count in enumerate(shares(viewers))
        ]
        before, empty_bytes = setting.asked(), setting.server_bytes()
        peak = Peak(setting)
        looking = asyncio.create_task(peak.look(), name="memory")
        server_s, nginx_s, trees = await through(setting, "live_crowd", words, seconds)
        looking.cancel()
        draining.cancel()
    bins = np.sum([np.array(tree["bins"]) for tree in trees], axis=0)
    different = sum(tree["different"] + tree["refused"] for tree in trees)
    assert not different, f"{different} segments were refused, or differed between viewers"
    return LiveCost(
        viewers=viewers,
        seconds=seconds,
        raw_mb_per_s=round(trees[0]["raw_bytes"] / seconds / 1e6, 2),
        packed_mb_per_s=round(trees[0]["packed_bytes"] / seconds / 1e6, 2),
        server_cores=round(server_s / seconds, 3),
        nginx_cores=round(nginx_s / seconds, 3),
        by_segments=sum(tree["by_segments"] for tree in trees),
        segments=delays(bins[1]),
        messages=delays(bins[0]),
        reached=setting.asked() - before,
        closed=sum(tree["closed"] for tree in trees),
        viewer_bytes=max(0, peak.bytes - empty_bytes) // viewers,
    )


class Peak:
    """The server's peak memory."""

    def __init__(self, setting: Setting) -> None:
        self.bytes = 0
        self._setting = setting

    async def look(self) -> None:
        """Sample until cancelled."""
        while True:
            self.bytes = max(self.bytes, self._setting.server_bytes())
            await asyncio.sleep(LOOK_S)


def shares(count: int) -> list[int]:
    """Return the number of viewers in each process."""
    return [count // PROCESSES + (n < count % PROCESSES) for n in range(PROCESSES)]


async def through(
    setting: Setting, module: str, words: Sequence[tuple[str, ...]], seconds: float = 0.0
) -> tuple[float, float, list[dict[str, Any]]]:
    """Run viewers in processes of `module`, and return their results.

    The result begins with the CPU time in s that the server and nginx used meanwhile.

    Args:
        seconds: how long viewers watch. 0 means until they have received everything.
    """
    with ExitStack() as stack:
        crowds = [stack.enter_context(helper(module, *each)) for each in words]
        for crowd in crowds:
            await asyncio.to_thread(line_of, crowd)
        await asyncio.sleep(SETTLE_S if seconds else 0.0)
        server_s, nginx_s = setting.cpu_s()
        began = time.monotonic()
        for crowd in crowds:
            go(crowd)
        if seconds:
            await asyncio.sleep(began + seconds - time.monotonic())
            after = setting.cpu_s()
        trees = await asyncio.gather(*(asyncio.to_thread(line_of, crowd) for crowd in crowds))
        if not seconds:
            after = setting.cpu_s()
    return after[0] - server_s, after[1] - nginx_s, list(trees)


def go(crowd: subprocess.Popen[str]) -> None:
    """Send the start signal."""
    assert crowd.stdin is not None
    crowd.stdin.write("\n")
    crowd.stdin.flush()


# Format the result as lines, and compare the result with the promises in docs/SEGMENTS.md.


def targets_of(recorded: RecordedCost, live: LiveCost) -> list[Target]:
    """Return the targets for the recording and the live run."""
    return [
        at_most("CPU time of nginx for a viewer of a recording", 0.5, "ms", recorded.nginx_ms),
        at_least("messages on the socket over segments, CPU time", 10, "times", recorded.ratio),
        at_most("99th percentile of a live segment's delay", 500, "ms", live.segments.p99_ms),
        at_most("the server's CPU for the live run", 0.5, "cores", live.server_cores),
    ]


def text_of(result: SegmentsResult) -> str:
    recorded, live = result.recorded, result.live
    return "\n".join(
        (
            f"a recording of {result.lesson}, CPU time for each viewer:",
            f"  as messages {recorded.messages_server_ms:.2f} ms of the server and "
            f"{recorded.messages_nginx_ms:.2f} ms of nginx ({recorded.messages_viewers} viewers)",
            f"  as {recorded.segments} segments, {recorded.bytes / 1e3:.0f} KB: "
            f"{recorded.nginx_ms:.2f} ms of nginx ({recorded.viewers} viewers), "
            f"{recorded.server_ms:.2f} ms of the server for {recorded.reached} requests passed on",
            f"  in both cases the socket, the lesson and the list: {recorded.opened_server_ms:.2f} "
            f"ms of the server and {recorded.opened_nginx_ms:.2f} ms of nginx",
            f"  {recorded.ratio:.1f} times less",
            f"  without nginx {recorded.direct_ms:.2f} ms of the server for each segment "
            f"({recorded.direct_viewers} viewers)",
            f"the page: {result.page.first_bytes / 1e3:.0f} to {result.page.all_bytes / 1e3:.0f} "
            f"KB, and {recorded.opened_bytes / 1e3:.0f} KB on the socket; memory of the server: "
            f"{recorded.server_bytes / 1e6:.0f} MB, and {live.viewer_bytes / 1e3:.0f} KB for each "
            "viewer of the live run",
            f"a live run with {live.viewers} viewers through nginx, {live.seconds:g} s, "
            f"{live.raw_mb_per_s:.2f} MB/s of messages, {live.packed_mb_per_s:.2f} MB/s packed:",
            f"  server {live.server_cores:.2f} cores, nginx {live.nginx_cores:.2f} cores; "
            f"{live.reached} requests for segments were passed on, {live.closed} sockets closed",
            f"  {live.by_segments} viewers by segments: {delays_text(live.segments)} from the "
            "encoding of a segment's oldest row",
            f"  the first by messages: {delays_text(live.messages)}",
            *target_lines(result.targets),
            f"load of the host: {result.load}",
        )
    )


def delays_text(found: Delays) -> str:
    return f"{found.batches} came, p50 {found.p50_ms:.0f} ms, p99 {found.p99_ms:.0f} ms"
