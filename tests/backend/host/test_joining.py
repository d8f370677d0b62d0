# SPDX-License-Identifier: GPL-2.0-or-later
"""`duet host --join` against the real server: its token, a break, a server that is gone."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from duet.kernels import KernelSettings
from duet.rpc import limits
from duet.server.hosts.door import DOOR_PATH
from tests.support.joined import Joining
from tests.support.toy_server import serving


@contextlib.contextmanager
def joining(root: Path, cache: Path) -> Iterator[tuple[Joining, str]]:
    made = Joining(KernelSettings(cache, root / "kernel-patches"))
    try:
        with serving(made.app(root)) as address:
            made.relay.to_port = int(address.rpartition(":")[2])
            yield made, address
    finally:
        made.relay.close()
    assert [one.process.poll() for one in made.programs] == [0] * len(made.programs)


async def refused(address: str, **headers: str) -> int:
    with pytest.raises(InvalidStatus) as error:
        async with connect(f"ws://{address}{DOOR_PATH}", additional_headers=headers):
            pass
    return error.value.response.status_code


def in_loop(made: Joining, work: Any) -> Any:
    """Done on the server's event loop."""
    assert made.stage is not None
    return asyncio.run_coroutine_threadsafe(work, made.stage.loop).result(60)


def test_a_token_counts_once_and_a_break_loses_nothing(
    root: Path, tmp_path: Path, run_async: Any
) -> None:
    with joining(root, tmp_path) as (made, address):
        assert made.stage is not None
        (peer, _), *_ = in_loop(made, made.stage.hosts.ready(0, 1))
        assert peer.connection.linked
        for token in (made.tokens[0], "wrong"):
            assert run_async(refused(address, Authorization=f"Bearer {token}")) == 403
        token = made.door.expect(peer.connection)
        page = {"Origin": f"http://{address}", "Authorization": f"Bearer {token}"}
        assert run_async(refused(address, **page)) == 403
        assert run_async(refused(address)) == 403

        for _ in range(3):
            made.relay.cut()
            in_loop(made, peer.call("rest", b"", limits.CALL_S))
        assert made.relay.cuts == 3 and len(made.programs) == 1


def test_a_host_ends_when_its_server_is_gone(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "AWAY_S", 1.0)
    made = Joining(KernelSettings(tmp_path, root / "kernel-patches"))
    with serving(made.app(root)) as address:
        made.relay.to_port = int(address.rpartition(":")[2])
        assert made.stage is not None
        (peer, _), *_ = in_loop(made, made.stage.hosts.ready(0, 1))
        made.relay.open = False
        made.relay.cut()
        in_loop(made, asyncio.wait_for(peer.ended(), 30))
        assert "did not reconnect within 1 s" in peer.connection.why
        made.relay.open = True  # it comes too late: the server does not know it any more
        assert made.programs[0].process.wait(30) == 3
    made.relay.close()


@pytest.mark.parametrize(
    ("words", "token", "sentence"),
    [
        (["--join", "http://127.0.0.1:1/hosts/join"], "abc", "is not the URL of a server"),
        (["--join", "ws://127.0.0.1:1/hosts/join"], "", "standard input has no token"),
        (["--join", "ws://x/", "--token-file", "/nonexistent"], "", "cannot be read"),
    ],
)
def test_bad_input_gets_a_sentence(words: list[str], token: str, sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "duet", "host", *words],
        input=token, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert sentence in done.stderr, json.dumps(done.stderr)
