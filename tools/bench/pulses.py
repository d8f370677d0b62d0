# SPDX-License-Identifier: GPL-2.0-or-later
"""The two servers of the speed stage `fanout`. Each sends frames of a recording on request.

`python -m tools.bench.pulses SERVER SLUG RUN` prints the server's address as JSON. The server
`plain` also prints the number of batches of a frame. For each line `FRAMES FPS` on stdin, the
server publishes this number of frames, and prints the number and the bytes of the published
messages. SERVER is `duet`, the real server without guests, or `plain`: the messages of the run RUN,
encoded by the same code, sent by `websockets.asyncio.server.broadcast`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Callable

from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed

from duet import messages as m
from duet.api.app import create_app
from duet.api.proxy import Front, Proxies
from duet.base.settings import repo_root
from duet.cli.server_process import KERNEL_QUEUE, allow_files, bind
from duet.host.feed import Feed
from duet.host.protocol import first_message
from duet.messages.codec import Packet
from duet.processes.cpus import be_prompt
from duet.server.director import Director
from duet.server.recordings import LessonRecordings
from duet.session import Batch, RunSpec
from duet.stream.http import server_config
from duet.stream.hub import Hub
from tools.bench.frames import FRAME_NS, AllBuilt, Frames, FramesRun, FramesStage, Table, read


class Publisher:
    """Publishes frames of a recording as a live run.

    Args:
        run: the run's message before its start.
        send: gets each packet.
    """

    def __init__(
        self, tables: list[Table], of: int, run: m.Run, send: Callable[[Packet], None]
    ) -> None:
        self._tables, self._of, self._frame = tables, of, 0
        self._messages = self._bytes = 0
        self._send = send
        self._feed = Feed(run, self._count)

    def _count(self, packet: Packet) -> None:
        self._messages += 1
        self._bytes += len(packet.body)
        self._send(packet)

    async def publish(self, frames: int, fps: float) -> dict[str, int]:
        """Publish frames, one every 1/fps s; return the number and bytes of their messages."""
        before = self._messages, self._bytes
        began = time.monotonic()
        for number in range(frames):
            await asyncio.sleep(max(0.0, began + number / fps - time.monotonic()))
            for table in self._tables:
                part = table.part(self._frame % self._of, self._of)
                rows = len(next(iter(part.values())))
                now_ns = time.monotonic_ns()
                batch = Batch(table.name, part, rows, self._frame * FRAME_NS, now_ns)
                self._feed.on_batch(table.arm, batch)
            self._frame += 1
        return {"messages": self._messages - before[0], "bytes": self._bytes - before[1]}

    async def obey(self) -> None:
        """Publish the frames that lines on stdin request, until stdin ends."""
        while line := await asyncio.to_thread(sys.stdin.readline):
            frames, fps = line.split()
            print(json.dumps(await self.publish(int(frames), float(fps))), flush=True)


# Our server.


class PulsedRun(FramesRun):
    """A live run that sends nothing until a request comes."""

    async def perform(self, slot: int = 0) -> None:
        for arm in self._arms:
            self._feed.on_lane(m.Lane(run_id=self.log.run_id, arm=arm, phase="running"))
        self._feed.on_run("running", "")
        await self._stopped.wait()


class PulsedStage(FramesStage):
    """A stage whose run publishes the frames that stdin requests."""

    def prepare(self, spec: RunSpec, hub: Hub) -> FramesRun:
        run = PulsedRun(self._tables, self._of, self._fps, spec, hub)
        message = first_message(spec)
        publisher = Publisher(
            self._tables, self._of, message, lambda packet: hub.publish(run.log, packet)
        )
        self._obeying = asyncio.create_task(publisher.obey(), name="stdin")
        return run


def serve_duet(tables: list[Table], of: int) -> None:
    """Serve until the process is terminated."""
    allow_files()
    with bind("127.0.0.1", 0) as listener:
        app = create_app(
            lambda hub: Director(
                hub, PulsedStage(tables, of, 1.0), LessonRecordings(), AllBuilt(), builds=False
            ),
            page=repo_root() / "frontend/dist",
            front=Front(proxies=Proxies(("127.0.0.1",))),
        )
        server = Frames(server_config(app, timeout_graceful_shutdown=1), listener)
        asyncio.run(server.serve(sockets=[listener]))


# The peer.


async def serve_plain(slug: str, run: str, tables: list[Table], of: int) -> None:
    """Serve until the process is terminated."""
    viewers: set[ServerConnection] = set()

    async def viewer(connection: ServerConnection) -> None:
        viewers.add(connection)
        with contextlib.suppress(ConnectionClosed):
            async for _ in connection:  # acknowledgements
                pass
        viewers.discard(connection)

    message = m.Run(
        run_id=run, lesson=slug, source="live", clock="wall", params={}, workload="", arms=[],
        phase="running",
    )  # fmt: skip
    publisher = Publisher(tables, of, message, lambda packet: broadcast(viewers, packet.body))
    allow_files()
    async with serve(
        viewer, "127.0.0.1", 0, compression=None, max_size=None, backlog=KERNEL_QUEUE
    ) as server:
        be_prompt()
        port = next(iter(server.sockets)).getsockname()[1]
        print(json.dumps({"address": f"127.0.0.1:{port}", "tables": len(tables)}), flush=True)
        await publisher.obey()


def main() -> None:
    kind, slug, run = sys.argv[1:4]
    tables, of = asyncio.run(read(slug))
    if kind == "duet":
        serve_duet(tables, of)
    else:
        asyncio.run(serve_plain(slug, run, tables, of))


if __name__ == "__main__":
    main()
