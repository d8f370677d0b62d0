# SPDX-License-Identifier: GPL-2.0-or-later
"""A crowd at a real server: 40 pages at random, 1,100 silent connections, hostile saved runs.

    .venv/bin/python -m tests.stress.crowd --seconds 60 [--guests] [--hostile]

Reports how long another viewer's page took, what held the event loop, and how long the end took
after SIGTERM. With --guests the pages start and stop real runs; with --hostile the corpus lies
among the saved runs, and the pages open it. The noise comes from a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgpack
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from duet.base.settings import repo_root
from duet.lessons import load as lessons

SOCKETS, SILENT = 40, 1100
PROBE_S = 0.25
END_S = 30.0
LIVE = ("start", "again", "stop")


@dataclass
class Report:
    """What was seen.

    Args:
        quiet_ms: the page before the crowd came, median.
        page_ms: each look at the page during it.
        socket_ms: each time from `open` to the lesson, on a socket of its own.
        health: the last /api/health.
        end_s: from SIGTERM to the end of the process, while the crowd is there.
        code: of the server.
        log: its standard error.
    """

    quiet_ms: float = 0.0
    page_ms: list[float] = field(default_factory=list)
    socket_ms: list[float] = field(default_factory=list)
    health: dict[str, Any] = field(default_factory=dict)
    end_s: float = 0.0
    code: int | None = None
    log: str = ""

    def summary(self) -> dict[str, Any]:
        """Without the long lists."""
        tree = asdict(self)
        for name in ("page_ms", "socket_ms"):
            values = sorted(tree.pop(name))
            tree[name] = {
                "n": len(values),
                "median": round(statistics.median(values), 1) if values else None,
                "p95": round(values[int(len(values) * 0.95)], 1) if values else None,
                "longest": round(values[-1], 1) if values else None,
            }
        tree["log"] = tree["log"].splitlines()[-20:]
        return tree


@contextlib.contextmanager
def server(runs: Path, *, guests: bool, log: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A real `duet serve`; yields the process and host:port."""
    command = [sys.executable, "-m", "duet", "serve", "--port", "0", "--no-build", "--json"]
    command += [] if guests else ["--no-guests"]
    with log.open("w") as errors:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"DUET_RUNS": str(runs), "DUET_SETUP": "skip"},
        )
        try:
            assert process.stdout is not None
            reported = json.loads(process.stdout.readline())
            yield process, f"{reported['host']}:{reported['port']}"
        finally:
            process.kill()
            process.communicate()


def saved_runs(runs: Path, family: str | None) -> None:
    """Saved runs, some good and, if a family of the corpus is named, hostile ones ("": all)."""
    runs.mkdir(parents=True)
    paths = [path for slug in lessons.slugs() for path in lessons.load(slug).recordings()]
    if family is not None:
        from tests.corpus.make_corpus import write

        write(runs / "corpus", family or None)
        paths += sorted((runs / "corpus").glob("*.duet"))
    for number, path in enumerate(paths):
        shutil.copy(path, runs / f"run-20260101-{number:06}.duet")
    shutil.rmtree(runs / "corpus", ignore_errors=True)


def page_ms(address: str) -> float:
    """How long another viewer's page takes, on a connection of its own."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request("GET", "/")
        answer = connection.getresponse()
        answer.read()
        assert answer.status in (200, 503), answer.status  # 503: the page is not built here
        assert answer.getheader("content-type", "").startswith("text/html")
    finally:
        connection.close()
    return (time.perf_counter() - began) * 1e3


def health(address: str) -> dict[str, Any]:
    """What the server says of itself."""
    connection = http.client.HTTPConnection(address, timeout=60)
    try:
        connection.request("GET", "/api/health")
        tree: dict[str, Any] = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    return tree


async def socket_ms(address: str) -> float:
    """From `open` to the lesson, for a viewer who comes now."""
    async with connect(f"ws://{address}/ws", compression=None, max_size=None) as ws:
        began = time.perf_counter()
        await ws.send(msgpack.packb({"type": "open", "lesson": lessons.slugs()[0], "run": "none"}))
        while msgpack.unpackb(await ws.recv())["type"] != "lesson":
            pass
        return (time.perf_counter() - began) * 1e3


def run(seconds: float, *, guests: bool = False, family: str | None = "", silent: int = SILENT,
        sockets: int = SOCKETS) -> Report:  # fmt: skip
    """All of it."""
    report = Report()
    with tempfile.TemporaryDirectory(prefix="duet-crowd-") as folder:
        runs, log = Path(folder) / "runs", Path(folder) / "log"
        saved_runs(runs, family)
        with server(runs, guests=guests, log=log) as (process, address):
            report.quiet_ms = statistics.median(page_ms(address) for _ in range(9))
            noise = subprocess.Popen(
                [sys.executable, "-m", "tests.stress.crowd", "--noise", address,
                 "--seconds", str(seconds + 60),
                 "--silent", str(silent), "--sockets", str(sockets), "--runs", str(runs)]
                + (["--guests"] if guests else []),
                stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            try:
                assert noise.stdout is not None
                assert noise.stdout.readline() == "here\n"
                probe(report, address, seconds)
                assert process.poll() is None, log.read_text()[-2000:]
                began = time.monotonic()
                process.send_signal(signal.SIGTERM)
                report.code = process.wait(END_S)
                report.end_s = round(time.monotonic() - began, 2)
            finally:
                noise.kill()
                noise.communicate()
        report.log = log.read_text()
    return report


def probe(report: Report, address: str, seconds: float) -> None:
    """Look at the page again and again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        report.page_ms.append(page_ms(address))
        report.socket_ms.append(asyncio.run(socket_ms(address)))
        time.sleep(PROBE_S)
    report.health = health(address)


# The noise


async def make_noise(address: str, seconds: float, given: argparse.Namespace) -> None:
    """Silent connections, then pages at random until the time is over."""
    quiet = [await hush(address, number) for number in range(given.silent)]
    ids = given.ids
    kinds = ["open"] * 4 + ["saved"] * 4 + ["ack", "control", "rubbish"]
    kinds += [*LIVE, *LIVE] if given.guests else list(LIVE)
    pages = [
        asyncio.create_task(visit(address, random.Random(number), ids, kinds))
        for number in range(given.sockets)
    ]
    print("here", flush=True)
    await asyncio.wait(pages, timeout=seconds)
    del quiet


async def hush(address: str, number: int) -> object:
    """A connection that says nothing, half a request, or a socket that says nothing."""
    host, port = address.split(":")
    with contextlib.suppress(OSError, WebSocketException, TimeoutError):
        if number % 4 == 3:
            return await connect(f"ws://{address}/ws", ping_interval=None)
        reader, writer = await asyncio.open_connection(host, int(port))
        if number % 4 == 2:
            writer.write(b"GET / HTTP/1.1\r\nHost: ")
        return reader, writer
    return None


async def visit(address: str, dice: random.Random, ids: list[str], kinds: list[str]) -> None:
    """A page that comes, asks at random and goes, again and again."""
    while True:
        with contextlib.suppress(OSError, WebSocketException, TimeoutError):
            async with connect(f"ws://{address}/ws", compression=None, max_size=None) as ws:
                reading = asyncio.create_task(drain(ws))
                try:
                    for _ in range(dice.randrange(1, 40)):
                        await ws.send(message(dice.choice(kinds), dice, ids))
                        await asyncio.sleep(dice.expovariate(1))
                finally:
                    reading.cancel()
                    ws.transport.abort()
        await asyncio.sleep(dice.random())


async def drain(ws: Any) -> None:
    """Read all that comes."""
    with contextlib.suppress(WebSocketException):
        async for _ in ws:
            pass


def message(kind: str, dice: random.Random, ids: list[str]) -> bytes:
    """Something that a page might say."""
    slug = dice.choice(lessons.slugs())
    match kind:
        case "rubbish":
            return dice.randbytes(dice.randrange(100))
        case "ack":
            return bytes(msgpack.packb({"type": "ack", "n": dice.randrange(1000)}))
        case "control":
            return bytes(msgpack.packb({"type": "control", "take": dice.random() < 0.5}))
        case "start":
            arm = dice.choice(lessons.load(slug).lesson.arms).name
            return bytes(msgpack.packb({"type": "start", "lesson": slug, "arms": [arm]}))
        case "open" | "saved":
            run = f"kept:{slug}:{dice.choice(ids)}" if kind == "saved" and ids else None
            return bytes(msgpack.packb({"type": "open", "lesson": slug, "run": run}))
    return bytes(msgpack.packb({"type": kind}))


def allow_files() -> None:
    """1,100 connections are more than a session may open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))


def main() -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--sockets", type=int, default=SOCKETS)
    parser.add_argument("--silent", type=int, default=SILENT)
    parser.add_argument("--guests", action="store_true")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--noise", help=argparse.SUPPRESS)
    parser.add_argument("--runs", help=argparse.SUPPRESS)
    given = parser.parse_args()
    os.environ.setdefault("DUET_ROOT", str(repo_root()))
    allow_files()
    if given.noise:
        given.ids = [path.stem for path in Path(given.runs).glob("run-*.duet")]
        asyncio.run(make_noise(given.noise, given.seconds, given))
        return 0
    report = run(
        given.seconds,
        guests=given.guests,
        family="" if given.hostile else None,
        silent=given.silent,
        sockets=given.sockets,
    )
    print(json.dumps(report.summary(), indent=1))
    good = max(report.page_ms) < 300 and report.end_s < 5
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
