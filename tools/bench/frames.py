# SPDX-License-Identifier: GPL-2.0-or-later
"""The server in `bench viewers`. It sends a recording's rows frame by frame, as in a live run.

It is the real server without guests. `python -m tools.bench.frames SLUG FPS` prints the server's
address as JSON, and serves until the process is terminated.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import msgpack
import numpy as np
import numpy.typing as npt
import uvicorn
from pydantic import JsonValue

from duet import messages as m
from duet.api.app import create_app
from duet.api.proxy import Front, Proxies
from duet.base.errors import InfraError
from duet.base.settings import repo_root
from duet.cli.server_process import KERNEL_QUEUE, allow_files, bind
from duet.guests.clones import TemplateCounts
from duet.host.feed import Feed
from duet.host.guests import Others
from duet.host.protocol import first_message
from duet.lessons import load as lesson_cache
from duet.messages.codec import Packet
from duet.processes.cpus import be_prompt
from duet.runs.sources import JudgeRequest, MeasureRequest
from duet.server.director import Director
from duet.server.recordings import LessonRecordings
from duet.session import Batch, RunSpec
from duet.stream.http import server_config
from duet.stream.hub import Hub, RunLog

FRAME_NS = 50_000_000
"""Guest time per frame if a live run has 20 frames/s and is shown at the guest's own pace."""
Columns = dict[str, npt.NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Table:
    """All recorded rows of one table in one lane."""

    arm: str
    name: str
    columns: Columns
    rows: int

    def part(self, number: int, of: int) -> Columns:
        """Return the rows of frame `number`, if the table is divided into `of` frames."""
        begin, end = (self.rows * n // of for n in (number, number + 1))
        return {name: column[begin:end] for name, column in self.columns.items()}


def tables_of(packets: Iterable[Packet]) -> tuple[list[Table], int]:
    """Return a recording's tables, and the number of frames in the recording."""
    parts: dict[tuple[str, str], list[Columns]] = {}
    last_ns = 0.0
    for packet in packets:
        if packet.type != "batch":
            continue
        tree = msgpack.unpackb(packet.body)
        last_ns = max(last_ns, tree["watermark_ns"])
        if tree["table"] != "open" and tree["n"]:
            columns = {
                name: np.frombuffer(body, tree["dtypes"][name])
                for name, body in tree["columns"].items()
            }
            parts.setdefault((tree["arm"], tree["table"]), []).append(columns)
    made = []
    for (arm, name), found in parts.items():
        joined = {key: np.concatenate([part[key] for part in found]) for key in found[0]}
        made.append(Table(arm, name, joined, len(next(iter(joined.values())))))
    return made, max(1, int(last_ns / FRAME_NS))


class FramesRun:
    """A live run that continues until it is stopped. Implements server.interfaces.QueuedRun."""

    def __init__(self, tables: list[Table], of: int, fps: float, spec: RunSpec, hub: Hub) -> None:
        self.log = RunLog(spec.run_id, spec.folder.slug)
        self._tables, self._of, self._fps = tables, of, fps
        self._arms = spec.arms
        self._stopped = asyncio.Event()
        self._feed = Feed(first_message(spec), lambda packet: hub.publish(self.log, packet))

    async def perform(self, slot: int = 0) -> None:
        """Publish a frame every 1/fps s, with each table's rows for that part of the run."""
        for arm in self._arms:
            self._feed.on_lane(m.Lane(run_id=self.log.run_id, arm=arm, phase="running"))
        self._feed.on_run("running", "")
        began, frame = time.monotonic(), 0
        while not self._stopped.is_set():
            for table in self._tables:
                part = table.part(frame % self._of, self._of)
                rows = len(next(iter(part.values())))
                now_ns = time.monotonic_ns()
                self._feed.on_batch(
                    table.arm, Batch(table.name, part, rows, frame * FRAME_NS, now_ns)
                )
            frame += 1
            late = began + frame / self._fps - time.monotonic()
            await asyncio.sleep(max(0.0, late))
        for arm in self._arms:
            self._feed.on_lane(m.Lane(run_id=self.log.run_id, arm=arm, phase="done"))
        self._feed.on_run("stopped", "")

    async def stop(self) -> None:
        self._stopped.set()

    def withdraw(self) -> None: ...

    def close(self) -> None: ...

    async def act(self, name: str, value: int) -> None: ...

    async def hold(self, on: bool, after: int) -> None: ...

    def raw_events(
        self, arm: str, around_ns: float, row: int | None, n: int, cpu: int | None = None
    ) -> list[dict[str, JsonValue]]:
        return []

    def bundle(self) -> Path | bytes | None:
        return None


class FramesStage:
    """A stage that runs no guests. Implements server.interfaces.Stage."""

    saves_first = False

    def __init__(self, tables: list[Table], of: int, fps: float) -> None:
        self._tables, self._of, self._fps = tables, of, fps

    async def __aenter__(self) -> FramesStage:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def prepare(self, spec: RunSpec, hub: Hub) -> FramesRun:
        return FramesRun(self._tables, self._of, self._fps, spec, hub)

    def expect(self, spec: RunSpec, others: Others) -> None: ...

    def parked(self) -> TemplateCounts:
        return TemplateCounts()

    async def measure(self, request: MeasureRequest, publish: Callable[[m.Measured], None]) -> None:
        raise InfraError("this server measures nothing.", remedy="Run ./duet measure.")

    async def judge(self, request: JudgeRequest, publish: Callable[[m.Judged], None]) -> None:
        raise InfraError("this server judges nothing.", remedy="Run ./duet challenge.")

    async def rest(self) -> None: ...


class AllBuilt:
    """Reports all kernels as built, because none boots. Implements server.interfaces.Kernels."""

    def ready(self, slug: str) -> dict[str, bool]:
        return {arm.name: True for arm in lesson_cache.find(slug).lesson.arms}

    def request(self, slug: str, arms: Iterable[str]) -> bool:
        return False

    def latest(self) -> list[m.ServerMessage]:
        return []

    async def work(self, tell: Callable[[m.ServerMessage], None]) -> None: ...


async def read(slug: str) -> tuple[list[Table], int]:
    """Return the tables of a lesson's first recording.

    Raises:
        InfraError: the lesson has no recording.
    """
    recordings = LessonRecordings()
    run = await recordings.load(slug)
    if run is None:
        raise InfraError(f"{slug} has no recording.", remedy=f"Run: ./duet record {slug}")
    found = tables_of(run.log.backlog())
    await recordings.close()
    return found


def main() -> None:
    slug, fps = sys.argv[1], float(sys.argv[2])
    tables, of = asyncio.run(read(slug))
    allow_files()
    with bind("127.0.0.1", 0) as listener:
        app = create_app(
            lambda hub: Director(
                hub, FramesStage(tables, of, fps), LessonRecordings(), AllBuilt(), builds=False
            ),
            page=repo_root() / "frontend/dist",
            front=Front(proxies=Proxies(("127.0.0.1",))),
        )
        server = Frames(server_config(app, timeout_graceful_shutdown=1), listener)
        asyncio.run(server.serve(sockets=[listener]))


class Frames(uvicorn.Server):
    """uvicorn server that prints its address as soon as it listens."""

    def __init__(self, config: uvicorn.Config, listener: socket.socket) -> None:
        super().__init__(config)
        self._listener = listener

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listener.listen(KERNEL_QUEUE)
        be_prompt()
        host, port = self._listener.getsockname()[:2]
        print(json.dumps({"address": f"{host}:{port}"}), flush=True)


if __name__ == "__main__":
    main()
