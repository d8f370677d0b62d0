# SPDX-License-Identifier: GPL-2.0-or-later
"""Ports: what comes, in which order, how much, and what happens when nobody reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from duet.base.errors import InfraError
from duet.guests import ports as ports_module
from duet.guests.ports import Ports
from duet.guests.types import CTL_STREAM

Run = Callable[..., object]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a test reaches at once."""
    monkeypatch.setattr(ports_module, "QUEUE_BYTES", 1 << 20)
    monkeypatch.setattr(ports_module, "SEND_S", 0.3)


async def connect(ports: Ports, stream: int) -> asyncio.StreamWriter:
    _, writer = await asyncio.open_unix_connection(str(ports.paths[stream]))
    return writer


def test_bytes_of_each_port_come_in_order(run_async: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Ports(tmp_path, 2) as ports:
            writers = {stream: await connect(ports, stream) for stream in (CTL_STREAM, 0, 1)}
            assert not ports.spoke.is_set()
            for number in range(50):
                for stream, writer in writers.items():
                    writer.write(bytes([number, stream & 0xFF]))
                    await writer.drain()
            for writer in writers.values():
                writer.close()
                await writer.wait_closed()
            await asyncio.wait_for(ports.closed.wait(), 60)
            ports.finish()
            seen: dict[int, bytes] = {}
            async for chunk in ports.chunks():
                seen[chunk.stream] = seen.get(chunk.stream, b"") + chunk.payload
            assert ports.spoke.is_set()
            assert seen == {
                stream: b"".join(bytes([n, stream & 0xFF]) for n in range(50)) for stream in writers
            }

    run_async(scenario())


def test_a_full_queue_stops_trace_ports_but_not_the_control_port(
    run_async: Run, tmp_path: Path, small: None
) -> None:
    async def scenario() -> None:
        async with Ports(tmp_path, 1) as ports:
            trace = await connect(ports, 0)
            ctl = await connect(ports, CTL_STREAM)
            page = bytes(4096)
            sent = 0
            while sent < 1 << 20:  # so much is taken, however long it takes
                trace.write(page)
                await trace.drain()
                sent += len(page)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1.0):
                    while True:
                        trace.write(page)
                        await trace.drain()
                        sent += len(page)
            assert sent < (4 << 20)
            ctl.write(b"still received")
            await asyncio.wait_for(ports.spoke.wait(), 60)
            # Once somebody reads, everything comes, and nothing was lost.
            trace.write_eof()
            got = 0
            received = b""
            async with asyncio.timeout(120):
                async for chunk in ports.chunks():
                    if chunk.stream == CTL_STREAM:
                        received += chunk.payload
                    else:
                        got += len(chunk.payload)
                    if got >= sent and received:
                        break
            assert received == b"still received"
            trace.close()
            ctl.close()

    run_async(scenario())


def test_a_second_connection_to_a_port_is_refused(run_async: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Ports(tmp_path, 1) as ports:
            first = await connect(ports, CTL_STREAM)
            await asyncio.sleep(0.05)
            reader, second = await asyncio.open_unix_connection(str(ports.paths[CTL_STREAM]))
            with pytest.raises(ConnectionError):
                assert await asyncio.wait_for(reader.read(1), 60) == b""
                raise ConnectionError
            first.write(b"x")
            await asyncio.wait_for(ports.spoke.wait(), 60)
            first.close()
            second.close()

    run_async(scenario())


def test_a_command_to_a_guest_that_is_gone_is_refused(run_async: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Ports(tmp_path, 1) as ports:
            with pytest.raises(InfraError, match="control port is closed"):
                await ports.send(b"x")

    run_async(scenario())


def test_a_command_that_the_guest_does_not_take_is_given_up(
    run_async: Run, tmp_path: Path, small: None
) -> None:
    async def scenario() -> None:
        async with Ports(tmp_path, 1) as ports:
            deaf = await connect(ports, CTL_STREAM)
            await asyncio.sleep(0.05)
            with pytest.raises(InfraError, match="has accepted no command"):
                for _ in range(100):
                    await ports.send(bytes(1 << 20))
            deaf.transport.abort()

    run_async(scenario())


def test_a_long_socket_path_is_reported(run_async: Run, tmp_path: Path) -> None:
    async def scenario() -> None:
        folder = tmp_path / ("x" * 120)
        folder.mkdir()
        with pytest.raises(InfraError, match="longer than 107 bytes"):
            async with Ports(folder, 1):
                pass

    run_async(scenario())
