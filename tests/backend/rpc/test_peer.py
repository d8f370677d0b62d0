# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls over a real socket pair: answers, events, failures, cancelling, a break, the end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import msgpack
import pytest

from duet.base.errors import InfraError, InputError
from duet.base.frames import Frame, pack_frame
from duet.rpc import limits
from duet.rpc.link import Link, SocketChannel, StreamChannel
from duet.rpc.peer import Events, MessageType, Peer
from tests.support.peers import connected


class Host:
    """What the other side does."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.noted: list[bytes] = []

    async def twice(self, body: bytes, event: Events) -> bytes:
        for number in range(3):
            event(b"%d" % number)
            await asyncio.sleep(0)
        return body * 2

    async def refuse(self, body: bytes, event: Events) -> bytes:
        raise InputError("no such thing.", remedy="Choose another.")

    async def fail(self, body: bytes, event: Events) -> bytes:
        raise ZeroDivisionError("by zero")

    async def for_ever(self, body: bytes, event: Events) -> bytes:
        self.begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0.05)  # as long as guests need to end
            self.cancelled.set()
        return b""


class Both:
    """Two peers and the channel between them."""

    def __init__(self) -> None:
        self.host = Host()
        calls = {name: getattr(self.host, name) for name in ("twice", "refuse", "fail", "for_ever")}
        self.there = Peer(calls, {"note": self.host.noted.append}, "the server")
        self.here = Peer({})
        self.channels: list[StreamChannel] = []

    async def connect(self) -> None:
        self.channels += await connected(self.here, self.there, lambda peer: lambda why: None)

    async def cut(self) -> None:
        for peer, channel in zip((self.here, self.there), self.channels[-2:], strict=True):
            channel.close()
            peer.connection.detach(channel)
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def both() -> AsyncIterator[Both]:
    pair = Both()
    await pair.connect()
    beats = [asyncio.create_task(p.connection.run_heartbeat()) for p in (pair.here, pair.there)]
    try:
        yield pair
    finally:
        for peer in (pair.here, pair.there):
            peer.connection.end("over")
            await peer.ended()
        await asyncio.gather(*beats)


def test_a_call_has_events_and_then_an_answer(run_async: Any) -> None:
    async def play() -> None:
        async with both() as pair:
            events: list[bytes] = []
            assert await pair.here.call("twice", b"ab", 10, events.append) == b"abab"
            assert events == [b"0", b"1", b"2"]
            pair.here.note("note", b"hello")
            await pair.here.call("twice", b"", 10)
            assert pair.host.noted == [b"hello"]

    run_async(play())


def test_failures_come_as_they_were_raised(run_async: Any) -> None:
    async def play() -> None:
        async with both() as pair:
            with pytest.raises(InputError) as refused:
                await pair.here.call("refuse", b"", 10)
            assert refused.value.remedy == "Choose another."
            with pytest.raises(Exception, match="ZeroDivisionError: by zero"):
                await pair.here.call("fail", b"", 10)
            with pytest.raises(InfraError, match="the request 'nothing' is not known here"):
                await pair.here.call("nothing", b"", 10)
            with pytest.raises(InfraError, match=r"has not answered 'for_ever' in 0\.1 s"):
                await pair.here.call("for_ever", b"", 0.1)

    run_async(play())


def test_a_cancelled_call_has_ended_on_the_other_side_first(run_async: Any) -> None:
    async def play() -> None:
        async with both() as pair:
            calling = asyncio.create_task(pair.here.call("for_ever", b"", None))
            await pair.host.begun.wait()
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            assert pair.host.cancelled.is_set()

    run_async(play())


def test_calls_survive_a_break(run_async: Any) -> None:
    async def play() -> None:
        async with both() as pair:
            await pair.here.call("twice", b"", 10)
            await pair.cut()
            events: list[bytes] = []
            calling = asyncio.create_task(pair.here.call("twice", b"x", 10, events.append))
            await asyncio.sleep(0.05)
            assert not calling.done()
            await pair.connect()
            assert await calling == b"xx" and events == [b"0", b"1", b"2"]

    run_async(play())


def test_the_end_fails_calls_and_cancels_work(run_async: Any) -> None:
    async def play() -> None:
        async with both() as pair:
            calling = asyncio.create_task(pair.here.call("for_ever", b"", None))
            await pair.host.begun.wait()
            pair.here.connection.end("it has ended")
            with pytest.raises(InfraError, match=r"the host process is gone \(it has ended\)"):
                await calling
            with pytest.raises(InfraError, match="is gone"):
                await pair.here.call("twice", b"", 10)
            pair.there.connection.end("")
            await pair.there.ended()
            assert pair.host.cancelled.is_set()

    run_async(play())


def test_a_silent_side_is_given_up(run_async: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SILENT_S", 0.3)

    async def play() -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            ours.setblocking(False)
            peer = Peer({})
            connection = peer.connection
            _, channel = await asyncio.get_running_loop().create_connection(
                lambda: StreamChannel(connection.receive_frame, connection.end), sock=ours
            )
            connection.attach(channel)
            beat = asyncio.create_task(connection.run_heartbeat())
            theirs.sendall(Link().pack_resume())
            async with asyncio.timeout(10):
                await connection.over.wait()
            await beat

    run_async(play())


def test_a_frame_that_is_too_long_ends_the_connection(run_async: Any) -> None:
    async def play() -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            ours.setblocking(False)
            ended = asyncio.get_running_loop().create_future()
            await asyncio.get_running_loop().create_connection(
                lambda: StreamChannel(lambda frame: None, ended.set_result), sock=ours
            )
            theirs.sendall((1 << 31).to_bytes(4, "little"))
            async with asyncio.timeout(10):
                assert "2147483648 bytes" in await ended

    run_async(play())


def test_a_long_frame_travels_in_several_messages_of_a_web_socket(run_async: Any) -> None:
    async def play() -> None:
        wires: tuple[asyncio.Queue[bytes], ...] = (asyncio.Queue(), asyncio.Queue())
        taken: list[Frame] = []
        sizes: list[int] = []
        all_taken = asyncio.Event()

        def take(frame: Frame) -> None:
            taken.append(frame)
            if len(taken) == len(sent):
                all_taken.set()

        async def send(part: bytes) -> None:
            sizes.append(len(part))
            await wires[0].put(part)

        async def come(wire: asyncio.Queue[bytes]) -> AsyncIterator[bytes]:
            while True:
                yield await wire.get()

        sent = [Frame(0, bytes(3 * limits.FRAGMENT_BYTES)), Frame(1, b"short"), Frame(0, b"")]
        here, there = SocketChannel(), SocketChannel()
        carried = (
            asyncio.create_task(here.carry(send, come(wires[1]), taken.append)),
            asyncio.create_task(there.carry(wires[1].put, come(wires[0]), take)),
        )
        for frame in sent:
            here.write(pack_frame(*frame))
        async with asyncio.timeout(10):
            await all_taken.wait()
        assert taken == sent
        assert max(sizes) == limits.FRAGMENT_BYTES and len(sizes) == 4 + 2
        await wires[1].put(b"\0\0\0\x80")
        with pytest.raises(InfraError, match="2147483648 bytes"):
            await carried[0]
        there.close()
        await carried[1]

    run_async(play())


def test_a_failure_that_cannot_be_read_is_one(run_async: Any) -> None:
    async def play() -> None:
        async with both() as pair:
            calling = asyncio.create_task(pair.here.call("for_ever", b"", 10))
            await pair.host.begun.wait()
            pair.there.connection.send(msgpack.packb([MessageType.FAILED.value, 1, "", b"{}"]))
            with pytest.raises(InfraError, match="reported an error in an unknown form"):
                await calling

    run_async(play())
