# SPDX-License-Identifier: GPL-2.0-or-later
"""Those who use the server during the soak: a page that runs lanes, and one that watches."""

from __future__ import annotations

import asyncio
import contextlib
import time
import urllib.request
from collections.abc import Callable
from types import TracebackType
from typing import Any

import msgpack
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tools.bench.watchers import ACK_EVERY

SLUG = "02-grace-periods"
ARMS = ("rwsem", "srcu")
OVER = ("done", "stopped", "failed")
Message = dict[str, Any]


class Late(Exception):
    """What should have come did not, in time."""


class Person:
    """A page that reads all it gets and remembers what matters. Use as `async with`.

    Args:
        on_lane: called with each message of a lane.
    """

    def __init__(self, address: str, on_lane: Callable[[Message], None] | None = None) -> None:
        self._address = address
        self.on_lane = on_lane or (lambda message: None)
        self._socket: ClientConnection | None = None
        self._task: asyncio.Task[None] | None = None
        self._came = asyncio.Event()
        self.count = 0
        self.runs: dict[str, Message] = {}
        self.lanes: dict[tuple[str, str], Message] = {}
        self.marks: dict[tuple[str, str], float] = {}
        self.errors: list[Message] = []
        self.readings: list[Message] = []
        self.samples = 0
        self.closed: str | None = None

    async def __aenter__(self) -> Person:
        self._socket = await connect(
            f"ws://{self._address}/ws", compression=None, max_size=None, open_timeout=30,
            ping_interval=None,
        )  # fmt: skip
        self._task = asyncio.create_task(self._read())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._socket is not None and self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._socket.close(), 5)

    @property
    def socket(self) -> ClientConnection:
        """The open connection."""
        assert self._socket is not None
        return self._socket

    async def say(self, **message: object) -> None:
        """Send one command."""
        await self.socket.send(msgpack.packb(message))

    async def _read(self) -> None:
        try:
            async for body in self.socket:
                self._take(msgpack.unpackb(body, strict_map_key=False))
                if self.count % ACK_EVERY == 0:
                    await self.say(type="ack", n=self.count)
        except ConnectionClosed as error:
            self.closed = str(error)
        else:
            self.closed = "closed"
        self._came.set()

    def _take(self, message: Message) -> None:
        self.count += 1
        kind, run = message["type"], message.get("run_id", "")
        if kind == "run":
            self.runs[run] = message
        elif kind == "lane":
            self.lanes[run, message["arm"]] = message
            self.on_lane(message)
        elif kind == "batch":
            self.marks[run, message["arm"]] = message["watermark_ns"]
        elif kind == "error":
            self.errors.append(message)
        elif kind == "reading":
            self.readings.append(message)
        elif kind == "sample":
            self.samples += 1
        self._came.set()

    async def until(self, what: str, holds: Callable[[], bool], seconds: float) -> None:
        """Wait until something holds of what came.

        Raises:
            Late: it does not, in time, or the connection has ended.
        """
        deadline = time.monotonic() + seconds
        while not holds():
            left = deadline - time.monotonic()
            if left <= 0 or self.closed:
                raise Late(f"{what} did not come within {seconds:.0f} s ({self.closed or 'open'})")
            self._came.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._came.wait(), left)

    async def start(self, arms: tuple[str, ...] = ARMS, within_s: float = 60, **params: int) -> str:
        """Ask for a live run; its id once the server has named it."""
        await self.say(type="open", lesson=SLUG, run="none")
        known = set(self.runs)
        await self.say(type="start", lesson=SLUG, arms=list(arms), params=params)

        def named() -> bool:
            return any(m["source"] == "live" and run not in known for run, m in self.runs.items())

        await self.until("a new run", named, within_s)
        return next(r for r, m in self.runs.items() if m["source"] == "live" and r not in known)

    async def moving(self, run: str, arms: tuple[str, ...] = ARMS, seconds: float = 90) -> None:
        """Until events have come of each lane."""

        def moves() -> bool:
            if self.runs[run]["phase"] in OVER:
                return True
            return all(self.marks.get((run, arm), 0) > 0 or self.over(run, arm) for arm in arms)

        await self.until(f"events of {run}", moves, seconds)

    def seen(self) -> str:
        """The newest run and its lanes, for a report."""
        if not self.runs:
            return "no run"
        run = list(self.runs)[-1]
        lanes = {arm: f"{m['phase']} {m.get('message', '')}"
                 for (of, arm), m in self.lanes.items() if of == run}  # fmt: skip
        return f"{run} {self.runs[run]['phase']}, lanes {lanes}, errors {self.errors[-2:]}"

    def over(self, run: str, arm: str) -> bool:
        """Whether a lane has ended, well or not."""
        return self.phase(run, arm) in OVER

    def phase(self, run: str, arm: str) -> str:
        """Of a lane."""
        return str(self.lanes.get((run, arm), {}).get("phase", "none"))

    async def end(self, run: str, seconds: float) -> str:
        """Until a run is over: its phase."""
        await self.until(f"the end of {run}", lambda: self.runs[run]["phase"] in OVER, seconds)
        return str(self.runs[run]["phase"])

    def pid(self, run: str, arm: str) -> int | None:
        """Process of a lane's guest."""
        found = self.lanes.get((run, arm), {}).get("pid")
        return found if isinstance(found, int) else None


class Prober:
    """Another viewer's page loads, measured all the time. Use as `async with`."""

    EVERY_S = 0.5

    def __init__(self, address: str) -> None:
        self._url = f"http://{address}/api/health"
        self.waits_s: list[float] = []
        self.failed: list[str] = []
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Prober:
        self._task = asyncio.create_task(self._probe())
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _probe(self) -> None:
        while True:
            began = time.monotonic()
            try:
                await asyncio.to_thread(self._get)
                self.waits_s.append(time.monotonic() - began)
            except OSError as error:
                self.failed.append(f"{type(error).__name__}: {error}")
            await asyncio.sleep(self.EVERY_S)

    def _get(self) -> None:
        with urllib.request.urlopen(self._url, timeout=30) as answer:
            answer.read()
