# SPDX-License-Identifier: GPL-2.0-or-later
"""ConnectionLimit are bounded; who says nothing makes room, and who finds none gets a reason."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import logging
import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from duet.base import budgets
from duet.stream import http as admission
from duet.stream.http import OUT_OF_FILES, ConnectionLimit, OutOfFiles
from tests.support.toy_server import page, serving
from tests.support.toy_stage import toy_app


def test_the_longest_silent_makes_room_and_who_speaks_stays() -> None:
    seats, dropped = ConnectionLimit(3, 3), []

    def take(name: str) -> Any:
        return seats.admit("a", lambda: dropped.append(name))

    first, second, third = take("first"), take("second"), take("third")
    first.mark_active()
    assert take("fourth") is not None
    assert dropped == ["second"]
    first.mark_idle()  # answered: now it is the newest of the silent ones
    assert take("fifth") is not None
    assert take("sixth") is not None
    assert dropped == ["second", "third", "fourth"]
    for seat in (first, second, third):
        seat.remove()
        seat.remove()
    assert len(seats) == 2


def test_an_address_drops_its_own_and_nobody_else() -> None:
    seats, dropped = ConnectionLimit(10, 2), []
    seats.admit("b", lambda: dropped.append("b"))
    held = [seats.admit("a", lambda: dropped.append("a")) for _ in range(2)]
    assert seats.admit("a", lambda: None) is not None
    assert dropped == ["a"]
    for seat in held:
        seat.mark_active()
    newest = seats.admit("a", lambda: None)
    assert newest is not None
    newest.mark_active()
    assert seats.admit("a", lambda: None) is None
    assert (dropped, seats.refused, len(seats)) == (["a"], 1, 3)


def test_few_files_allow_few_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    assert admission.connections_allowed() == 1024 - budgets.FILES_RESERVED
    monkeypatch.setattr(resource, "getrlimit", lambda _: (20000, 20000))
    assert admission.connections_allowed() == budgets.CONNECTIONS


def get(address: str, path: str = "/") -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(address, timeout=120)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def knock(address: str) -> socket.socket:
    host, port = address.split(":")
    return socket.create_connection((host, int(port)))


@pytest.fixture
def built(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text("built")
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets/large.js").write_bytes(b"x" * (16 << 20))
    return tmp_path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, built: Path) -> Iterator[str]:
    """A server with 8 connections an address, 4 sockets and little patience."""
    monkeypatch.setattr(admission, "FEWEST", 1)
    monkeypatch.setattr(budgets, "CONNECTIONS", 16)
    monkeypatch.setattr(budgets, "SOCKETS", 4)
    monkeypatch.setattr(budgets, "HEADER_S", 1.0)
    monkeypatch.setattr(budgets, "RESPONSE_STALL_S", 0.3)
    with serving(toy_app(built)) as address:
        yield address


def test_100_silent_connections_keep_no_page_out(small: str) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(100):
            held.enter_context(knock(small))
        assert get(small)[2] == b"built"
        seen = json.loads(get(small, "/api/health")[2])["connections"]
    assert seen["open"] <= 8 < seen["most"]
    assert seen["dropped"] > 0


@pytest.mark.parametrize("head", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_a_connection_without_a_whole_head_is_closed(small: str, head: bytes) -> None:
    with knock(small) as silent:
        silent.sendall(head)
        silent.settimeout(20)
        answer = b"".join(iter(lambda: silent.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"no whole request came" in answer


def test_a_second_request_that_never_ends_is_closed_too(small: str) -> None:
    with knock(small) as slow:
        slow.settimeout(20)
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = slow.recv(4096)
        slow.sendall(b"GET / HTTP/1.1\r\n")
        answer += b"".join(iter(lambda: slow.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in answer


def test_a_client_that_takes_nothing_of_its_answer_is_cut_off(small: str) -> None:
    with knock(small) as stalled:
        stalled.sendall(b"GET /assets/large.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
        deadline = time.monotonic() + 120
        while json.loads(get(small, "/api/health")[2])["connections"]["open"] > 1:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_pages_that_speak_stay_and_the_newcomer_gets_a_reason(run_async: Any, small: str) -> None:
    async def fill() -> tuple[int, str, tuple[int, dict[str, str], bytes]]:
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(4):
                one = await stack.enter_async_context(page(small))
                await one.open("none")
                await one.until_type("lesson")
            late = await stack.enter_async_context(connect(f"ws://{small}/ws"))
            with pytest.raises(ConnectionClosed) as closed:
                await late.recv()
            assert closed.value.rcvd is not None
            hosts = [knock(small) for _ in range(3)]
            for one in hosts:  # they wait for an answer, so they are not silent
                one.sendall(b"GET /assets/large.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = (0, {}, b"")
            for _ in range(50):
                answer = await asyncio.to_thread(get, small)
                if answer[0] == 503:
                    break
                hosts.append(knock(small))
                hosts[-1].sendall(b"GET /assets/large.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for one in hosts:
                one.close()
            return closed.value.rcvd.code, closed.value.rcvd.reason, answer

    code, reason, (status, headers, body) = run_async(fill())
    assert code == 1013
    assert "reached its limit of pages" in reason
    assert (status, headers["retry-after"]) == (503, str(budgets.RETRY_AFTER_S))
    assert "reached its limit" in json.loads(body)["error"]["sentence"]


def test_a_silent_socket_is_dropped_for_a_page_that_comes(run_async: Any, small: str) -> None:
    async def crowd() -> list[int | None]:
        async with contextlib.AsyncExitStack() as stack:
            silent = [await stack.enter_async_context(page(small)) for _ in range(4)]
            one = await stack.enter_async_context(page(small))
            await one.open("none")
            await one.until_type("lesson")
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await silent[0].next()
            await silent[1].open("none")
            await silent[1].until_type("lesson")
            return [closed.value.rcvd.code if closed.value.rcvd else None]

    assert run_async(crowd()) == [1013]


def test_out_of_files_is_one_log_record(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.new_event_loop()
    handler = OutOfFiles()
    with caplog.at_level(logging.ERROR):
        for _ in range(1000):
            handler(
                loop, {"message": OUT_OF_FILES, "exception": OSError(24, "Too many open files")}
            )
    loop.close()
    assert len(caplog.records) == 1
    assert "ulimit -n" in caplog.records[0].getMessage()
