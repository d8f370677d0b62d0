# SPDX-License-Identifier: GPL-2.0-or-later
"""Browsers that are slow, vanish, sleep or send rubbish; recordings that are hostile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import struct

import msgpack
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.corpus.make_corpus import cases
from tests.soak.fault import Fault, Round
from tests.soak.people import SLUG, Person

RECORDED = ("01-shrinker-bitmaps", "03-inode-recycling", "04-extent-shrinker")
OPENS = 25
"""Recordings a slow page asks for: more than the host's socket buffers hold."""
CUT_S = 40.0
"""Until a page that takes nothing is cut off; the server promises 10 s."""
RUBBISH = (
    b"", b"\xc1", b"\x91" * 60_000 + b"\xc0", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff",
    bytes(65_537), bytes((1 << 20) - 1), bytes((1 << 20) + 1),
    msgpack.packb({"type": "ack", "n": (1 << 64) - 1}), msgpack.packb({"type": "ack", "n": -1}),
    msgpack.packb({"type": [1]}), msgpack.packb({"type": "open", "lesson": "../../etc"}),
    msgpack.packb({"type": "open", "lesson": "02-grace-periods", "run": "kept:x:../../y"}),
    msgpack.packb({"type": "start", "lesson": "02-grace-periods", "arms": ["a"] * 6}),
    msgpack.packb({"type": "start", "lesson": "02-grace-periods", "arms": ["rwsem"],
                   "params": {"hogs": (1 << 64) - 1}}),
    b"\x82\xa4type\xa4open\xa6lesson\xa3\xed\xa0\x80",
)  # fmt: skip
FRAMES = (
    b"GET /ws HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\0" * 3000,
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, b"POST /api/kept HTTP/1.1\r\nContent-Length: 9",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
)  # fmt: skip


class HostileFrames(Fault):
    """Rubbish over sockets and plain connections, while a run goes on."""

    logs = r"Invalid HTTP|invalid|malformed|connection"

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        for _ in range(12):
            await self._rubbish(at)
        for _ in range(12):
            await asyncio.to_thread(self._raw, at)
        return await at.whole(run)

    async def _rubbish(self, at: Round) -> None:
        """Up to 25 messages in one connection, or a frame that is cut off."""
        with contextlib.suppress(ConnectionClosed, OSError, TimeoutError):
            async with (
                asyncio.timeout(10),
                connect(f"ws://{at.server.address}/ws", compression=None, max_size=None) as page,
            ):
                for _ in range(at.rng.randint(1, 25)):
                    await page.send(at.rng.choice(RUBBISH))
                page.transport.write(at.rng.choice((
                    b"\x82\xff" + struct.pack(">Q", 1 << 40), b"\x82\xfe\xff", b"\x8f\x80\0\0\0\0",
                    b"\xf2\x81\0\0\0\0\0", b"\x02\x81\0\0\0\0a",
                )))  # fmt: skip
                await asyncio.sleep(0.05)
                page.transport.abort()

    def _raw(self, at: Round) -> None:
        host, _, port = at.server.address.partition(":")
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 5) as raw:
            raw.settimeout(0.2)
            raw.sendall(at.rng.choice(FRAMES))
            with contextlib.suppress(OSError):
                raw.recv(1000)


class SlowBrowser(Fault):
    """Pages that open a recording or a run and read nothing: they are cut off, nobody else is."""

    logs = r"cut off"

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        slow = [await self._page(at) for _ in range(8)]
        found = await at.whole(run)
        viewers = 0
        for _ in range(int(CUT_S * 2)):
            viewers = at.server.ask("/api/health")["viewers"]
            if viewers <= 1:
                break
            await asyncio.sleep(0.5)
        for one in slow:
            one.close()
        if viewers > 1:
            found.append(f"{viewers - 1} pages that read nothing were not cut off in {CUT_S:.0f} s")
        return found

    async def _page(self, at: Round) -> socket.socket:
        host, _, port = at.server.address.partition(":")
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        await asyncio.to_thread(raw.connect, (host, int(port)))
        raw.sendall(
            f"GET /ws HTTP/1.1\r\nHost: {at.server.address}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        body = msgpack.packb({"type": "open", "lesson": SLUG, "run": "recorded"})
        for _ in range(OPENS):
            raw.sendall(bytes([0x82, 0x80 | len(body), 0, 0, 0, 0]) + body)
        return raw


class VanishingBrowsers(Fault):
    """Twenty pages that open recordings and vanish, also in the midst of a message."""

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()

        async def vanish() -> None:
            with contextlib.suppress(ConnectionClosed, OSError, TimeoutError):
                async with Person(at.server.address) as page:
                    await page.say(type="open", lesson=at.rng.choice(RECORDED), run=None)
                    await asyncio.sleep(at.rng.random())
                    page.socket.transport.abort()

        await asyncio.gather(*(vanish() for _ in range(20)))
        return await at.whole(run)


class SleepingBrowser(Fault):
    """A page that stops reading for four seconds, wakes, and gets the rest of its recording."""

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        async with Person(at.server.address) as page:
            await page.say(type="open", lesson=at.rng.choice(RECORDED), run=None)
            page.socket.transport.pause_reading()  # type: ignore[attr-defined]
            await asyncio.sleep(4)
            page.socket.transport.resume_reading()  # type: ignore[attr-defined]
            await page.until(
                "the rest of the recording",
                lambda: any(m["phase"] == "done" for m in page.runs.values()),
                40,
            )
            found = [f"its page got {error}" for error in page.errors]
        return found + await at.whole(run)


class ControllerVanishes(Fault):
    """The page that started a run vanishes; the run ends or goes on, and the next one starts."""

    async def happen(self, at: Round) -> list[str]:
        async with Person(at.server.address) as page:
            run = await page.start(**at.params)
            await page.moving(run)
            page.socket.transport.abort()
        await asyncio.sleep(1)
        for _ in range(120):
            if not at.server.ask("/api/health").get("playing"):
                break
            await asyncio.sleep(0.5)
        else:
            return ["the run of a page that has gone goes on for ever"]
        return await at.proves()


class HostileRecordings(Fault):
    """Hostile recordings among the saved runs, opened while a run goes on."""

    logs = r"recording|run-|child|decod|saved|killed"
    COUNT = 6

    async def happen(self, at: Round) -> list[str]:
        run = await at.running()
        chosen = at.rng.sample([case for case in cases()], self.COUNT)
        found: list[str] = []
        for number, one in enumerate(chosen):
            name = f"run-20200101-{number:06}"
            path = at.world.runs / f"{name}.duet"
            try:
                path.write_bytes(await asyncio.to_thread(one.content))
                os.utime(path, (1, 1))  # not what the next saved run pushes out
                found += [f"{one.name}: {fault}" for fault in await self._open(at, name)]
            finally:
                path.unlink(missing_ok=True)
        return found + await at.whole(run, seconds=90)

    async def _open(self, at: Round, name: str) -> list[str]:
        await asyncio.to_thread(at.server.ask, "/api/kept")
        async with Person(at.server.address) as page:
            await page.say(
                type="open", lesson="02-grace-periods", run=f"kept:02-grace-periods:{name}"
            )

            def answered() -> bool:
                over = any(m["phase"] in ("done", "failed", "stopped") for m in page.runs.values())
                return over or bool(page.errors)

            await page.until("an answer", answered, 45)
            return [
                f"said {error['sentence']!r}"
                for error in page.errors
                if re.search(r"unexpected|Traceback|there is no (saved )?run", str(error))
            ]
